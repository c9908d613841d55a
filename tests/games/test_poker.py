"""Kuhn and Leduc poker: pay, showdowns, and the words of their moves, by rules written here a second time."""

from __future__ import annotations

import itertools

import pytest

from mage_envs.games import PositionGraph, load_game_spec
from mage_envs.games.positions import TERMINAL
from tests.games.walk import all_positions, play

KUHN_ENDS = {
    "pp": (1, True),
    "pbp": (1, False),
    "pbb": (2, True),
    "bp": (1, False),
    "bb": (2, True),
}
"""How Kuhn poker can end: the stake, and whether there is a showdown."""

DEALS = list(itertools.permutations(range(3), 2))


@pytest.mark.parametrize("line", KUHN_ENDS)
@pytest.mark.parametrize("cards", DEALS)
def test_kuhn_terminal_histories(cards: tuple[int, int], line: str) -> None:
    """All 30 (TextArena#103: the wrong winner, and play went on after the end)."""
    stake, showdown = KUHN_ENDS[line]
    folder = (len(line) - 1) % 2
    winner = cards.index(max(cards)) if showdown else 1 - folder
    end = play(PositionGraph(load_game_spec("kuhn_poker")), [*cards, *("pb".index(move) for move in line)])
    assert end.player == TERMINAL
    assert end.returns == (stake, -stake)[:: 1 if winner == 0 else -1]
    for seat in (0, 1):
        view = end.view(seat)
        card = "JQK"[cards[1 - seat]]
        assert view.revealed == ({"opponent_card": card} if showdown else {})
        assert (f"Showdown: the opponent had {card}." in view.text) == showdown
        assert ("No showdown: the cards stay hidden." in view.text) != showdown
        assert view.reveal_array.tolist() == [float(showdown and card == other) for other in "JQK"]
        assert view.legal == ()


def test_kuhn_has_30_terminal_histories() -> None:
    assert len(KUHN_ENDS) * len(DEALS) == sum(p.player == TERMINAL for p in all_positions("kuhn_poker")) == 30


def test_kuhn_tells_moves_by_their_meaning() -> None:
    graph = PositionGraph(load_game_spec("kuhn_poker"))
    position = play(graph, [2, 0, 0, 1])
    assert position.view(0).text == "Your card: K.\nMoves so far: you check, the opponent bets.\nPot: 3 chips."
    assert position.view(0).spellings == {"pass": 0, "fold": 0, "bet": 1, "call": 1}
    assert graph.root.child(2).child(0).view(0).spellings == {"pass": 0, "check": 0, "bet": 1}


def test_leduc_pays_by_the_rules() -> None:
    """All 5,520 terminal histories against a second reading of the rules."""
    ends = [position for position in all_positions("leduc_poker") if position.player == TERMINAL]
    assert len(ends) == 5520
    for end in ends:
        cards, rounds = _split(end.state().history())
        returns, showdown = _leduc_result(cards, rounds)
        assert end.returns == returns
        for seat in (0, 1):
            assert bool(end.view(seat).revealed) == ("Showdown: " in end.view(seat).text) == showdown
            own, other = (f"{'JJQQKK'[cards[index]]} of" for index in (seat, 1 - seat))
            assert f"Your card: {own}" in end.view(seat).text
            assert (f"the opponent had {other}" in end.view(seat).text) == showdown


def _split(history: list[int]) -> tuple[list[int], list[list[int]]]:
    """Cards, and the moves of both rounds: a round ends with a call that is not the first move."""
    length = next((n for n in range(2, len(history) - 1) if history[2 + n - 1] == 1), len(history) - 2)
    first, rest = history[2 : 2 + length], history[2 + length :]
    return [*history[:2], *rest[:1]], [first, rest[1:]]


def _leduc_result(cards: list[int], rounds: list[list[int]]) -> tuple[tuple[float, float], bool]:
    paid = [1, 1]
    for size, moves in zip((2, 4), rounds, strict=True):
        for turn, move in enumerate(moves):
            mover = turn % 2
            if move == 0:
                return _pay(1 - mover, paid), False
            paid[mover] = paid[1 - mover] + (size if move == 2 else 0)
    ranks = [card // 2 for card in cards]
    strength = [(rank == ranks[2], rank) for rank in ranks[:2]]
    return ((0.0, 0.0) if strength[0] == strength[1] else _pay(strength.index(max(strength)), paid)), True


def _pay(winner: int, paid: list[int]) -> tuple[float, float]:
    amount = float(paid[1 - winner])
    return (amount, -amount) if winner == 0 else (-amount, amount)


def test_leduc_tells_moves_by_their_meaning() -> None:
    position = play(PositionGraph(load_game_spec("leduc_poker")), [4, 2, 2, 2, 1, 0, 1])
    assert position.view(1).text == (
        "Your card: Q of spades.\nRound 1: the opponent bets, you raise, the opponent calls.\n"
        "Public card: J of spades.\nRound 2: the opponent checks.\nIn the pot: 5 from you, 5 from the opponent."
    )
    assert position.view(1).spellings == {"call": 1, "check": 1, "raise": 2, "bet": 2}
    assert position.child(2).view(0).spellings == {"fold": 0, "call": 1, "raise": 2}
