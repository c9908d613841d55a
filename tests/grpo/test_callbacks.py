"""What watches a training: collapse, progress, evaluation as a line."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("transformers", reason="needs the extra train")

from transformers import TrainerControl, TrainerState

from mage_agent.grpo.callbacks import StopOnCollapse, as_json, collapse, evaluation_line, progress_line
from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.evaluation import Evaluation, Interval

WATCHED = TrainConfig(stop_entropy=0.5, stop_invalid=0.9, stop_patience=2)
FOUND = Evaluation(
    panel="ab" * 32,
    scored=3,
    errors=1,
    first_error="FinalError: too long",
    score=(Interval(0.5, 0.1, 0.9), Interval(1.0, None, None)),
    win=(Interval(0.5, 0.1, 0.9), Interval(1.0, None, None)),
    invalid=(Interval(0.0, 0.0, 0.1), Interval(0.25, 0.0, 0.5)),
    gain=Interval(0.5, -0.25, 1.25),
    opponents={"cfr": (Interval(-0.5, None, None), Interval(None, None, None))},
)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], ""),
        ([{"entropy": 0.1}], ""),
        ([{"entropy": 0.1}, {"entropy": 0.2}], "the entropy was below stop_entropy = 0.5 in 2 lines of metrics, 0.2"),
        ([{"entropy": 0.1}, {"entropy": 0.6}], ""),
        ([{"entropy": 0.1}, {"entropy": 0.6}, {"entropy": 0.1}], ""),
        ([{"entropy": 0.1}, {"entropy": None}], ""),
        ([{"entropy": 2.0, "rate/invalid": 0.95}, {"entropy": 2.0, "rate/invalid": 1.0}],
         "the share of invalid replies was above stop_invalid = 0.9 in 2 lines of metrics, 1 in the last"),
        ([{"rate/invalid": 0.95}, {"rate/invalid": 0.9}], ""),
        ([{"rate/invalid": 0.95}, {}], ""),
        ([{"rate/invalid": 0.95}, {}, {"rate/invalid": 1.0}, {}],  # A rollout that is learnt from in two steps.
         "the share of invalid replies was above stop_invalid = 0.9 in 2 lines of metrics, 1 in the last"),
        ([{"rate/invalid": 0.95}, {}, {"rate/invalid": 0.5}, {}], ""),
    ],
)  # fmt: skip
def test_collapse(lines: list[dict[str, float]], expected: str) -> None:
    assert collapse(lines, WATCHED).startswith(expected)
    assert bool(collapse(lines, WATCHED)) == bool(expected)
    assert collapse(lines, TrainConfig()) == ""


@pytest.mark.parametrize("name", ["loss", "grad_norm", "entropy"])
def test_weights_that_are_no_numbers_end_a_training_without_a_checkpoint(name: str) -> None:
    watch, control = StopOnCollapse(TrainConfig(mini_batches=2)), TrainerControl(should_save=True)
    fine = {"loss": 0.5, "grad_norm": 1.0, "entropy": 1.0}
    for step, value in ((1, 0.25), (2, 0.5), (3, math.nan)):
        logs = {**fine, name: value}
        state = TrainerState(global_step=step, log_history=[logs])
        watch.on_log(None, state, control, logs)  # type: ignore[arg-type]
        assert control.should_training_stop == watch.broken == math.isnan(value)
        assert control.should_save == math.isfinite(value)
    assert watch.reason == f"{name} is nan"


def test_lines_of_progress() -> None:
    line = progress_line({"score/first": 0.0, "score/last": None, "score/first/a": 1.0}, 1, 2, 0.5)
    assert line == "step 1/2: score +0.00 -> ? (a +1.00 -> ?), 0.5 s"
    assert progress_line({"loss": 0.0}, 2, 2, 0.5) == "step 2/2: 0.5 s"


def test_the_line_of_an_evaluation() -> None:
    assert evaluation_line(FOUND, 7) == (
        "evaluation after step 7: score by episode +0.50 +1.00 (cfr -0.50 ?), gain +0.50 [-0.25, +1.25]; "
        "1 meta-episodes without a score: FinalError: too long"
    )


def test_an_evaluation_as_metrics_and_as_json() -> None:
    assert FOUND.metrics() == {
        "eval_score/1": 0.5, "eval_score/2": 1.0, "eval_win/1": 0.5, "eval_win/2": 1.0, "eval_invalid": 0.25,
        "eval_gain": 0.5, "eval_gain/low": -0.25, "eval_gain/high": 1.25,
    }  # fmt: skip
    found = as_json(FOUND)
    assert found["score"][0] == {"value": 0.5, "low": 0.1, "high": 0.9}
    assert found["opponents"]["cfr"][1] == {"value": None, "low": None, "high": None}
