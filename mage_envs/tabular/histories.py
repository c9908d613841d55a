"""Every way a small game can go, listed once: terminal histories, and the decisions of each seat.

Kuhn poker has 30 terminal histories and 6 decisions a seat; Leduc poker 5,520 and 468. Games that merge
transpositions (Tic-Tac-Toe: 5,478 positions, 255,168 histories) have decisions by position, and no list of histories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, Position, PositionGraph, View
from mage_envs.games.positions import CHANCE, SIMULTANEOUS, TERMINAL

MAX_POSITIONS = 100_000
"""Positions past which a game counts as too large for exact values."""

MAX_LENGTH = 100
"""Moves past which it does: longer games would fill the memory before the positions are counted."""


class Move(NamedTuple):
    """What one seat did at one of its decisions: ``choice`` counts in ``view.legal``."""

    seat: int
    key: str
    choice: int


@dataclass(frozen=True)
class History:
    """One way from the start to a position.

    Attributes:
        position: Where it leads.
        chance: Probability of the chance outcomes on the way.
        deal: The chance outcomes on the way.
        moves: The moves of all seats on the way.
    """

    position: Position
    chance: float = 1.0
    deal: tuple[int, ...] = ()
    moves: tuple[Move, ...] = ()


@lru_cache(maxsize=16)
def terminal_histories(spec: GameSpec, limit: int = MAX_POSITIONS) -> tuple[History, ...]:
    """Lists all terminal histories of a game, depth first.

    Raises:
        UnsupportedGameError: There are more than ``limit`` histories, unfinished ones included.
    """
    _check_length(spec)
    found: list[History] = []
    count = 1
    unfinished = [History(PositionGraph(spec).root)]
    while unfinished:
        history = unfinished.pop()
        if history.position.player == TERMINAL:
            found.append(history)
        else:
            longer = [_extend(history, action) for action in actions(history.position)]
            unfinished.extend(reversed(longer))
            count += len(longer)
            _check_size(spec, "histories", count, limit)
    return tuple(found)


@lru_cache(maxsize=16)
def decision_views(spec: GameSpec, limit: int = MAX_POSITIONS) -> tuple[Mapping[str, View], ...]:
    """Lists the decisions of each seat: for every seat a mapping from view key to view.

    Raises:
        UnsupportedGameError: The game has more than ``limit`` positions.
    """
    _check_length(spec)
    views: tuple[dict[str, View], ...] = tuple({} for _ in range(spec.seats))
    root = PositionGraph(spec, limit + 1).root
    seen, unfinished = {root}, [root]
    while unfinished:
        position = unfinished.pop()
        for seat in acting_seats(position):
            view = position.view(seat)
            views[seat].setdefault(view.key, view)
        new = {child: None for child in map(position.child, actions(position)) if child not in seen}
        seen.update(new)
        unfinished.extend(reversed(new))
        _check_size(spec, "positions", len(seen), limit)
    return views


def acting_seats(position: Position) -> tuple[int, ...]:
    """Returns the seats that choose at a position: none at chance and at the end, some or all at a simultaneous one."""
    if position.player == SIMULTANEOUS:
        return tuple(seat for seat in range(position.spec.seats) if position.view(seat).legal)
    return (position.player,) if position.player >= 0 else ()


def actions(position: Position) -> Iterable[int | tuple[int, ...]]:
    """Returns what can happen at a position: its actions, chance outcomes or joint actions."""
    if position.player == CHANCE:
        return [outcome for outcome, _ in position.chance]
    if position.player == SIMULTANEOUS:
        return product(*(position.view(seat).legal or (0,) for seat in range(position.spec.seats)))
    return position.view(position.player).legal if position.player >= 0 else ()


def _extend(history: History, action: int | tuple[int, ...]) -> History:
    position = history.position
    child = position.child(action)
    if position.player == CHANCE and isinstance(action, int):
        probability = dict(position.chance)[action]
        return History(child, history.chance * probability, (*history.deal, action), history.moves)
    views = [position.view(seat) for seat in acting_seats(position)]
    taken = [action if isinstance(action, int) else action[view.seat] for view in views]
    moves = [Move(view.seat, view.key, view.legal.index(own)) for view, own in zip(views, taken, strict=True)]
    return History(child, history.chance, history.deal, (*history.moves, *moves))


def _check_length(spec: GameSpec) -> None:
    length = spec.game.max_game_length()
    if length > MAX_LENGTH:
        raise UnsupportedGameError(
            f"{spec.name!r} is too long for exact values: up to {length:,} moves, the limit is {MAX_LENGTH}. "
            "Choose a shorter game, or estimate by play"
        )


def _check_size(spec: GameSpec, noun: str, count: int, limit: int) -> None:
    if count > limit:
        raise UnsupportedGameError(
            f"{spec.name!r} is too large for exact values: {count:,} {noun} reached, the limit is {limit:,}. "
            "Choose a smaller game, or estimate by play"
        )
