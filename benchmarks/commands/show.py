"""``benchmark show``: prints boards and runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.commands.console import Boards, app, out
from mage_envs.errors import RecordError


@app.command()
def show(
    what: Annotated[str, typer.Argument(help="A run directory, or the name of a suite.", metavar="RUN|SUITE")],
    leaderboards: Boards = None,
    by: Annotated[
        str | None, typer.Option(help="A run's results by what is known of instances: task_type.", metavar="FACT")
    ] = None,
) -> None:
    """Prints the board of a suite, or a run's rows among those of the board."""
    from benchmarks.records import good_records
    from benchmarks.report import print_board, print_breakdown, print_run
    from benchmarks.run_directory import MANIFEST, load_run
    from benchmarks.suites import SUITES
    from benchmarks.verification import rebuild_panel

    path = Path(what)
    if not (path / MANIFEST).exists():
        if by is not None:
            raise RecordError(f"--by is of a run: {path} is no run directory")
        if what not in SUITES and (path.exists() or len(path.parts) > 1):
            raise RecordError(f"{path} is no run directory: it has no {MANIFEST}")
        print_board(out, SUITES.get(what), leaderboards)
        return
    directory = load_run(path)
    records, damage = good_records(directory.records_path)
    panel = rebuild_panel(directory.manifest.config)
    if by is None:
        print_run(out, directory, panel, records, leaderboards)
    else:
        print_breakdown(out, directory, panel, records, by)
    if damage:
        raise RecordError("\n".join(damage))
