"""Intervals against published and hand-computed values, and where there is nothing to estimate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.statistics import EMPTY, Estimate, cluster_labels, mean_estimate, rate_estimate


def test_mean_with_every_observation_its_own_cluster_is_the_textbook_t_interval() -> None:
    values = [2.0, -1.0, 1.0, 1.0, -2.0, 2.0]
    expected = stats.t.interval(0.95, 5, np.mean(values), stats.sem(values))
    found = mean_estimate(values, range(6))
    assert (found.low, found.high) == pytest.approx(expected)


def test_mean_of_two_clusters_by_hand() -> None:
    # Cluster sums of residuals are -2 and +2: variance (4 + 4) / 16 * CR1 factor 2/1 * 3/3 = 1, t(1) = 12.706.
    found = mean_estimate([0.0, 2.0, 2.0, 4.0], [0, 0, 1, 1])
    assert found.value == 2.0
    assert found.high == pytest.approx(2.0 + 12.7062047)
    assert found.low == pytest.approx(2.0 - 12.7062047)


def test_clustering_widens_what_is_alike_and_narrows_what_cancels() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=100)
    pairs = np.repeat(np.arange(100), 2)

    def width(values: list[float], clusters: list[int]) -> float:
        found = mean_estimate(values, clusters)
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    alike = np.repeat(base, 2).tolist()
    cancels = (np.repeat(base, 2) * np.tile([1, -1], 100)).tolist()
    assert width(alike, pairs.tolist()) == pytest.approx(math.sqrt(2) * width(alike, list(range(200))), rel=0.02)
    assert width(cancels, pairs.tolist()) < 1e-6


def test_coverage_of_the_mean_is_near_its_level() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    clusters = np.repeat(np.arange(40), 3).tolist()
    for _ in range(400):
        values = np.repeat(rng.normal(size=40), 3) + rng.normal(size=120)
        found = mean_estimate(values.tolist(), clusters)
        hits += found.low is not None and found.high is not None and found.low <= 0.0 <= found.high
    assert 0.92 <= hits / 400 <= 0.98


def test_nothing_to_estimate() -> None:
    assert mean_estimate([], []) == EMPTY == rate_estimate([], [])
    assert mean_estimate([3.0], [0]) == Estimate(3.0, None, None, 1)
    assert mean_estimate([1.0, 2.0], [7, 7]) == Estimate(1.5, None, None, 2)
    assert rate_estimate([True, False], [7, 7]) == Estimate(0.5, None, None, 2)


def test_no_variation_is_a_point() -> None:
    assert mean_estimate([1.0, 1.0, 1.0], [0, 1, 2]) == Estimate(1.0, 1.0, 1.0, 3)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (86, 128, 0.5866, 0.7472),  # MAGE's Tic-Tac-Toe, .672 of 128.
        (77, 128, 0.5150, 0.6822),  # LaMer's, .602 of 128: the intervals overlap.
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, Statistics in Medicine 17, table I, method 3.
        (0, 20, 0.0, 0.1611),  # The same.
        (1, 29, 0.0061, 0.1718),  # The same.
    ],
)
def test_independent_rates_are_wilson(hits: int, n: int, low: float, high: float) -> None:
    found = rate_estimate([True] * hits + [False] * (n - hits), range(n))
    assert found.value == hits / n
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_doubling_every_observation_does_not_narrow_a_rate() -> None:
    hits = [True] * 30 + [False] * 70
    once = rate_estimate(hits, range(100))
    twice = rate_estimate([hit for hit in hits for _ in range(2)], [k for k in range(100) for _ in range(2)])
    assert twice[1:3] == pytest.approx(once[1:3], abs=2e-3)


def test_rates_without_variation_use_the_number_of_clusters() -> None:
    found = rate_estimate([True] * 40, [k for k in range(20) for _ in range(2)])
    assert found[:3] == pytest.approx((1.0, 1 - 0.1611, 1.0), abs=5e-5)
    for n in (3, 20, 999, 1000):
        assert rate_estimate([False] * n, range(n)).low == 0.0
        assert rate_estimate([True] * n, range(n)).high == 1.0


def test_rates_stay_between_0_and_1() -> None:
    # Every pair has one hit: the robust variance is 0, and the size is not made larger than n.
    found = rate_estimate([True, False] * 20, [k for k in range(20) for _ in range(2)])
    assert found == rate_estimate([True, False] * 20, range(40))


def test_clusters_join_whatever_shares_a_key() -> None:
    assert cluster_labels([]) == []
    labels = cluster_labels([{"a"}, {"b", "c"}, {"a", "d"}, set(), {"d", "c"}, {"e"}])
    assert len({labels[k] for k in (0, 1, 2, 4)}) == 1
    assert len({labels[0], labels[3], labels[5]}) == 3


def test_scaled_keeps_low_below_high() -> None:
    estimate = Estimate(0.0, -1.0, 2.0, 9)
    assert estimate.scaled(0.0, 2.0) == Estimate(0.0, -0.5, 1.0, 9)
    assert estimate.scaled(0.0, -2.0) == Estimate(0.0, -1.0, 0.5, 9)
    assert estimate.scaled(1.0, 1.0) == EMPTY
    assert Estimate(1.0, None, None, 1).scaled(0.0, 2.0) == Estimate(0.5, None, None, 1)
