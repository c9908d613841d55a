"""``mage-agent ablate``: a study of presets and seeds. Nothing heavy is imported before a training begins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mage_agent.console import err, out
from mage_agent.grpo.command import progress_lines
from mage_agent.grpo.flags import takes_train_flags
from mage_envs.errors import MageError, near_matches

if TYPE_CHECKING:
    from mage_agent.grpo.study import Study, StudyFolder


@takes_train_flags
def ablate(
    given: Mapping[str, Any],
    out_: Annotated[
        Path | None, typer.Option("--out", help="Folder of the study; one that is there goes on.", metavar="DIR")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file of the base that the presets stand over.", metavar="FILE")
    ] = None,
    presets: Annotated[
        list[str] | None,
        typer.Option(help="Presets, or TOML files of your own; with commas, or repeated. Default: the paper's "
                          "methods and ablations.", metavar="NAME,…"),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Trainings of each, with seeds from --seed on. Default: 3.", metavar="N"),
    ] = None,
    meta_episodes: Annotated[
        int | None,
        typer.Option(min=2, max=1_000_000, help="What each trained model plays. Default: 2000.", metavar="N"),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Do only what these presets owe, or `start`.", metavar="NAME,…")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what is owed, and do nothing.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Only write tables and figure of this study.", metavar="DIR")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="Folder for tables and figure. Default: report, in the study's.", metavar="DIR")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing of the progress.")] = False,
) -> None:  # fmt: skip
    """Trains presets over one configuration with several seeds, lets each play the same panels, and compares them.

    Any field of training is the base's, and presets stand over it. A study that was interrupted, or killed, goes on
    with the same command; it may grow by presets and seeds.
    """
    from mage_agent.grpo.study import StudyFolder

    if report is not None:
        _report(report, to)
        return
    if out_ is None:
        raise typer.BadParameter("say where the study is kept, or --report DIR", param_hint="--out")
    folder = StudyFolder(out_)
    study = _study(folder, given, config, _split(presets), seeds, meta_episodes)
    chosen = _split(only)
    _check_names(study, chosen)
    if dry_run:
        _say_owed(study, folder, chosen)
        return
    _run(study, folder, chosen, quiet=quiet)
    _report(out_, to)
    if left := _say_left(study, folder, chosen):
        err.print(left, markup=False, soft_wrap=True)


def _study(
    folder: StudyFolder,
    given: Mapping[str, Any],
    config: Path | None,
    presets: list[str],
    seeds: int | None,
    meta_episodes: int | None,
) -> Study:
    """Returns the whole study: what is there already, and what was asked for."""
    from mage_agent.grpo.study import grown, make_study

    before = folder.read()
    if before is not None and config is None and not given:
        found = before.with_more(presets, seeds, meta_episodes)
    else:
        found = make_study(config, given, presets, seeds, meta_episodes)
        found = found if before is None else grown(before, found, folder.path)
    found.check()
    folder.check_rules(found)
    return found


def _run(study: Study, folder: StudyFolder, only: list[str], *, quiet: bool) -> None:
    from mage_agent.backends.local_files import fingerprint, local_folder, need

    need("training", "train", "torch", "transformers", "trl", "peft", "accelerate", "datasets")
    start = local_folder(str(study.base["model"]))
    from mage_agent.grpo.study_runner import Runner
    from mage_agent.grpo.train import facts, train

    folder.write(study, {**facts(), "start": "" if start is None else fingerprint(start)})
    with progress_lines(quiet=quiet):
        signal = Runner(study, folder, train).run(only)
    if signal:
        err.print(f"Interrupted. To go on: mage-agent ablate --out {folder.path}", markup=False, soft_wrap=True)
        raise typer.Exit(128 + signal)


def _report(folder: Path, to: Path | None) -> None:
    from mage_agent.grpo.study import REPORT
    from mage_agent.grpo.study_runner import study_harness

    out.print(study_harness().report(folder, folder / REPORT if to is None else to))


def _say_owed(study: Study, folder: StudyFolder, only: list[str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from mage_agent.grpo.study import NONE
    from mage_agent.grpo.study_runner import owed

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("preset", "seed", "training", "meta-episodes to play"):
        table.add_column(title, justify="right" if title == "seed" else "left")
    count = 0
    for found in owed(study, folder, only):
        count += 1
        playing = [f"{n:,}" + ("" if control == NONE else f" under {control}") for control, n in found.playing.items()]
        table.add_row(found.arm, str(found.seed), "owed" if found.training else "done", "\n".join(playing) or "none")
    out.print(table if count else "Nothing is owed.")


def _say_left(study: Study, folder: StudyFolder, only: list[str]) -> str:
    from mage_agent.grpo.study_runner import owed

    left = [f"{found.arm}, seed {found.seed}" for found in owed(study, folder, only)]
    return f"Still owed, as meta-episodes failed or another process is at it: {'; '.join(left)}" if left else ""


def _check_names(study: Study, only: list[str]) -> None:
    from mage_agent.grpo.study import START

    names = (START, *(arm.name for arm in study.arms))
    for name in only:
        if name not in names:
            raise MageError(f"--only {name}: no such preset is in this study. {near_matches(name, names)}")


def _split(names: list[str] | None) -> list[str]:
    return [name.strip() for each in names or () for name in each.split(",") if name.strip()]
