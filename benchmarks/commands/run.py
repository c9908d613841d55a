"""``benchmark run``: plays a suite."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmarks.commands.console import Boards, Jobs, SuiteName, app, command_line, cpus, err, out
from benchmarks.suites.base import MAX_META_EPISODES
from mage_envs.errors import MageError

if TYPE_CHECKING:
    from benchmarks.run_directory import Mode


@app.command()
def run(
    suite: SuiteName,
    agent: Annotated[
        list[str] | None, typer.Option(help="Spec of an agent; can be repeated. Default: the suite's.")
    ] = None,
    meta_episodes: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_META_EPISODES, help="Meta-episodes of each scenario. Default: the suite's."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed is another panel.")] = 0,
    control: Annotated[str, typer.Option(help="Causal control under which the agents play.", metavar="NAME")] = "none",
    out_: Annotated[
        Path | None, typer.Option("--out", help="Run directory. Default: runs/SUITE-TIME.", metavar="DIR")
    ] = None,
    jobs: Jobs = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Delete the run in --out first.")] = False,
    leaderboards: Boards = None,
) -> None:
    """Plays a suite into a run directory, and prints its rows among those of the leaderboard."""
    if resume and (overwrite or out_ is None):
        raise typer.BadParameter("needs --out, and goes without --overwrite", param_hint="--resume")
    from benchmarks.plan import make_plan
    from benchmarks.progress import Bar
    from benchmarks.report import print_run
    from benchmarks.runner import run as run_plan
    from benchmarks.suites import SUITES

    begun = time.monotonic()
    plan = make_plan(SUITES.get(suite), agent or (), meta_episodes=meta_episodes, seed=seed, control=control)
    if not plan.tasks:
        raise MageError("; ".join(plan.manifest.reasons))
    path = out_ or _new_folder(suite)
    mode: Mode = "resume" if resume else "overwrite" if overwrite else "new"
    try:
        err.print(f"{suite}: {len(plan.tasks)} meta-episodes into {path}")
        with Bar("meta-episodes", err) as bar:
            directory = run_plan(plan, path, bar, mode=mode, jobs=jobs or cpus())
    except KeyboardInterrupt:
        err.print(f"\ninterrupted; nothing finished is lost. Go on with:\n  {_resume_command(path)}", soft_wrap=True)
        raise typer.Exit(130) from None
    print_run(out, directory, plan.panel, directory.records().values(), leaderboards)
    out.print(f"Run, in {time.monotonic() - begun:.0f} s: {path}", markup=False, soft_wrap=True)
    out.print(f"To put it on the board: {command_line('submit', str(path))}", markup=False, soft_wrap=True)


def _new_folder(suite: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folders = (Path("runs") / f"{suite}-{stamp}{suffix}" for suffix in ("", *(f"-{n}" for n in range(2, 100))))
    return next(folder for folder in folders if not folder.exists())


def _resume_command(path: Path) -> str:
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--overwrite")]
    if "--out" not in words and not any(word.startswith("--out=") for word in words):
        words += ["--out", str(path)]
    return command_line(*words, "--resume")
