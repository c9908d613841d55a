"""Positions: the game graph, grown on demand and remembered, so that play costs look-ups only.

A :class:`Position` is a state of the game with its children and what each seat may know of it. Positions never change
in what they mean and are shared by all environments of a process. At most ``spec.remember`` of them are remembered;
past that, positions are made anew and dropped.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import pyspiel

from mage_envs.games.base import GameSpec
from mage_envs.games.chance import chance_uniform
from mage_envs.games.views import Menu, View, fold, shared

__all__ = ["CHANCE", "SIMULTANEOUS", "TERMINAL", "Position", "PositionGraph", "View", "fold",
           "position_graph"]  # fmt: skip

CHANCE = int(pyspiel.PlayerId.CHANCE)
SIMULTANEOUS = int(pyspiel.PlayerId.SIMULTANEOUS)
TERMINAL = int(pyspiel.PlayerId.TERMINAL)

Action: TypeAlias = int
Joint: TypeAlias = tuple[int, ...]


class Position:
    """One state of a game.

    Attributes:
        player: The seat to act, or ``CHANCE``, ``SIMULTANEOUS``, ``TERMINAL``.
        returns: What each seat has got so far (at a terminal position: the result).
        views: What each seat may know here.
        chance: Outcomes of a chance position with their probabilities, none of them 0; else empty.
        children: By index of the legal action (or chance outcome): the position after it, None until :meth:`follow` was
            called. For loops in which a call costs too much: ``position.children[i] or position.follow(i)``.
    """

    __slots__ = ("_graph", "_indices", "_joint", "_state", "chance", "children", "player", "returns", "views")

    def __init__(self, graph: PositionGraph, state: Any) -> None:
        """Wraps a state. Use :meth:`PositionGraph.root` and :meth:`child` instead."""
        self._graph, self._state = graph, state
        self.player = int(state.current_player())
        self.returns: tuple[float, ...] = shared(tuple(state.returns()))
        self.views = tuple(View(graph.spec, state, seat, graph.menu(state, seat)) for seat in range(graph.spec.seats))
        self.chance: tuple[tuple[int, float], ...] = ()
        self._joint: dict[Joint, Position] = {} if self.player == SIMULTANEOUS else _NO_CHILDREN
        self._indices: dict[int, int] = _NO_INDICES
        if self.player == CHANCE:
            self.chance = shared(tuple((int(a), float(p)) for a, p in state.chance_outcomes() if p > 0.0))
            self._indices = {action: index for index, (action, _) in enumerate(self.chance)}
        elif self.player >= 0:
            self._indices = self.views[self.player].moves
        self.children: list[Position | None] = [None] * len(self._indices)

    @property
    def spec(self) -> GameSpec:
        """The game."""
        return self._graph.spec

    def child(self, action: Action | Joint) -> Position:
        """Returns the position after an action.

        Args:
            action: A legal action id. At a simultaneous position a tuple, one action a seat, with 0 for a seat that
                has no legal action there.

        Raises:
            KeyError: The action is not legal here.
        """
        if isinstance(action, tuple):
            return self._joint.get(action) or self._graph.grow_joint(self, action)
        return self.follow(self._indices[action])

    def follow(self, index: int) -> Position:
        """Returns the position after the legal action (or chance outcome) with this index: :meth:`child`, faster."""
        return self.children[index] or self._graph.grow(self, index)

    def after_chance(self, instance: int, event: int) -> Position:
        """Returns the position after chance event number ``event`` of an instance."""
        u = chance_uniform(instance, event)
        for index, (_, probability) in enumerate(self.chance):
            u -= probability
            if u < 0.0:
                return self.follow(index)
        return self.follow(len(self.chance) - 1)

    def view(self, seat: int) -> View:
        """Returns what a seat may know here."""
        return self.views[seat]

    def state(self) -> Any:
        """Returns a copy of the full OpenSpiel state, hidden information included: for solvers, never for players."""
        return self._state.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Position:
        """Positions never change, so that a copy of an environment shares them."""
        return self

    def __reduce__(self) -> tuple[Any, tuple[GameSpec, str]]:
        """Pickles by the serialised state."""
        return _restore, (self.spec, self._state.serialize())


_NO_CHILDREN: dict[Joint, Position] = {}
_NO_INDICES: dict[int, int] = {}


class PositionGraph:
    """All positions of a game that have been reached and are remembered."""

    def __init__(self, spec: GameSpec, limit: int | None = None) -> None:
        """Starts a graph that remembers at most ``limit`` positions, ``spec.remember`` if None."""
        self.spec = spec
        self.limit = spec.remember if limit is None else limit
        self.size = 1
        self._merged: dict[str, Position] = {}
        self._menus: dict[tuple[int, ...], Menu] = {}
        self.root = Position(self, spec.game.new_initial_state())

    def menu(self, state: Any, seat: int) -> Menu:
        """Returns the menu of a seat's legal actions at a state; empty unless it must act."""
        player = state.current_player()
        legal = tuple(state.legal_actions(seat)) if player in (seat, SIMULTANEOUS) else ()
        found = self._menus.get(legal)
        if found is None:
            menu = Menu(self.spec, legal)
            found = menu if len(self._menus) >= self.limit else self._menus.setdefault(legal, menu)
        return found

    def grow(self, parent: Position, index: int) -> Position:
        """Makes the child of a position, or finds it among the transpositions, and remembers it."""
        action = list(parent._indices)[index]
        child, kept = self._remember(parent._state.child(action))
        if kept:
            parent.children[index] = child
        return child

    def grow_joint(self, parent: Position, joint: Joint) -> Position:
        """Does the same at a simultaneous position."""
        state = parent._state.clone()
        state.apply_actions(list(joint))
        child, kept = self._remember(state)
        return parent._joint.setdefault(joint, child) if kept else child

    def _remember(self, state: Any) -> tuple[Position, bool]:
        key = str(state) if self.spec.merge else ""
        child = self._merged.get(key) if key else None
        if child is not None:
            return child, True
        child = Position(self, state)
        if self.size >= self.limit:
            return child, False
        self.size += 1
        return (self._merged.setdefault(key, child) if key else child), True


@lru_cache(maxsize=64)
def position_graph(spec: GameSpec) -> PositionGraph:
    """Returns the graph of a game that is shared in this process."""
    return PositionGraph(spec)


def _restore(spec: GameSpec, serialized: str) -> Position:
    return Position(position_graph(spec), spec.game.deserialize_state(serialized))
