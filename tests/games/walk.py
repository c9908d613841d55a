"""Walks over positions for the tests of the games room."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from mage_envs.games import Position, PositionGraph, View, load_game_spec
from mage_envs.games.positions import CHANCE, SIMULTANEOUS, TERMINAL

Move: TypeAlias = int | tuple[int, ...]

SMALL_GAMES = (
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=3)",
    "rock_paper_scissors",
    "rock_paper_scissors(throws=3)",
    "tic_tac_toe",
    "kuhn_poker(players=3)",
    "matching_pennies_3p",
)


def moves(position: Position) -> list[Move]:
    """Every action, or joint action, that leads on from a position."""
    if position.player == CHANCE:
        return [action for action, _ in position.chance]
    if position.player == SIMULTANEOUS:
        seats = range(position.spec.seats)
        return list(itertools.product(*(position.view(seat).legal or (0,) for seat in seats)))
    return [] if position.player == TERMINAL else list(position.view(position.player).legal)


def all_positions(game: str) -> Iterator[Position]:
    """Every reachable position of a small game, each once."""
    waiting, seen = [PositionGraph(load_game_spec(game), limit=10**6).root], set[int]()
    while waiting:
        position = waiting.pop()
        if id(position) not in seen:
            seen.add(id(position))
            yield position
            waiting.extend(position.child(move) for move in moves(position))


def played_views(game: str) -> Iterator[View]:
    """Every view that a player can get: chance is played before anybody looks."""
    for position in all_positions(game):
        if position.player != CHANCE:
            yield from map(position.view, range(position.spec.seats))


def play(graph: PositionGraph, actions: Sequence[int]) -> Position:
    """Plays action ids, one a seat at simultaneous positions."""
    position, left = graph.root, list(actions)
    while left:
        take = position.spec.seats if position.player == SIMULTANEOUS else 1
        position = position.child(tuple(left[:take]) if position.player == SIMULTANEOUS else left[0])
        del left[:take]
    return position


def random_walk(graph: PositionGraph, seed: int, steps: int = 10**6) -> Iterator[Position]:
    """Positions of one random play, first to last."""
    rng, position = random.Random(seed), graph.root
    for index in range(steps + 1):
        yield position
        if position.player == TERMINAL or index == steps:
            return
        chance = position.player == CHANCE
        position = position.after_chance(seed, index) if chance else position.child(_pick(position, rng))


def _pick(position: Position, rng: random.Random) -> Move:
    if position.player != SIMULTANEOUS:
        return rng.choice(position.view(position.player).legal)
    return tuple(rng.choice(position.view(seat).legal or (0,)) for seat in range(position.spec.seats))
