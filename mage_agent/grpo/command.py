"""``mage-agent train`` and ``mage-agent presets``. Nothing heavy is imported before a training begins."""

from __future__ import annotations

import json
import logging
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from mage_agent.console import err, out
from mage_agent.grpo.flags import flag, in_words, takes_train_flags
from mage_envs.errors import MageError

if TYPE_CHECKING:
    from mage_agent.grpo.config import TrainConfig
    from mage_agent.grpo.run_folder import Mode, RunFolder

COLLAPSED = 3
"""Exit code of a run that stopped because training collapsed."""


def presets() -> None:
    """Lists what `mage-agent train --preset` knows, each as its difference from the defaults, which are `mage`."""
    from mage_agent.grpo.presets import PRESETS

    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=True)
    table.add_column("preset", no_wrap=True)
    table.add_column("what it is", ratio=1)
    table.add_column("otherwise than the defaults", no_wrap=True)
    for name, preset in PRESETS.items():
        table.add_row(name, preset.summary, "\n".join(in_words(preset.changes)) or "nothing")
    out.print(table)
    out.print("To train: mage-agent train --preset mage --model PATH --out DIR. All fields: mage-agent train --help")


@takes_train_flags
def train(
    given: Mapping[str, Any],
    out_: Annotated[Path, typer.Option("--out", help="Folder of the run.", metavar="DIR")],
    preset: Annotated[
        str | None, typer.Option(help="Method or ablation; see `mage-agent presets`. Default: mage.", metavar="NAME")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with fields, which stand over the preset's.", metavar="FILE")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Delete the run in --out first.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing of the progress.")] = False,
) -> None:
    """Trains a language agent to adapt from one episode to the next. Any field stands over the file's and the preset's.

    The result is a Hugging Face folder, DIR/final. A run that was interrupted goes on with --resume.
    """
    if resume and overwrite:
        raise typer.BadParameter("goes without --overwrite", param_hint="--resume")
    from mage_agent.backends.local_files import need
    from mage_agent.grpo.presets import overruled
    from mage_agent.grpo.run_folder import RunFolder

    folder = RunFolder(out_)
    mode: Mode = "resume" if resume else "overwrite" if overwrite else "new"
    resolved = _resolved(folder, mode, preset, config, given)
    if resume and folder.finished:
        folder.check(resolved, mode)
        _say_where(folder, resolved)
        return
    need("training", "train", "torch", "transformers", "trl", "peft", "accelerate", "datasets")
    from mage_agent.grpo.train import train as run

    if not quiet and os.environ.get("RANK", "0") == "0":
        for word in overruled(preset, config):
            err.print(word, markup=False, soft_wrap=True)
    with progress_lines(quiet=quiet):
        ending = run(resolved, folder, mode)
    if ending.signal and not folder.finished and not ending.collapse:
        err.print(f"Interrupted after step {ending.step}. To go on: mage-agent train --resume --out {out_}",
                  markup=False, soft_wrap=True)  # fmt: skip
        raise typer.Exit(128 + ending.signal)
    if ending.collapse:
        kept = (f"All is kept: the model is {folder.collapsed}, from which another run can begin, with --model"
                if folder.collapsed.is_dir() else
                f"These weights are not kept. The last checkpoint is {ending.checkpoint or 'none'}: begin another run "
                "with a lower learning_rate")  # fmt: skip
        err.print(f"Stopped after step {ending.step}: {ending.collapse}. {kept}", markup=False, soft_wrap=True)
        raise typer.Exit(COLLAPSED)
    _say_where(folder, resolved)


@contextmanager
def progress_lines(*, quiet: bool) -> Iterator[None]:
    """Sends what training logs to standard error, from the first process of several."""
    logger, handler = logging.getLogger("mage_agent.grpo"), _Lines()
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.WARNING if quiet or os.environ.get("RANK", "0") != "0" else logging.INFO)
    logger.propagate = False  # TRL gives the root a handler, too.
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate
        logger.setLevel(level)


def _resolved(
    folder: RunFolder, mode: Mode, preset: str | None, config: Path | None, given: Mapping[str, Any]
) -> TrainConfig:
    """Puts the configuration together. A run that goes on has its own, and what is given must be in it.

    Raises:
        MageError: Something is wrong with it, or no model is named.
    """
    from mage_agent.backends.local_files import local_folder
    from mage_agent.grpo.config import TrainConfig
    from mage_agent.grpo.presets import resolve

    if mode == "resume" and preset is None and config is None:
        return TrainConfig(**{**asdict(folder.config()), **given})
    own = {"model": folder.config().model} if mode == "resume" else {}
    found = resolve(preset, config, {**own, **given})
    if not found.model:
        raise MageError(f"no model is named: say {flag('model')} PATH, a local folder or a hub id")
    local_folder(found.model)
    return found


class _Lines(logging.Handler):
    """Prints what is logged, and nothing around it."""

    def emit(self, record: logging.LogRecord) -> None:
        err.print(record.getMessage(), markup=False, soft_wrap=True)


def _say_where(folder: RunFolder, config: TrainConfig) -> None:
    if os.environ.get("RANK", "0") == "0":
        out.print(f"Trained: {folder.final}. To play it:", markup=False, soft_wrap=True)
        out.print(f"  {shlex.join(to_play(folder, config))}", markup=False, soft_wrap=True)


def to_play(folder: RunFolder, config: TrainConfig) -> list[str]:
    """Returns the words of a command that plays what was trained, with as much room and as many thoughts as it had."""
    words = ["benchmark", "run", "quick", "--agent", config.agent, "--backend", "transformers"]
    words += ["--model", str(folder.final), "--max-tokens", str(config.max_completion)]
    if config.context:
        words += ["--context", str(config.context)]
    if config.thinking != "template":
        values = {"chat_template_kwargs": {"enable_thinking": config.thinking == "on"}}
        words += ["--extra-body", json.dumps(values)]
    if not config.legal_actions:
        words += ["--hide-legal-actions"]
    return words
