"""Kuhn poker once more, written straight over OpenSpiel and by brute force: what the solvers are checked against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from typing import Any, NamedTuple

import pyspiel

GAME = pyspiel.load_game("kuhn_poker")

Plan = Mapping[str, int]
"""Information state to action: a pure strategy."""


class End(NamedTuple):
    """One terminal history: its actions, what seat 0 gets, and the decisions on the way as (seat, state, action)."""

    history: tuple[int, ...]
    score: int
    moves: tuple[tuple[int, str, int], ...]


ARCHETYPES = {  # PAPER.md: (cards that bet when nobody has bet, cards that call); J, Q, K = 0, 1, 2
    "conservative": ("2", "2"),
    "aggressive": ("012", "12"),
    "intermediate": ("12", "2"),
}


@lru_cache(maxsize=1)
def ends() -> tuple[End, ...]:
    return tuple(_walk(GAME.new_initial_state(), ()))


def _walk(state: Any, moves: tuple[tuple[int, str, int], ...]) -> Iterator[End]:
    if state.is_terminal():
        yield End(tuple(state.history()), int(state.returns()[0]), moves)
    for action in state.legal_actions():
        seat = state.current_player()
        made = () if state.is_chance_node() else ((seat, state.information_state_string(), action),)
        yield from _walk(state.child(action), moves + made)


@lru_cache(maxsize=2)
def plans(seat: int) -> tuple[Plan, ...]:
    """All 64 pure strategies of a seat."""
    states = sorted({name for end in ends() for player, name, _ in end.moves if player == seat})
    assert len(states) == 6
    return tuple(dict(zip(states, actions, strict=True)) for actions in product((0, 1), repeat=6))


@cache
def chance(opponent: str, player: int, name: str, action: int) -> Fraction:
    """Probability that an opponent plays an action at an information state."""
    if opponent == "random":
        return Fraction(1, 2)
    bets, calls = ARCHETYPES[opponent]
    bet = name[0] in (calls if "b" in name else bets)
    return Fraction(int(bet == bool(action)))


def weight(end: End, plan: Plan, opponent: str, seat: int) -> Fraction:
    """Probability of an end when a plan in ``seat`` meets an opponent in the other one."""
    total = Fraction(1, 6)
    if any(plan[name] != action for player, name, action in end.moves if player == seat):
        return Fraction(0)
    for player, name, action in end.moves:
        if player != seat:
            total *= chance(opponent, player, name, action)
    return total


def score(end: End, seat: int) -> int:
    return end.score if seat == 0 else -end.score


def value(plan: Plan, opponent: str, seat: int) -> Fraction:
    """Expected score of a plan, in chips a hand."""
    return sum((weight(end, plan, opponent, seat) * score(end, seat) for end in ends()), Fraction(0))


def signal(end: End, plan: Plan, seat: int, reveal: bool) -> tuple[Any, ...]:
    """What a seat has seen at an end: its card, the moves, its score and, if shown, the other card."""
    folded = end.history[-1] == 0 and 1 in end.history[2:]
    shown = end.history[1 - seat] if reveal and not folded else None
    return end.history[seat], end.history[2:], score(end, seat), shown
