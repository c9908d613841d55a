"""Does what a study owes: trains, and lets the trained models play. It may be killed at any moment, and called again.

Two processes may be at one study: each takes runs that nobody is at.
"""

from __future__ import annotations

import gc
import importlib
import logging
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

from filelock import FileLock, Timeout

from mage_agent.agents import make_agent
from mage_agent.base import Agent
from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.evaluation import Panel
from mage_agent.grpo.interruption import interruptible
from mage_agent.grpo.run_folder import CONFIG, Mode, RunFolder
from mage_agent.grpo.study import NONE, START, Study, StudyFolder
from mage_agent.model_settings import ModelSettings, Sampling

HARNESS = "benchmarks.study"

_log = logging.getLogger(__name__)


class StudyHarness(Protocol):
    """What ``benchmarks.study`` has; see :mod:`mage_agent.grpo.evaluation` for why it is found by name."""

    def missing(self, panel: Panel, seed: int, path: Path) -> int:
        """Returns how many meta-episodes of a panel have no score in a file of records."""

    def play(
        self, panel: Panel, seed: int, agent: Callable[[], Agent], concurrency: int, control: str, path: Path,
        stop: Callable[[], bool],
    ) -> int:  # fmt: skip
        """Plays what is missing, until it shall stop. Returns how much still is."""

    def report(self, folder: Path, to: Path) -> Any:
        """Writes the tables and the figure of a study. Returns what rich prints."""


def study_harness() -> StudyHarness:
    """Returns the harness."""
    return cast(StudyHarness, importlib.import_module(HARNESS))


Train: TypeAlias = Callable[[TrainConfig, RunFolder, Mode], Any]
"""As :func:`mage_agent.grpo.train.train`."""
Seat: TypeAlias = Callable[[TrainConfig, str], Callable[[], Agent]]
"""Returns what makes agents that play as a model was trained to, from its configuration and its folder."""


class Owed(NamedTuple):
    """What is left to do of one run.

    Attributes:
        arm: Name of the arm, or :data:`START`.
        seed: Its seed.
        training: Whether it is not trained to its end.
        playing: Meta-episodes that are missing, by control; only where some are.
    """

    arm: str
    seed: int
    training: bool
    playing: dict[str, int]


def trained_model(config: TrainConfig, model: str) -> Callable[[], Agent]:
    """Returns what makes agents that ask a model on disk, which draws its replies as in training."""
    extra: tuple[tuple[str, Any], ...] = (("repetition_penalty", 1.0),)  # The start may have one of its own.
    if config.thinking != "template":
        extra += (("chat_template_kwargs", {"enable_thinking": config.thinking == "on"}),)
    sampling = Sampling(config.temperature, config.top_p, config.top_k, config.max_completion, extra)
    settings = ModelSettings(
        "transformers",
        model,
        context=config.context or None,
        sampling=sampling,
        trust_remote_code=config.trust_remote_code,
        device="cpu" if config.device == "cpu" else None,
        batch=config.eval_batch,
    )
    return lambda: make_agent(config.agent, settings)


def owed(study: Study, folder: StudyFolder, only: Collection[str] = ()) -> Iterator[Owed]:
    """Yields what a study owes, seed by seed, the start first.

    Args:
        study: The study.
        folder: Where it is kept.
        only: Names of arms, or :data:`START`; empty: all.
    """
    for seed in study.seeds:
        for arm in (START, *(arm.name for arm in study.arms)):
            if only and arm not in only:
                continue
            found = _owed(study, folder, arm, seed)
            if found.training or found.playing:
                yield found


@dataclass(frozen=True)
class Runner:
    """Works at a study.

    Attributes:
        study: The study.
        folder: Where it is kept.
        train: What trains.
        seat: What makes agents of what was trained.
    """

    study: Study
    folder: StudyFolder
    train: Train
    seat: Seat = trained_model

    def run(self, only: Collection[str] = ()) -> int:
        """Does what is owed, but for runs that another process is at.

        Args:
            only: Names of arms, or :data:`START`; empty: all.

        Returns:
            The signal that interrupted it; 0: none did.
        """
        for found in owed(self.study, self.folder, only):
            with _locked(self.folder.lock(found.arm, found.seed)) as mine:
                if not mine:
                    _log.info("%s, seed %d: another process is at it", found.arm, found.seed)
                elif signal := self._one(found.arm, found.seed):
                    return signal
        return 0

    def _one(self, arm: str, seed: int) -> int:
        """Trains and plays one run; see :meth:`run`. What is owed may have changed before it was locked."""
        if not self.folder.trained(arm, seed):
            _log.info("%s, seed %d: training", arm, seed)
            ending = self.train(self.study.config(arm, seed), *self._begun(arm, seed))
            gc.collect()  # Before the next one, or two models are in memory.
            if ending.collapse:
                self.folder.collapse(arm, seed).write_text(f"step {ending.step}: {ending.collapse}\n", encoding="utf-8")
            if ending.signal:  # It may have come in the last step: then what is trained is played the next time.
                return int(ending.signal)
        for control in self.study.controls_of(arm):
            if signal := self._play(arm, seed, control):
                return signal
        return 0

    def _begun(self, arm: str, seed: int) -> tuple[RunFolder, Mode]:
        """Returns the folder of a training, and whether it goes on."""
        run = self.folder.run(arm, seed)
        if (run.path / CONFIG).is_file():
            return run, "resume"
        for left in run.path.glob(".*.tmp"):  # Killed while the configuration was written.
            left.unlink()
        return run, "new"

    def _play(self, arm: str, seed: int, control: str) -> int:
        path, panel, harness = self.folder.records(arm, seed, control), self.study.panel, study_harness()
        if not (missing := harness.missing(panel, seed, path)):
            return 0
        path.parent.mkdir(parents=True, exist_ok=True)
        config, begun = self.study.config(arm, seed), time.monotonic()
        agent = self.seat(config, self.folder.model(self.study, arm, seed))
        with interruptible() as interruption:
            left = harness.play(panel, seed, agent, config.eval_batch, control, path, lambda: bool(interruption.signal))
        under = "" if control == NONE else f" under {control}"
        _log.info("%s, seed %d%s: played %d of %d meta-episodes in %.0f s", arm, seed, under, missing - left, missing,
                  time.monotonic() - begun)  # fmt: skip
        return interruption.signal


def _owed(study: Study, folder: StudyFolder, arm: str, seed: int) -> Owed:
    harness, panel = study_harness(), study.panel
    playing = {
        control: missing
        for control in study.controls_of(arm)
        if (missing := harness.missing(panel, seed, folder.records(arm, seed, control)))
    }
    return Owed(arm, seed, not folder.trained(arm, seed), playing)


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Holds a lock, if nobody else does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(path, timeout=0):
            yield True
    except Timeout:
        yield False
