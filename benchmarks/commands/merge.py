"""``benchmark merge``: joins shards of a panel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.commands.console import app, err, out


@app.command()
def merge(
    out_: Annotated[Path, typer.Argument(help="The new run directory.", metavar="OUT")],
    runs: Annotated[list[Path], typer.Argument(help="Runs of one configuration, whole or in shards.", metavar="RUN…")],
) -> None:
    """Joins runs of one configuration, such as shards from several machines, into the run that one would have left."""
    from benchmarks.plan import planned
    from benchmarks.run_directory import load_run
    from benchmarks.shards import join_runs
    from benchmarks.verification import rebuild_panel

    config = load_run(runs[0]).manifest.config
    whole = tuple(task.key for task in planned(config, rebuild_panel(config)))
    joined = join_runs(out_, runs, whole)
    for note in joined.notes:
        err.print(f"note: {note}", markup=False, soft_wrap=True)
    there = len(whole) - len(joined.missing)
    out.print(f"{out_}: {there} of {len(whole)} meta-episodes", markup=False, soft_wrap=True)
    if joined.missing:
        first = " / ".join(map(str, joined.missing[0]))
        out.print(
            f"{len(joined.missing)} are missing, first {first}. Join the shard that has them, too, or play them: "
            f"benchmark run … --out {out_} --resume",
            markup=False,
            soft_wrap=True,
        )
