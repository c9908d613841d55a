"""Paired tests against hand-computed values, by enumeration, and by simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from benchmarks.paired import MOST_EXACT, cluster_sums, holm, paired_test, permutation_p, sign_p


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (8, 2, 2 * (45 + 10 + 1) / 1024),  # P(X >= 8) = (C(10,8) + C(10,9) + C(10,10)) / 2^10, doubled.
        (2, 8, 112 / 1024),
        (5, 0, 2 / 32),
        (3, 3, 1.0),
        (0, 0, 1.0),
    ],
)
def test_sign_test_by_hand(first: int, second: int, p: float) -> None:
    assert sign_p(first, second) == pytest.approx(p)


@pytest.mark.parametrize("sums", [[1.0, 2.0, 3.0], [1, 1, 1, -1], [4, -1, 0, 2.5, 0.5], [2, -2], [0.1, 0.2, -0.3, 0.7]])
def test_permutation_p_is_the_share_of_flips_as_far_from_0(sums: list[float]) -> None:
    values = np.array(sums)
    totals = np.array([values @ np.array(signs) for signs in product((-1, 1), repeat=len(sums))])
    expected = np.mean(np.abs(totals) >= abs(values.sum()) - 1e-9)
    assert permutation_p(sums) == pytest.approx(expected)


def test_drawn_flips_come_near_the_enumerated_ones() -> None:
    ones = [1.0] * 15 + [-1.0] * 5  # The total of flips of equal sizes is a sign test.
    assert len(ones) > MOST_EXACT
    assert permutation_p(ones) == pytest.approx(sign_p(15, 5), abs=0.01)
    assert permutation_p(ones) == permutation_p(ones)
    assert 0.0 < permutation_p([1.0] * 60) < 0.001


def test_nothing_differs() -> None:
    assert permutation_p([]) == permutation_p([0.0, 0.0]) == permutation_p([3.0]) == 1.0
    found = paired_test([0.0, 0.0, 0.0], [0, 1, 2])
    assert (found.first_better, found.second_better, found.sign_p, found.p) == (0, 0, 1.0, 1.0)


def test_holm_by_hand() -> None:
    # Sorted .005, .01, .03, .04 times 4, 3, 2, 1 = .02, .03, .06, .04; none below the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_cluster_is_one_observation() -> None:
    alone = paired_test([1.0, 1.0, -1.0], [0, 1, 2])
    doubled = paired_test([1.0, 1.0, 1.0, 1.0, -1.0, -1.0], [0, 0, 1, 1, 2, 2])
    assert (doubled.first_better, doubled.second_better, doubled.clusters) == (2, 1, 3)
    assert (doubled.sign_p, doubled.p) == (alone.sign_p, alone.p)
    assert cluster_sums([0.1, 0.2, -0.3], [5, 5, 5]).tolist() == [0.0]


def test_a_worked_example_in_all_numbers() -> None:
    found = paired_test([2.0, 1.0, 1.0, 0.0], [0, 0, 1, 1])  # The example of docs/benchmark.md, score_3.
    assert found.difference.value == 1.0
    assert found.difference.high == pytest.approx(1 + 12.7062 * 0.5, abs=1e-3)
    assert (found.sign_p, found.p) == (0.5, 0.5)  # 2:0, and 2 of 4 flips of 3 and 1.


def test_intervals_cover_and_tests_keep_their_level_with_clusters() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(30), 2).tolist()
    covered, rejected, rounds = 0, 0, 400
    for _ in range(rounds):
        differences = np.repeat(rng.normal(size=30), 2) + rng.normal(size=60)
        found = paired_test(differences.tolist(), clusters)
        low, high = found.difference.low, found.difference.high
        covered += low is not None and high is not None and low <= 0.0 <= high
        rejected += found.sign_p < 0.05
    assert 0.92 <= covered / rounds <= 0.98
    assert rejected / rounds <= 0.07


def test_the_permutation_test_keeps_its_level_where_naive_pairs_do_not() -> None:
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(12), 4).tolist()
    by_cluster, by_pair, rounds = 0, 0, 150
    for _ in range(rounds):
        differences = np.repeat(rng.normal(size=12), 4) + 0.2 * rng.normal(size=48)
        by_cluster += permutation_p(cluster_sums(differences.tolist(), clusters)) < 0.05
        by_pair += permutation_p(differences.tolist(), 999) < 0.05
    assert by_cluster / rounds <= 0.09
    assert by_pair / rounds >= 0.2
