"""``benchmark controls``: a run beside the same run under causal controls."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.commands.console import RunPath, app, out


@app.command()
def controls(
    run: RunPath,
    others: Annotated[list[Path], typer.Argument(help="Runs of the same panel under controls.", metavar="RUN…")],
) -> None:
    """Shows how much of a run's gain is due to memory: the run beside the same with --control."""
    from benchmarks.control_report import LEGEND, control_effects, effect_tables
    from benchmarks.run_directory import load_run
    from benchmarks.verification import rebuild_panel

    runs = [load_run(path) for path in (run, *others)]
    panel = rebuild_panel(runs[0].manifest.config)
    out.print(effect_tables(control_effects(runs, panel)))
    out.print("\n" + LEGEND, style="dim", markup=False)
