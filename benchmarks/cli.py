"""The command ``benchmark``. Modules that compute are imported by the commands that need them: help is quick."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from benchmarks.pool import MAX_JOBS
from benchmarks.suites.base import MAX_META_EPISODES
from mage_envs.errors import MageError, RecordError, VerificationError

if TYPE_CHECKING:
    from benchmarks.panels import Panel
    from benchmarks.run_directory import Mode, RunDirectory

WIDTH = min(100, shutil.get_terminal_size((100, 24)).columns)

app = typer.Typer(
    help="Plays agents on fixed panels of meta-episodes, and keeps leaderboards.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
out = Console(width=WIDTH, highlight=False)
err = Console(width=WIDTH, highlight=False, stderr=True)


class Kind(StrEnum):
    """What ``benchmark list`` can list."""

    SUITES = "suites"
    SCENARIOS = "scenarios"
    AGENTS = "agents"
    OPPONENTS = "opponents"
    POPULATIONS = "populations"
    GAMES = "games"


RunPath = Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")]
Jobs = Annotated[int | None, typer.Option(min=1, max=MAX_JOBS, help="Worker processes. Default: one a CPU.")]
Boards = Annotated[
    Path | None, typer.Option("--leaderboards", help="Folder of leaderboards. Default: ./leaderboards.", metavar="DIR")
]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        out.print(f"benchmark {version('mage-envs')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Plays agents on fixed panels of meta-episodes, and keeps leaderboards."""


@app.command("list")
def list_(kind: Annotated[Kind | None, typer.Argument(help="List only these.")] = None) -> None:
    """Lists suites, scenarios, agents, opponents, populations and games."""
    from benchmarks.listing import TABLES

    for name, table in TABLES.items():
        if kind is None or kind.value == name:
            out.print(table())


@app.command()
def run(
    suite: Annotated[str, typer.Argument(help="Name of a suite; see `benchmark list suites`.")],
    agent: Annotated[
        list[str] | None, typer.Option(help="Spec of an agent; can be repeated. Default: the suite's.")
    ] = None,
    meta_episodes: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_META_EPISODES, help="Meta-episodes of each scenario. Default: the suite's."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed is another panel.")] = 0,
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
    plan = make_plan(SUITES.get(suite), agent or (), meta_episodes=meta_episodes, seed=seed)
    if not plan.tasks:
        raise MageError("; ".join(plan.manifest.reasons))
    path = out_ or _new_folder(suite)
    mode: Mode = "resume" if resume else "overwrite" if overwrite else "new"
    try:
        err.print(f"{suite}: {len(plan.tasks)} meta-episodes into {path}")
        with Bar("meta-episodes", err) as bar:
            directory = run_plan(plan, path, bar, mode=mode, jobs=jobs or _cpus())
    except KeyboardInterrupt:
        err.print(f"\ninterrupted; nothing finished is lost. Go on with:\n  {_resume_command(path)}", soft_wrap=True)
        raise typer.Exit(130) from None
    print_run(out, directory, plan.panel, directory.records().values(), leaderboards)
    out.print(f"Run, in {time.monotonic() - begun:.0f} s: {path}", markup=False, soft_wrap=True)
    out.print(f"To put it on the board: {_command('submit', str(path))}", markup=False, soft_wrap=True)


@app.command()
def show(
    what: Annotated[str, typer.Argument(help="A run directory, or the name of a suite.", metavar="RUN|SUITE")],
    leaderboards: Boards = None,
) -> None:
    """Prints the board of a suite, or a run's rows among those of the board."""
    from benchmarks.records import good_records
    from benchmarks.report import print_board, print_run
    from benchmarks.run_directory import MANIFEST, load_run
    from benchmarks.suites import SUITES
    from benchmarks.verification import rebuild_panel

    path = Path(what)
    if not (path / MANIFEST).exists():
        if what not in SUITES and (path.exists() or len(path.parts) > 1):
            raise RecordError(f"{path} is no run directory: it has no {MANIFEST}")
        print_board(out, SUITES.get(what), leaderboards)
        return
    directory = load_run(path)
    records, damage = good_records(directory.records_path)
    print_run(out, directory, rebuild_panel(directory.manifest.config), records, leaderboards)
    if damage:
        raise RecordError("\n".join(damage))


@app.command()
def verify(path: RunPath, jobs: Jobs = None) -> None:
    """Replays every recorded action of a run, and fails if any result differs."""
    directory, panel = _verified(path, jobs)
    owed = _missing(directory, panel)
    out.print(f"{directory.path}: verified{f', as far as it goes: {owed}' if owed else ''}", soft_wrap=True)


@app.command()
def submit(path: RunPath, jobs: Jobs = None, leaderboards: Boards = None) -> None:
    """Verifies a run, then adds its rows to the leaderboard or replaces them there."""
    from benchmarks.leaderboard import add_rows, submit_folder
    from benchmarks.rows import run_rows

    folder = submit_folder(leaderboards)
    directory, panel = _verified(path, jobs)
    if owed := _missing(directory, panel):
        raise RecordError(f"{path}: {owed}. Finish the run with --resume, then submit it")
    rows = run_rows(directory, panel, directory.records().values(), verified=True)
    board = folder / f"{panel.suite.name}.csv"
    count = add_rows(board, rows)
    out.print(f"{board}: {len(rows)} rows of this run, {count} in all")


@app.command()
def ceilings(
    suite: Annotated[str, typer.Argument(help="Name of a suite; see `benchmark list suites`.")],
    scenario: Annotated[
        list[str] | None, typer.Option(help="Only this scenario of the suite; can be repeated.")
    ] = None,
    episodes: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Episodes in a meta-episode. Default: the suite's.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the numbers there, too, one a row.", metavar="FILE")] = None,
) -> None:
    """Prints the exact scores that a suite's agents are measured against, by opponent, seat and episode."""
    from benchmarks.ceiling_report import print_ceilings
    from benchmarks.suites import SUITES

    try:
        print_ceilings(out, SUITES.get(suite), scenario or (), episodes, csv)
    except KeyboardInterrupt:
        err.print("\ninterrupted; no file was written")
        raise typer.Exit(130) from None


@app.command()
def play(
    scenario: Annotated[str, typer.Argument(help="Name of a scenario; see `benchmark list scenarios`.")],
    episodes: Annotated[int, typer.Option(min=1, max=1000, help="Episodes in the meta-episode.")] = 3,
    seat: Annotated[int | None, typer.Option(min=0, help="Your seat. Default: drawn.")] = None,
    opponent: Annotated[
        str | None, typer.Option(help="Spec of the opponent. Default: drawn from the population.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeats a meta-episode. Default: drawn.")] = None,
) -> None:
    """Lets you play a meta-episode, and compares your score with the reference."""
    from benchmarks.human import draw_session, play_in_terminal
    from mage_envs.scenarios import SCENARIOS

    found = SCENARIOS.get(scenario)
    if seat is not None and seat not in found.seats:
        raise typer.BadParameter(f"{scenario} is played from seats {found.seats}", param_hint="--seat")
    session = draw_session(found, episodes, secrets.randbelow(2**32) if seed is None else seed, opponent, seat)
    play_in_terminal(session, _say, _ask)


def _say(text: str) -> None:
    out.print(text, markup=False, soft_wrap=not out.is_terminal)  # A terminal would break lines inside words.


def _ask(prompt: str) -> str:
    answer = input(prompt)
    if not sys.stdin.isatty():
        out.print(answer, markup=False)  # A terminal shows what is typed; a pipe does not.
    return answer


def main() -> None:
    """Entry point: an error of MAGE is one line on standard error and exit code 2, a failed verification 1."""
    try:
        app()
    except VerificationError as error:
        _fail(error, 1)
    except MageError as error:
        _fail(error, 2)
    except OSError as error:  # What a file system refuses is no bug: full, read-only, not yours.
        _fail(error, 2)


def _fail(error: MageError | OSError, code: int) -> None:
    err.print(f"benchmark: {error}", markup=False, soft_wrap=True)
    sys.exit(code)


def _verified(path: Path, jobs: int | None) -> tuple[RunDirectory, Panel]:
    from benchmarks.progress import Bar
    from benchmarks.run_directory import load_run
    from benchmarks.verification import rebuild_panel, verify

    directory = load_run(path)
    panel = rebuild_panel(directory.manifest.config)
    with Bar("replayed", err) as bar:
        verify(directory, panel, jobs=jobs or _cpus(), progress=bar)
    return directory, panel


def _missing(directory: RunDirectory, panel: Panel) -> str:
    from benchmarks.verification import missing

    count = missing(directory, panel)
    return f"{count} meta-episodes are not played yet" if count else ""


def _new_folder(suite: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folders = (Path("runs") / f"{suite}-{stamp}{suffix}" for suffix in ("", *(f"-{n}" for n in range(2, 100))))
    return next(folder for folder in folders if not folder.exists())


def _resume_command(path: Path) -> str:
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--overwrite")]
    if "--out" not in words and not any(word.startswith("--out=") for word in words):
        words += ["--out", str(path)]
    return _command(*words, "--resume")


def _command(*words: str) -> str:
    """Writes a command that works when it is pasted: by the name on the path, or by what was started now."""
    here = sys.argv[0]
    found = shutil.which("benchmark")
    if found and Path(found).exists() and Path(here).exists() and Path(found).samefile(here):
        return shlex.join(["benchmark", *words])
    return shlex.join([*(["python"] if here.endswith(".py") else []), here, *words])


def _cpus() -> int:
    return min(MAX_JOBS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


if __name__ == "__main__":
    main()
