"""The worked examples of docs/benchmark.md, and what happens to errors and to episodes that were not played."""

from __future__ import annotations

import pytest

from benchmarks.ceilings import NONE, Ceilings, TotalBounds
from benchmarks.metrics import RowMetrics, row_metrics
from benchmarks.records import Record, UsageRecord
from benchmarks.statistics import EMPTY
from tests.benchmarks.fakes import episode, record

# Two deals, each from both seats; three episodes; the same instances in both seats.
EXAMPLE = [
    record(0, episode(-1, instance="a"), episode(1, instance="b"), episode(2, instance="c")),
    record(1, episode(1, instance="a"), episode(-1, instance="b"), episode(1, instance="c")),
    record(2, episode(-2, instance="d"), episode(-2, instance="e"), episode(1, instance="f")),
    record(3, episode(0, instance="d"), episode(2, instance="e"), episode(0, instance="f")),
]
CEILINGS = Ceilings(equilibrium=0.25, told=1.25, adaptive=(0.5, 1.0, 1.0))


def metrics(records: list[Record], expected: int = 4, ceilings: Ceilings = CEILINGS) -> RowMetrics:
    return row_metrics(records, expected, 3, ceilings)


def test_worked_example_of_scores_and_rates() -> None:
    found = metrics(EXAMPLE)
    assert [one.score.value for one in found.episodes] == [-0.5, 0.0, 1.0]
    assert [one.win.value for one in found.episodes] == [0.25, 0.5, 0.75]
    assert [one.draw.value for one in found.episodes] == [0.25, 0.0, 0.25]
    assert [one.loss.value for one in found.episodes] == [0.5, 0.5, 0.0]


def test_worked_example_of_pass_and_win() -> None:
    found = metrics(EXAMPLE)
    assert [one.passed.value for one in found.episodes] == [0.25, 0.75, 1.0]
    assert found.episodes[2].win.value == 0.75


def test_worked_example_of_the_adaptation_gain() -> None:
    found = metrics(EXAMPLE)
    assert found.gain.value == 1.5  # Of 3, 0, 3, 0: last minus first, meta-episode by meta-episode.
    # Both deals have the same sum, so the deals say that there is no variation at all.
    assert found.gain[1:3] == pytest.approx((1.5, 1.5))


def test_worked_example_of_the_interval() -> None:
    # Scores of the last episode 2, 1 | 1, 0: mean 1, cluster residuals +1, -1, variance (1 + 1) / 16 * 2 = 1/4.
    score = metrics(EXAMPLE).episodes[2].score
    assert score.high == pytest.approx(1.0 + 12.7062047 * 0.5)


def test_worked_example_of_the_normalised_score_and_regret() -> None:
    found = metrics(EXAMPLE)
    assert [one.normalised.value for one in found.episodes] == [-0.75, -0.25, 0.75]
    assert found.regret.value == 2.0  # 2.5 minus the mean of 2, 1, -3, 2.
    assert [one.regret.value for one in found.episodes] == [1.0, 1.0, 0.0]
    score, regret = found.episodes[2].score, found.episodes[2].regret
    assert score.low is not None
    assert score.high is not None
    assert regret[1:3] == pytest.approx((1.0 - score.high, 1.0 - score.low))


def test_an_agent_that_explores_less_than_the_best_has_a_negative_regret_at_first() -> None:
    greedy = metrics(EXAMPLE, ceilings=CEILINGS._replace(adaptive=(-1.0, 1.0, 2.5)))
    assert [one.regret.value for one in greedy.episodes] == [-0.5, 1.0, 1.5]


def test_bounds_are_no_value() -> None:
    bounded = metrics(EXAMPLE, ceilings=CEILINGS._replace(adaptive=None, bounds=TotalBounds(2.0, 0.1, 3.0)))
    assert {one.regret for one in bounded.episodes} == {EMPTY} == {bounded.regret}


def test_where_the_first_win_ends_it_scores_after_episode_1_are_of_other_meta_episodes_and_empty() -> None:
    records = [
        record(0, episode(1.0)),
        record(1, episode(-1.0), episode(1.0)),
        record(2, episode(-1.0), episode(-1.0), episode(-1.0)),
    ]
    found = row_metrics(records, 3, 3, CEILINGS, stops=True)
    assert [one.score.value for one in found.episodes] == [pytest.approx(-1 / 3), None, None]
    assert [one.passed.value for one in found.episodes] == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert found.gain == EMPTY == found.episodes[1].normalised == found.episodes[2].regret
    assert found.episodes[2].loss.value == 1.0


def test_without_exact_values_there_is_no_scale() -> None:
    found = metrics(EXAMPLE, ceilings=NONE)
    assert {one.normalised for one in found.episodes} == {EMPTY} == {one.regret for one in found.episodes}
    assert found.regret == EMPTY


def test_where_nothing_can_be_gained_there_is_no_scale() -> None:
    flat = Ceilings(equilibrium=0.0, told=0.001, adaptive=(0.0, 0.0, 0.0), least_gap=0.04)
    assert metrics(EXAMPLE, ceilings=flat).episodes[0].normalised == EMPTY


def test_an_error_is_in_its_own_column_and_in_no_score() -> None:
    failed = record(3, episode(-2), status="error", error="the server is gone")
    found = metrics([*EXAMPLE[:3], failed])
    assert (found.n_expected, found.n_scored, found.n_error, found.complete) == (4, 3, 1, False)
    assert found.episodes[0].score == metrics(EXAMPLE[:3], 3).episodes[0].score
    assert found.episodes[0].score.n == 3


def test_a_timeout_is_in_its_own_column_and_in_no_score() -> None:
    late = record(3, episode(-2), status="timeout", error="not finished within 5 s")
    found = metrics([*EXAMPLE[:3], late])
    assert (found.n_scored, found.n_error, found.n_timeout, found.complete) == (3, 0, 1, False)
    assert found.episodes[0].score == metrics(EXAMPLE[:3], 3).episodes[0].score


def test_a_missing_record_makes_the_row_incomplete() -> None:
    found = metrics(EXAMPLE[:3])
    assert (found.n_scored, found.n_error, found.complete) == (3, 0, False)


def test_forfeits_are_scored_and_counted() -> None:
    lost = record(3, episode(-2, invalid=3, forfeit=True), episode(1, invalid=1), episode(0), status="forfeit")
    found = metrics([*EXAMPLE[:3], lost])
    assert (found.n_scored, found.n_forfeit, found.complete) == (4, 1, True)
    assert [one.invalid.value for one in found.episodes] == [0.25, 0.25, 0.0]


def test_invalid_answers_are_counted_by_their_reason_where_there_is_a_score() -> None:
    wrong = [
        episode(-2.0).model_copy(update={"refused": refused}) for refused in ({"empty": 2}, {"empty": 1, "illegal": 1})
    ]
    failed = record(3, wrong[0], status="error", error="the server is gone")
    found = metrics([*EXAMPLE[:2], record(2, *wrong, episode()), failed])
    assert found.refused == {"empty": 3, "illegal": 1}
    assert metrics(EXAMPLE).refused == {}


def test_what_was_paid_is_counted_whether_or_not_there_is_a_score() -> None:
    usage = UsageRecord(calls=3, prompt_tokens=100, completion_tokens=20, cost=0.5, memory_truncated=2, prompts="")
    paid = [one.model_copy(update={"usage": usage}) for one in EXAMPLE[:3]]
    failed = record(3, status="error", error="the server is gone", usage=usage)
    found = metrics([*paid, failed])
    assert (found.prompt_tokens, found.completion_tokens, found.cost) == (400, 80, 2.0)
    assert found.n_memory_truncated == 6
    unpriced = failed.model_copy(update={"usage": usage.model_copy(update={"cost": None})})
    found = metrics([*paid, unpriced])
    assert (found.prompt_tokens, found.completion_tokens, found.cost) == (400, 80, None)
    assert metrics([*paid, EXAMPLE[3]]).prompt_tokens is None
    assert metrics([]).cost is None
    assert metrics([one.figures() for one in (*paid, failed)]) == metrics([*paid, failed])


def test_episodes_that_a_win_made_needless_count_for_pass_only() -> None:
    found = metrics([record(0, episode(1, instance="a")), record(1, *[episode(-1, instance=x) for x in "bcd"])], 2)
    assert [one.passed.value for one in found.episodes] == [0.5, 0.5, 0.5]
    assert [one.passed.n for one in found.episodes] == [2, 2, 2]
    assert [one.win.value for one in found.episodes] == [0.5, 0.0, 0.0]
    assert [one.score.n for one in found.episodes] == [2, 1, 1]


def test_nothing_was_played() -> None:
    found = metrics([])
    assert (found.n_scored, found.complete) == (0, False)
    assert found.gain == EMPTY == found.episodes[2].score


def test_one_episode_has_no_gain() -> None:
    assert row_metrics([record(0, episode(1))], 1, 1, NONE).gain == EMPTY
