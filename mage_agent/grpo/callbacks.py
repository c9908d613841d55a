"""What watches a training: metrics as lines of a file, a line of progress, evaluation, and when to stop."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.evaluation import Evaluation, Interval
from mage_agent.grpo.run_folder import EVALUATION, METRICS, RunFolder

_log = logging.getLogger(__name__)

SCORES = ("score/first", "score/last")
INVALID, ENTROPY = "rate/invalid", "entropy"
"""Names of metrics that are read here; :mod:`mage_agent.grpo.metrics` and TRL write them."""

Logs = Mapping[str, Any]


class MetricsFile(TrainerCallback):  # type: ignore[misc]
    """Appends all that is logged of training to ``metrics.jsonl``, a line a step."""

    def __init__(self, folder: RunFolder) -> None:
        """Takes the folder of the run."""
        self._folder = folder

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: Logs, **_: Any
    ) -> None:
        """Appends a line; what is no number in JSON is null."""
        if state.is_world_process_zero and is_training(logs):
            self._folder.append(METRICS, {"step": state.global_step, **{name: _json(logs[name]) for name in logs}})


class Progress(TrainerCallback):  # type: ignore[misc]
    """Logs a line with the scores of the first and the last episode, in all and for each opponent."""

    def __init__(self) -> None:
        """Starts the clock."""
        self._since = time.monotonic()

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: Logs, **_: Any
    ) -> None:
        """Logs the line."""
        if is_training(logs):
            now = time.monotonic()
            _log.info("%s", progress_line(logs, state.global_step, state.max_steps, now - self._since))
            self._since = now


class StopOnCollapse(TrainerCallback):  # type: ignore[misc]
    """Ends a training whose entropy is gone, or whose replies cannot be played, with a checkpoint.

    One whose loss is no number any more is ended without: its weights are worth nothing.

    Attributes:
        reason: Why it was ended; empty if it was not.
        broken: Whether its weights are worth nothing.
    """

    def __init__(self, config: TrainConfig) -> None:
        """Takes the thresholds."""
        self._config, self.reason, self.broken = config, "", False

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: Logs, **_: Any
    ) -> None:
        """Looks at the last lines, those before a resume included."""
        if not is_training(logs):
            return
        self.reason = no_number(logs)
        self.broken = bool(self.reason)
        if not self.broken and state.global_step % self._config.steps_a_rollout == 0:
            self.reason = collapse([line for line in state.log_history if is_training(line)], self._config)
        if self.reason:
            control.should_save, control.should_training_stop = not self.broken, True


class StopOnSignal(TrainerCallback):  # type: ignore[misc]
    """Ends a training that was interrupted, with a checkpoint, when a rollout has been learnt from.

    Attributes:
        ended: Whether it did.
    """

    def __init__(self, signalled: Callable[[], bool], every: int) -> None:
        """Takes what says, in all processes alike, whether one got a signal; and how many steps a rollout has."""
        self._signalled, self._every, self.ended = signalled, every, False

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Asks for the checkpoint and the end."""
        if state.global_step % self._every == 0 and state.global_step < state.max_steps and self._signalled():
            self.ended = control.should_save = control.should_training_stop = True


class EvaluateEvery(TrainerCallback):  # type: ignore[misc]
    """Evaluates before training, every so many steps, and after the last."""

    def __init__(self, folder: RunFolder, every: int, evaluate: Callable[[], Evaluation], trainer: Any) -> None:
        """Takes what evaluates, in the first process, and the trainer, which logs it and keeps the others waiting."""
        self._folder, self._every, self._evaluate, self._trainer = folder, every, evaluate, trainer

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Evaluates the start."""
        if state.global_step == 0:
            self._run(state, control)

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Evaluates, if it is time to."""
        if state.global_step % self._every == 0 or state.global_step == state.max_steps:
            self._run(state, control)

    def _run(self, state: TrainerState, control: TrainerControl) -> None:
        found: list[Evaluation | None] = [None]
        if state.is_world_process_zero:
            begun = time.monotonic()
            found = [self._evaluate()]
            seconds = time.monotonic() - begun
        if self._trainer.accelerator.num_processes > 1:
            from accelerate.utils import broadcast_object_list

            broadcast_object_list(found)
        evaluation = found[0]
        assert evaluation is not None
        if state.is_world_process_zero:
            self._folder.append(EVALUATION, {"step": state.global_step, "seconds": seconds, **as_json(evaluation)})
            _log.info("%s", evaluation_line(evaluation, state.global_step))
        model, due = self._trainer.model, control.should_log
        training = model.training
        model.eval()  # In the mode of training, TRL would add what it keeps for the next line of metrics.
        self._trainer.log(evaluation.metrics())
        model.train(training)
        control.should_log = due  # What is logged here is not the line that this step may be due.


def is_training(logs: Logs) -> bool:
    """Whether logs are of training: neither of an evaluation nor the library's last words."""
    return "loss" in logs


def collapse(lines: Sequence[Logs], config: TrainConfig) -> str:
    """Says why training has collapsed.

    Args:
        lines: All lines of metrics of training, in order. Where a rollout is learnt from in several steps, the share of
            invalid replies stands in one of their lines.
        config: Thresholds, and how many lines in a row, of those that have a metric, must be past one.

    Returns:
        The reason in words; empty if it has not.
    """
    patience = config.stop_patience
    entropy, invalid = (
        [line[name] for line in lines if line.get(name) is not None][-patience:] for name in (ENTROPY, INVALID)
    )
    if len(entropy) == patience and max(entropy) < config.stop_entropy:
        return (f"the entropy was below stop_entropy = {config.stop_entropy:g} in {patience} lines of metrics, "
                f"{entropy[-1]:.3g} in the last")  # fmt: skip
    if len(invalid) == patience and min(invalid) > config.stop_invalid:
        return (f"the share of invalid replies was above stop_invalid = {config.stop_invalid:g} in {patience} lines of "
                f"metrics, {invalid[-1]:.3g} in the last")  # fmt: skip
    return ""


def no_number(line: Logs) -> str:
    """Says what in a line of metrics is no number, which makes the weights worth nothing; empty if all is well.

    >>> no_number({"loss": 0.5, "grad_norm": math.nan})
    'grad_norm is nan'
    """
    for name in ("loss", "grad_norm", ENTROPY):
        if isinstance(value := line.get(name), float) and not math.isfinite(value):
            return f"{name} is {value}"
    return ""


def progress_line(logs: Logs, step: int, steps: int, seconds: float) -> str:
    """Returns a line that names the scores of the first and the last episode, in all and for each opponent.

    >>> progress_line({"score/first": 0.5, "score/last": 1.0, "score/first/tag": 0.5, "score/last/tag": 1.0,
    ...                "rate/invalid": 0.25, "entropy": 1.234}, 7, 150, 12.0)
    'step 7/150: score +0.50 -> +1.00 (tag +0.50 -> +1.00), invalid 25 %, entropy 1.23, 12.0 s'
    """
    parts = []
    first = SCORES[0]
    if first in logs:
        own = sorted(name.removeprefix(f"{first}/") for name in logs if name.startswith(f"{first}/"))
        told = ", ".join(f"{name} {_change(logs, f'/{name}')}" for name in own)
        parts.append(f"score {_change(logs, '')}" + (f" ({told})" if told else ""))
    if logs.get(INVALID) is not None:
        parts.append(f"invalid {logs[INVALID]:.0%}".replace("%", " %"))
    if logs.get(ENTROPY) is not None:
        parts.append(f"entropy {logs[ENTROPY]:.3g}")
    return f"step {step}/{steps}: " + ", ".join([*parts, f"{seconds:.1f} s"])


def evaluation_line(evaluation: Evaluation, step: int) -> str:
    """Returns a line that names the score of each episode, the gain with its interval, and what failed."""
    scores = " ".join(_number(score.value) for score in evaluation.score)
    opponents = "; ".join(
        f"{name} {' '.join(_number(score.value) for score in scores)}" for name, scores in evaluation.opponents.items()
    )
    line = f"evaluation after step {step}: score by episode {scores}" + (f" ({opponents})" if opponents else "")
    if evaluation.gain.value is not None:
        line += f", gain {_with_interval(evaluation.gain)}"
    if evaluation.errors:
        line += f"; {evaluation.errors} meta-episodes without a score: {evaluation.first_error}"
    return line


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Returns an evaluation as JSON values: an interval is an object with value, low and high."""
    return {name: _plain(value) for name, value in evaluation._asdict().items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Interval):
        return value._asdict()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return {name: _plain(each) for name, each in value.items()} if isinstance(value, Mapping) else value


def _change(logs: Logs, of: str) -> str:
    return " -> ".join(_number(logs.get(name + of)) for name in SCORES)


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:+.2f}"


def _with_interval(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return _number(interval.value)
    return f"{_number(interval.value)} [{interval.low:+.2f}, {interval.high:+.2f}]"


def _json(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
