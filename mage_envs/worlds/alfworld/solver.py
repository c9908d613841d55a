"""Plans with full knowledge of the house: what proves that a game can be won, and what the expert agent plays.

A goal tree is a choice of conjunctions. For each one the steps that bring it about are counted; the cheapest is played
through the rules, so that a plan is never given that does not win. All 474 published validation games are won in 3 to 9
steps.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from mage_envs.worlds.alfworld.commands import write
from mage_envs.worlds.alfworld.goal import Tree
from mage_envs.worlds.alfworld.words import NOTHING_HAPPENS, members

if TYPE_CHECKING:
    from mage_envs.worlds.alfworld.state import State

Atom: TypeAlias = tuple[str, int] | tuple[str, int, int]
Wanted: TypeAlias = "tuple[Atom, ...]"

_TREATMENTS = {"clean": "basins", "hot": "microwaves", "cool": "fridges"}
_RULE_OF = {"clean": "clean", "hot": "heat", "cool": "cool"}
_TRIED = 64


def solve(state: State) -> tuple[str, ...] | None:
    """Returns commands that win from a state, the fewest that this solver finds; None if it finds none.

    >>> from mage_envs.worlds.alfworld import Game, household
    >>> game = Game.from_layout(household(7))
    >>> state = game.start()
    >>> told = [state.step(command) for command in solve(state)]
    >>> state.won
    True
    """
    if state.won:
        return ()
    ways = heapq.nsmallest(_TRIED, choices(state.game.goal), key=lambda wanted: _estimate(state, wanted))
    best: tuple[str, ...] | None = None
    for wanted in ways:
        if best is not None and _estimate(state, wanted) >= len(best):
            break
        plan = _Walk(state).bring_about(wanted)
        if plan is not None and (best is None or len(plan) < len(best)):
            best = plan
    return best


def choices(tree: Tree) -> Iterator[Wanted]:
    """Yields the conjunctions of which any one makes a goal true. What must not be is left out."""
    if isinstance(tree, bool):
        if tree:
            yield ()
    elif tree[0] == "or":
        for part in tree[1:]:
            yield from choices(part)  # type: ignore[arg-type]
    elif tree[0] == "and":
        for combined in product(*(list(choices(part)) for part in tree[1:])):  # type: ignore[arg-type]
            yield tuple(atom for wanted in combined for atom in wanted)
    elif tree[0] == "not":
        yield ()
    else:
        yield (tree,)  # type: ignore[misc]


def _estimate(state: State, wanted: Wanted) -> int:
    """Returns about how many steps a conjunction needs; never far above."""
    treated = {atom[1] for atom in wanted if atom[0] in _TREATMENTS and not getattr(state, atom[0]) >> atom[1] & 1}
    steps = 0
    for atom in wanted:
        if atom[0] == "in" and len(atom) == 3:
            there = state.inside[atom[2]] >> atom[1] & 1
            steps += 0 if there and atom[1] not in treated else _fetching(state, atom[1]) + 2 + _shut(state, atom[2])
        elif atom[0] == "held":
            steps += _fetching(state, atom[1])
        elif atom[0] in _TREATMENTS:
            steps += 2 * (atom[1] in treated)
        elif atom[0] == "toggled":
            steps += 1 - (state.toggled >> atom[1] & 1)
        elif atom[0] == "here":
            steps += state.here != atom[1]
    return steps


def _fetching(state: State, thing: int) -> int:
    if state.held == thing:
        return 0
    ways = [2 + _shut(state, receptacle) for receptacle, inside in enumerate(state.inside) if inside >> thing & 1]
    return min(ways, default=_TRIED)


def _shut(state: State, receptacle: int) -> int:
    return state.game.openable >> receptacle & ~state.opened >> receptacle & 1


class _Walk:
    """A copy of a state, and the commands played in it."""

    def __init__(self, state: State) -> None:
        self.state, self.game = state.copy(), state.game
        self.plan: list[str] = []

    def bring_about(self, wanted: Wanted) -> tuple[str, ...] | None:
        """Returns the commands that make a conjunction true, up to the win; None if that fails."""
        self._work_towards(wanted)
        return tuple(self.plan) if self.state.won else None

    def _work_towards(self, wanted: Wanted) -> None:
        homes = {atom[1]: atom[2] for atom in wanted if atom[0] == "in" and len(atom) == 3}
        treatments = [(atom[1], atom[0]) for atom in wanted if atom[0] in _TREATMENTS]
        held = [atom[1] for atom in wanted if atom[0] == "held"]
        for thing in dict.fromkeys([*homes, *(thing for thing, _ in treatments)]):
            needed = [flag for one, flag in treatments if one == thing and not self._is(flag, thing)]
            if not self._settle(thing, needed, homes.get(thing)):
                return
        if all(self._fetch(thing) for thing in held):
            self._walk_and_switch(wanted)

    def _is(self, flag: str, thing: int) -> bool:
        return bool(getattr(self.state, flag) >> thing & 1)

    def _settle(self, thing: int, needed: list[str], home: int | None) -> bool:
        """Treats a thing and brings it home."""
        at_home = home is None or self.state.inside[home] >> thing & 1
        if at_home and not needed:
            return True
        if not self._fetch(thing):
            return False
        for flag in needed:
            appliance = self._nearest(getattr(self.game, _TREATMENTS[flag]))
            if appliance is None:
                return False
            self._go(appliance)
            if not self._do(_RULE_OF[flag], thing, appliance):
                return False
        return home is None or self._put(thing, home)

    def _walk_and_switch(self, wanted: Wanted) -> None:
        for atom in wanted:
            if atom[0] == "here" and self.state.here != atom[1]:
                self._go(self.game.at[atom[1]][0])
        for atom in wanted:
            if atom[0] == "toggled" and not self._is("toggled", atom[1]):
                if not any(self.state.inside[near] >> atom[1] & 1 for near in self.game.at[self.state.here]):
                    self._go(next(near for near, inside in enumerate(self.state.inside) if inside >> atom[1] & 1))
                self._do("use", atom[1])

    def _fetch(self, thing: int) -> bool:
        """Takes a thing into the hand, and first puts down what is in it."""
        if self.state.held == thing:
            return True
        if self.state.held >= 0 and not self._put_down():
            return False
        holders = [receptacle for receptacle, inside in enumerate(self.state.inside) if inside >> thing & 1]
        if not holders:
            return False
        nearest = min(holders, key=lambda receptacle: self._far(receptacle) + _shut(self.state, receptacle))
        self._reach(nearest)
        return self._do("take", thing, nearest)

    def _put_down(self) -> bool:
        held = self.state.held
        fitting = [receptacle for receptacle, fits in enumerate(self.game.fits) if fits >> held & 1]
        if not fitting:
            return False
        cost = {receptacle: self._far(receptacle) + _shut(self.state, receptacle) for receptacle in fitting}
        return self._put(held, min(fitting, key=cost.__getitem__))

    def _put(self, thing: int, receptacle: int) -> bool:
        self._reach(receptacle)
        return self._do("put", thing, receptacle)

    def _nearest(self, receptacles: int) -> int | None:
        return min(members(receptacles), key=self._far, default=None)

    def _far(self, receptacle: int) -> int:
        return int(self.game.place_of[receptacle] != self.state.here)

    def _go(self, receptacle: int) -> None:
        if self._far(receptacle):
            self._do("go", receptacle)

    def _reach(self, receptacle: int) -> None:
        """Goes to a receptacle and opens it."""
        self._go(receptacle)
        if _shut(self.state, receptacle):
            self._do("open", receptacle)

    def _do(self, rule: str, *named: int) -> bool:
        if self.state.won:  # Earlier than planned: a thing lies in two receptacles, and stays in one.
            return False
        command = write(self.game, rule, *named)
        self.plan.append(command)
        return self.state.step(command) != NOTHING_HAPPENS
