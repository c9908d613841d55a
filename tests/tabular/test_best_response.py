"""Best responses: the known numbers, and brute force over all pure strategies (PAINS B2)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from mage_envs.games import load_game_spec
from mage_envs.tabular.solve import best_response, best_response_value, expected_result, expected_value
from tests.tabular import kuhn_by_hand as by_hand

EXACT = 1e-12

KNOWN = {  # chips a hand from seat 0 / seat 1; issue 2, item 8
    "conservative": (Fraction(1, 6), Fraction(1, 3)),
    "aggressive": (Fraction(1, 3), Fraction(1, 3)),
    "intermediate": (Fraction(1, 3), Fraction(1, 6)),
    "random": (Fraction(1, 2), Fraction(5, 12)),
}


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("opponent", KNOWN)
def test_kuhn_known_values(opponent: str, seat: int) -> None:
    assert best_response_value("kuhn_poker", opponent, seat) == pytest.approx(float(KNOWN[opponent][seat]), abs=EXACT)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("opponent", KNOWN)
def test_kuhn_brute_force_over_pure_strategies(opponent: str, seat: int) -> None:
    best = max(by_hand.value(plan, opponent, seat) for plan in by_hand.plans(seat))
    assert best == KNOWN[opponent][seat]
    response = best_response("kuhn_poker", opponent, seat)
    assert by_hand.value(response.policy, opponent, seat) == best


@pytest.mark.parametrize("seat", [0, 1])
def test_every_pure_strategy_is_rated_as_by_hand(seat: int) -> None:
    for plan in by_hand.plans(seat):
        for opponent in KNOWN:
            expected = float(by_hand.value(plan, opponent, seat))
            assert expected_value("kuhn_poker", plan, opponent, seat) == pytest.approx(expected, abs=EXACT)


def test_a_best_response_is_worth_its_value() -> None:
    for game in ("kuhn_poker", "leduc_poker", "tic_tac_toe", "matrix_rps"):
        for seat in (0, 1):
            for objective in ("score", "win"):
                response = best_response(game, "random", seat, objective)
                result = expected_result(game, response.policy, "random", seat)
                assert tuple(result) == pytest.approx(tuple(response.result), abs=EXACT)
                assert result.win + result.draw + result.loss == pytest.approx(1.0, abs=EXACT)


def test_tic_tac_toe_against_uniform_random() -> None:
    """Best score and best win rate as X are both 191/192 = .9948 (issue 3, item 5)."""
    assert best_response("tic_tac_toe", "random", 0).result == pytest.approx((191 / 192, 191 / 192, 1 / 192, 0.0))
    assert best_response("tic_tac_toe", "random", 0, "win").result.win == pytest.approx(191 / 192)


def test_score_and_win_rate_are_different_aims() -> None:
    """As O against random, the most wins cost more losses than they are worth."""
    score, win = (best_response("tic_tac_toe", "random", 1, aim).result for aim in ("score", "win"))
    assert score.score > win.score
    assert win.win > score.win


def test_perfect_play_is_its_own_best_response() -> None:
    for seat in (0, 1):
        assert best_response("tic_tac_toe", "minimax", seat).result == pytest.approx((0.0, 0.0, 1.0, 0.0))


def test_simultaneous_game() -> None:
    """``first_legal`` plays rock; paper beats it."""
    for seat in (0, 1):
        response = best_response("matrix_rps", "first_legal", seat)
        assert response.result == (1.0, 1.0, 0.0, 0.0)
        assert list(response.policy.values()) == [1]


def test_policy_names_every_decision_also_unreachable_ones() -> None:
    policy = best_response("kuhn_poker", "conservative", 1).policy
    assert set(policy) == set(by_hand.plans(1)[0])


def test_three_seats() -> None:
    """All other seats are the opponent: three-player Kuhn poker against players that always pass, so never call."""
    result = best_response("kuhn_poker(players=3)", "first_legal", 0).result
    assert result.score == pytest.approx(2.0)


def test_game_by_name_and_by_spec_agree() -> None:
    spec = load_game_spec("kuhn_poker")
    assert best_response_value(spec, "random", 0) == best_response_value("kuhn_poker", "random", 0)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match=r"seat must be in 0\.\.1"):
        best_response_value("kuhn_poker", "random", 2)
    with pytest.raises(ValueError, match="objective must be 'score' or 'win'"):
        best_response("kuhn_poker", "random", 0, "chips")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no action for 1 decisions of seat 0"):
        expected_value("kuhn_poker", {k: 0 for k in by_hand.plans(0)[0] if k != "0"}, "random", 0)
    with pytest.raises(ValueError, match="Did you mean 'aggressive'"):
        best_response_value("kuhn_poker", "agressive", 0)
