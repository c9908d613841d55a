"""The archetypes decision by decision, and what the best response to each earns, in exact fractions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import pyspiel
import pytest

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import load_game_spec
from mage_envs.opponents import make_opponent
from tests.opponents.play import decision_views

GAME = load_game_spec("kuhn_poker")
KEYS = {seat: [card + moves for card in "012" for moves in ("", "pb")] if seat == 0
        else [card + moves for card in "012" for moves in ("p", "b")] for seat in (0, 1)}  # fmt: skip

# The decisions with "bet" of each archetype: card (0 is the Jack) and the moves so far, p for pass and b for bet.
BETS = {
    "conservative": {"2", "2pb", "2p", "2b"},
    "aggressive": {"0", "1", "2", "0p", "1p", "2p", "1b", "2b", "1pb", "2pb"},
    "intermediate": {"1", "2", "1p", "2p", "2b", "2pb"},
}


def bet_probability(spec: str) -> Mapping[str, Fraction]:
    opponent, rng = make_opponent(spec, GAME), np.random.default_rng(0)
    distributions = {view.key: opponent.policy(view, None, rng)[0] for view in decision_views("kuhn_poker")}
    return {key: Fraction(bet).limit_denominator(10**6) for key, (_, bet) in distributions.items()}


def value(first: Callable[[str], Fraction], second: Callable[[str], Fraction]) -> Fraction:
    """Seat 0's expected chips, over the six deals and every line of play, by the rules alone."""
    total = Fraction(0)
    for own, other in itertools.permutations((0, 1, 2), 2):
        stake = 1 if own > other else -1
        opens, bluffed, called = first(str(own)), second(f"{other}p"), second(f"{other}b")
        defended = first(f"{own}pb")
        after_check = (1 - bluffed) * stake + bluffed * (defended * 2 * stake - (1 - defended))
        after_bet = called * 2 * stake + (1 - called)
        total += (opens * after_bet + (1 - opens) * after_check) / 6
    return total


def best_response(spec: str, seat: int) -> Fraction:
    """The most that any of the 64 pure strategies of a seat earns."""
    table = bet_probability(spec)
    pure = ({key: Fraction(bet) for key, bet in zip(KEYS[seat], bets, strict=True)}
            for bets in itertools.product((0, 1), repeat=6))  # fmt: skip
    if seat == 0:
        return max(value(own.__getitem__, table.__getitem__) for own in pure)
    return max(-value(table.__getitem__, own.__getitem__) for own in pure)


@pytest.mark.parametrize("name", BETS)
def test_all_twelve_decisions(name: str) -> None:
    table = bet_probability(name)
    assert set(table) == {*KEYS[0], *KEYS[1]}
    assert {key for key, bet in table.items() if bet == 1} == BETS[name]
    assert {key for key, bet in table.items() if bet == 0} == set(table) - BETS[name]


@pytest.mark.parametrize(
    ("spec", "seat_0", "seat_1"),
    [
        ("conservative", Fraction(1, 6), Fraction(1, 3)),
        ("aggressive", Fraction(1, 3), Fraction(1, 3)),
        ("intermediate", Fraction(1, 3), Fraction(1, 6)),
        ("random", Fraction(1, 2), Fraction(5, 12)),
        ("cfr_argmax", Fraction(1, 6), Fraction(1, 6)),
    ],
)
def test_what_the_best_response_earns(spec: str, seat_0: Fraction, seat_1: Fraction) -> None:
    assert (best_response(spec, 0), best_response(spec, 1)) == (seat_0, seat_1)


def test_openspiel_agrees_on_the_best_responses() -> None:
    for spec in (*BETS, "cfr_argmax"):
        opponent, rng = make_opponent(spec, GAME), np.random.default_rng(0)
        table = {view.key: list(zip(view.legal, opponent.policy(view, None, rng)[0], strict=True))
                 for view in decision_views("kuhn_poker")}  # fmt: skip
        policy = pyspiel.TabularPolicy(table)  # OpenSpiel keeps a bare pointer to it.
        for seat in (0, 1):
            response = pyspiel.TabularBestResponse(GAME.game, seat, policy)
            assert response.value("") == pytest.approx(float(best_response(spec, seat)))


def test_share_of_deals_won_against_the_argmax_is_the_papers_bound() -> None:
    """2/3 from seat 0 and 1/2 from seat 1 of the deals can be won, knowing both cards (PAPER.md)."""
    table = bet_probability("cfr_argmax")
    deals = list(itertools.permutations((0, 1, 2), 2))
    won_first = [own > other or not table[f"{other}b"] for own, other in deals]
    # Seat 1 wins what it holds better, and what the other gives up after a check and a bet.
    won_second = [other > own or (not table[str(own)] and not table[f"{own}pb"]) for own, other in deals]
    assert (Fraction(sum(won_first), 6), Fraction(sum(won_second), 6)) == (Fraction(2, 3), Fraction(1, 2))


@pytest.mark.parametrize("name", BETS)
def test_other_games_are_refused(name: str) -> None:
    for game in ("leduc_poker", "kuhn_poker(players=3)", "tic_tac_toe"):
        with pytest.raises(UnsupportedGameError, match="kuhn_poker only"):
            make_opponent(name, load_game_spec(game))
