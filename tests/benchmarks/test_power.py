"""Needed meta-episodes against published and textbook values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.power import (
    Spread,
    fisher_p,
    n_for_difference,
    n_for_half_width,
    n_for_rate,
    n_for_rates,
    power_of_rates,
    spread,
)
from benchmarks.power_report import Wish, rate_lines, run_needs
from benchmarks.statistics import mean_estimate
from mage_envs.errors import UnknownNameError
from tests.benchmarks.test_compare import stored


def test_five_points_around_the_papers_rates_need_about_370() -> None:
    assert n_for_rate(0.602, 0.05) == 369
    assert n_for_rate(0.5, 0.05) == 385  # 1.96^2 / (4 * .05^2), of every textbook.


def test_the_papers_tic_tac_toe_is_no_difference() -> None:
    assert fisher_p(0.672, 0.602, 128) == pytest.approx(0.30, abs=0.005)
    assert power_of_rates(0.672, 0.602, 128) < 0.25
    assert power_of_rates(0.672, 0.602, n_for_rates(0.672, 0.602)) == pytest.approx(0.8, abs=1e-3)


def test_rates_of_cohens_table() -> None:
    # Cohen 1988, table 6.4.1: h = .5 (here .5 against .7397) needs 63 of each for a power of .80 at .05 two-sided.
    assert n_for_rates(0.5, 0.739713) == 63


def test_a_paired_difference_of_half_a_deviation_needs_34_pairs() -> None:
    # Cohen 1988; Faul et al. 2007 (G*Power): paired t test, d = .5, two-sided .05, power .80.
    assert n_for_difference(Spread(0.0, 0.1, 100, 100, 1.0), 0.5) == 34
    assert n_for_difference(Spread(0.0, 0.1, 200, 100, 1.0), -0.5) == 68  # Two meta-episodes a cluster.


def test_a_half_width_of_half_a_deviation_needs_18() -> None:
    # t(17) / sqrt(18) = 2.110 / 4.243 = .497; with 17 it is .514.
    assert n_for_half_width(Spread(0.0, 0.1, 100, 100, 1.0), 0.5) == 18


def test_what_is_needed_is_what_there_was() -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(60), 2)
    values = (rng.normal(size=60)[clusters] + rng.normal(size=120)).tolist()
    now = spread(values, clusters.tolist())
    estimate = mean_estimate(values, clusters.tolist())
    assert estimate.high is not None
    assert now.half == pytest.approx(estimate.high - now.mean)
    assert n_for_half_width(now, (now.half or 0.0) * 1.0001) == 120


def test_a_bigger_panel_gives_the_half_width_that_was_wished() -> None:
    rng = np.random.default_rng(1)

    def play(pairs: int) -> Spread:
        clusters = np.repeat(np.arange(pairs), 2)
        return spread((rng.normal(size=pairs)[clusters] + rng.normal(size=2 * pairs)).tolist(), clusters.tolist())

    needed = n_for_half_width(play(300), 0.05)
    assert needed is not None
    assert play(needed // 2).half == pytest.approx(0.05, rel=0.15)


@pytest.mark.parametrize("found", [spread([1.0, 1.0], [0, 1]), spread([1.0, 2.0], [0, 0])])
def test_nothing_can_be_said_without_variation(found: Spread) -> None:
    assert n_for_half_width(found, 0.1) is None
    assert n_for_difference(found, 0.1) is None


def test_too_many_is_not_a_number() -> None:
    assert n_for_half_width(Spread(0.0, 0.1, 100, 100, 1.0), 1e-6) is None


def test_nobody_played() -> None:
    with pytest.raises(ValueError, match="no meta-episode with a score"):
        spread([], [])


def test_rates_in_words() -> None:
    told = list(rate_lines(0.672, 0.602, Wish(0.05, None), 128))
    assert told == [
        "a rate of 0.672 to within ±0.05 (95 %): 339 meta-episodes",
        "0.672 against 0.602, detected with 80% power at the 5 % level: 740 meta-episodes of each agent",
        "86 of 128: 0.672, 95 % interval 0.587 to 0.747 (Wilson)",
        "0.672 against 0.602 with 128 each: p = 0.30 (Fisher), power 21%",
    ]
    assert list(rate_lines(0.5, None, Wish(None, None), None)) == []


def test_a_run_says_what_it_needs(tmp_path: Path) -> None:
    scores = {"first": [[0, 0, k % 2] for k in range(20)], "random": [[0, 0, k % 3] for k in range(20)]}
    run, panel = stored(tmp_path / "r", scores)
    needs = run_needs(run, panel, Wish(0.2, 0.5))
    assert [(need.who, need.measure, need.paired) for need in needs] == [
        ("first", "episode 3", False),
        ("first", "gain", False),
        ("random", "episode 3", False),
        ("random", "gain", False),
        ("first − random", "episode 3", True),
        ("first − random", "gain", True),
    ]
    assert all(need.needs and need.now.n == 20 for need in needs)
    only = run_needs(run, panel, Wish(0.2, None), ["random"])
    assert {need.who for need in only} == {"random"}
    with pytest.raises(UnknownNameError, match="agent of the run"):
        run_needs(run, panel, Wish(0.2, None), ["nobody"])
