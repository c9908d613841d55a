"""The folder of a training run: what was asked for, what came of it, and what it goes on from.

``config.toml`` is the resolved configuration, and its SHA-256 that of the file; ``provenance.json`` says with which
versions and commit each attempt ran. Both are there before training begins. ``metrics.jsonl`` and ``evaluation.jsonl``
grow line by line; ``checkpoint-N`` are Hugging Face's; ``final`` is the trained model. A run can be killed at any
moment: it goes on from the last whole checkpoint, and lines that are later than that are written again. ``collapsed``
is the model of a training that was stopped because it collapsed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from filelock import FileLock, Timeout

from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.config_files import read_toml
from mage_envs.errors import MageError

Mode: TypeAlias = Literal["new", "resume", "overwrite"]

CONFIG, PROVENANCE = "config.toml", "provenance.json"
METRICS, EVALUATION = "metrics.jsonl", "evaluation.jsonl"
CHECKPOINT, FINAL, COLLAPSED = "checkpoint-", "final", "collapsed"
_STATE = "trainer_state.json"
"""What the library writes last into a checkpoint: one without it was cut off."""

_LOCK = ".train.lock"

RULES = "rules_sha256"
"""What an attempt's facts say of a file of rules, whose name alone stands in the configuration."""


@dataclass(frozen=True)
class RunFolder:
    """A run on disk."""

    path: Path

    @property
    def final(self) -> Path:
        """Where the trained model is, if training is over."""
        return self.path / FINAL

    @property
    def collapsed(self) -> Path:
        """Where the model of a training that collapsed is: a folder as the one of a trained one."""
        return self.path / COLLAPSED

    @property
    def finished(self) -> bool:
        """Whether training is over."""
        return self.final.is_dir()

    def checkpoint(self) -> Path | None:
        """Returns the last whole checkpoint; None if there is none."""
        found = {step: path for path in self.path.glob(f"{CHECKPOINT}*") if (step := _whole(path)) is not None}
        return found[max(found)] if found else None

    def config(self) -> TrainConfig:
        """Reads the configuration.

        Raises:
            MageError: There is no run, or what is there is damaged.
        """
        if not (self.path / CONFIG).is_file():
            raise MageError(f"there is no run in {self.path} to go on with: leave out --resume")
        return TrainConfig(**read_toml(self.path / CONFIG))

    @contextmanager
    def opened(self, config: TrainConfig, mode: Mode, facts: Mapping[str, Any]) -> Iterator[None]:
        """Makes the folder ready, and keeps other runs out of it.

        Args:
            config: What is trained.
            mode: ``new``: there must be nothing; ``overwrite``: what a run left is deleted; ``resume``.
            facts: Versions, commit and the like: JSON values.

        Raises:
            MageError: The folder is not what the mode needs; nothing in it was changed.
        """
        self.check(config, mode)
        if mode == "resume":
            self._check_rules(config, facts)
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.path / _LOCK, timeout=0):
                self._prepare(config, mode, facts)
                yield
        except Timeout:
            raise MageError(f"another training runs in {self.path}: wait for it, or choose another --out") from None

    def check(self, config: TrainConfig, mode: Mode) -> None:
        """Refuses a folder that is not what the mode needs.

        Raises:
            MageError: The message names the remedy.
        """
        if mode == "resume":
            if differing := differences(self.config(), config):
                raise MageError(f"the run in {self.path} was begun otherwise ({differing}): leave that out, or begin a "
                                "new run with another --out")  # fmt: skip
            return
        there = self.path.exists() and any(entry.name != _LOCK for entry in self.path.iterdir())
        if there and mode == "new":
            raise MageError(f"{self.path} is not empty: go on with --resume, delete with --overwrite, or choose "
                            "another --out")  # fmt: skip
        if there and not (self.path / CONFIG).is_file():
            raise MageError(f"{self.path} holds no run of training, and is not deleted: choose another --out")

    def _check_rules(self, config: TrainConfig, facts: Mapping[str, Any]) -> None:
        for before in _attempts(self.path / PROVENANCE)[-1:]:
            if RULES in before and before[RULES] != facts.get(RULES):
                raise MageError(f"{config.rules} is not what the run in {self.path} was begun with: take that file, or "
                                "begin a new run with another --out")  # fmt: skip

    def forget_after(self, step: int) -> None:
        """Takes out what was written after a step: lines of metrics, checkpoints that are not whole, a collapse."""
        for name in (METRICS, EVALUATION):
            if (self.path / name).exists():
                kept = [line for line in read_lines(self.path / name) if line["step"] <= step]
                _replace(self.path / name, "".join(map(_line, kept)))
        for path in self.path.glob(f"{CHECKPOINT}*"):
            if _whole(path) is None:
                shutil.rmtree(path)
        shutil.rmtree(self.collapsed, ignore_errors=True)

    def append(self, name: str, values: Mapping[str, Any]) -> None:
        """Appends a line to a file, which is with the operating system when this returns."""
        with (self.path / name).open("a", encoding="utf-8") as stream:
            stream.write(_line(values))

    def _prepare(self, config: TrainConfig, mode: Mode, facts: Mapping[str, Any]) -> None:
        if mode == "overwrite":
            for entry in sorted(
                self.path.iterdir(), key=lambda entry: entry.name == CONFIG
            ):  # Without it, it is no run.
                if entry.is_dir():
                    shutil.rmtree(entry)
                elif entry.name != _LOCK:
                    entry.unlink()
        attempts = [*_attempts(self.path / PROVENANCE), dict(facts)]
        _replace(self.path / CONFIG, config.toml())
        said = {"config_sha256": config.sha256, "attempts": attempts}
        _replace(self.path / PROVENANCE, json.dumps(said, indent=2) + "\n")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Reads a file of JSON lines; a last one that was cut off is left out.

    Raises:
        MageError: Another line is damaged.
    """
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
        if not line.endswith(b"\n"):
            return
        try:
            yield json.loads(line)
        except ValueError as error:
            raise MageError(f"{path}:{number} is damaged: delete this line") from error


def differences(before: TrainConfig, now: TrainConfig) -> str:
    """Returns in words in which fields two configurations differ; empty if in none.

    >>> differences(TrainConfig(steps=2), TrainConfig(steps=3))
    'steps is 2, and not 3'
    """
    old, new = asdict(before), asdict(now)
    return "; ".join(f"{name} is {old[name]!r}, and not {new[name]!r}" for name in old if old[name] != new[name])


def _whole(path: Path) -> int | None:
    """Returns the step of a checkpoint; None if it is not whole."""
    try:
        step = json.loads((path / _STATE).read_text(encoding="utf-8"))["global_step"]
    except (OSError, ValueError, KeyError):
        return None
    return step if path.name == f"{CHECKPOINT}{step}" else None


def _attempts(path: Path) -> list[Any]:
    return list(json.loads(path.read_text(encoding="utf-8"))["attempts"]) if path.exists() else []


def _line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n"


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)
