"""Bounds of the Bayes-adaptive value: around the exact one where there is one, and beyond."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mage_envs.errors import UnsupportedGameError
from mage_envs.tabular.solve import adaptive_bounds, bayes_adaptive_value, best_response_value, fixed_deal_ceiling

KUHN = {"conservative": 0.3, "aggressive": 0.3, "intermediate": 0.4}
PATTERNS = {f"pattern(order={name})": 1.0 for name in ("corners", "edges", "rows")}
SURE = 5.0
"""Standard errors."""


@pytest.mark.parametrize("reveal", [True, False])
@pytest.mark.parametrize("instance", ["fresh", "replay"])
@pytest.mark.parametrize("seats", [(0, 0, 0), (1, 0)])
def test_they_hold_the_exact_value(seats: tuple[int, ...], instance: str, reveal: bool) -> None:
    exact = bayes_adaptive_value("kuhn_poker", KUHN, seats, instance, reveal)
    bounds = adaptive_bounds("kuhn_poker", KUHN, seats, instance, reveal)
    assert bounds.lower - SURE * bounds.lower_error < exact.total < bounds.upper
    assert all(part <= most + 1e-12 for part, most in zip(exact.per_episode, bounds.upper_per_episode, strict=True))
    assert sum(bounds.lower_per_episode) == pytest.approx(bounds.lower)
    assert sum(bounds.upper_per_episode) == pytest.approx(bounds.upper)


def test_one_opponent_closes_the_gap() -> None:
    bounds = adaptive_bounds("kuhn_poker", "aggressive", [0, 1, 0])
    assert bounds.lower == pytest.approx(bounds.upper)
    assert bounds.lower_error == pytest.approx(0.0, abs=1e-12)


def test_above_is_told_the_opponent_and_with_replay_the_deal() -> None:
    told = sum(weight * best_response_value("kuhn_poker", name, 0) for name, weight in KUHN.items())
    deal = sum(weight * fixed_deal_ceiling("kuhn_poker", name, 0, "score") for name, weight in KUHN.items())
    assert adaptive_bounds("kuhn_poker", KUHN, [0, 0]).upper_per_episode == pytest.approx((told, told))
    assert adaptive_bounds("kuhn_poker", KUHN, [0, 0], "replay").upper_per_episode == pytest.approx((told, deal))


def test_an_agent_that_learns_nothing_can_be_the_better_bound() -> None:
    """Three episodes of Leduc poker are too few for Thompson sampling; the value is 5.939 (docs/ceilings.md)."""
    bounds = adaptive_bounds("leduc_poker", "leduc/train", [0] * 3)
    mixture = bayes_adaptive_value("leduc_poker", "leduc/train", [0]).total
    assert bounds.lower == pytest.approx(3 * mixture)
    assert bounds.lower_error == 0.0


def test_thompson_learns() -> None:
    """On boards as well, from the moves of one game on."""
    for game, population in (("kuhn_poker", KUHN), ("tic_tac_toe", {"random": 1.0, "minimax": 1.0})):
        lower = adaptive_bounds(game, population, [1, 1, 1]).lower_per_episode
        assert all(before < after for before, after in pairwise(lower)), (game, lower)


def test_patterns_are_known_after_one_game() -> None:
    """Fixed orders of preference: told apart by what they played, and then beaten whenever they can be."""
    bounds = adaptive_bounds("tic_tac_toe", PATTERNS, [0, 0, 0])
    assert bounds.lower_per_episode[2] == pytest.approx(bounds.upper_per_episode[2], abs=0.01)


def test_a_seed_decides_the_lower_bound() -> None:
    bounds = [adaptive_bounds("kuhn_poker", KUHN, [0, 0], runs=100, seed=seed).lower for seed in (1, 1, 2)]
    assert bounds[0] == bounds[1] != bounds[2]


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="seats must name"):
        adaptive_bounds("tic_tac_toe", "random", [])
    with pytest.raises(ValueError, match=r"seat must be in 0\.\.1"):
        adaptive_bounds("tic_tac_toe", "random", [2])
    with pytest.raises(ValueError, match="runs must be at least 2"):
        adaptive_bounds("tic_tac_toe", "random", [0], runs=1)
    with pytest.raises(UnsupportedGameError, match="memory or random search"):
        adaptive_bounds("tic_tac_toe", "mcts", [0])
