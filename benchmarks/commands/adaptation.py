"""``benchmark adaptation``: how agents took opponents that changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.commands.console import WIDTH, RunPath, app, out
from mage_envs.errors import RecordError


@app.command()
def adaptation(
    run: RunPath,
    scenario: Annotated[list[str] | None, typer.Option(help="Only this scenario; can be repeated.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the numbers there, too.", metavar="FILE")] = None,
) -> None:
    """Says when agents noticed that their opponent had changed, and what that cost them."""
    from benchmarks.adaptation import adaptations
    from benchmarks.adaptation_report import LEGEND, adaptation_csv, adaptation_tables
    from benchmarks.run_directory import load_run
    from benchmarks.verification import rebuild_panel

    if csv is not None and not csv.parent.is_dir():
        raise RecordError(f"there is no folder {csv.parent}")  # Before the work, not after it.
    directory = load_run(run)
    panel = rebuild_panel(directory.manifest.config)
    found = adaptations(directory, panel, scenario or ())
    units = {part.scenario.name: part.scenario.unit for part in panel.suite.parts}
    out.print(adaptation_tables(found, units, WIDTH))
    out.print("\n" + LEGEND, style="dim", markup=False)
    if csv is not None:
        csv.write_text(adaptation_csv(found), encoding="utf-8")
        out.print(f"{csv}: {len(found)} rows", markup=False, soft_wrap=True)
