"""``benchmark compare``: tests agents against each other, pair by pair."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.commands.console import app, out
from mage_envs.errors import RecordError


class Compared(StrEnum):
    """What can be compared."""

    score = "score"
    passed = "pass"


@app.command()
def compare(
    run: Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")],
    run2: Annotated[Path | None, typer.Argument(help="Another run of the same panel.", metavar="RUN2")] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(help="Agent; twice for two, of RUN and RUN2. Default: all pairs of RUN, or all in both."),
    ] = None,
    scenario: Annotated[list[str] | None, typer.Option(help="Only this scenario; can be repeated.")] = None,
    measure: Annotated[
        Compared | None,
        typer.Option(help="Scores, or wins by episode n. Default: score; pass if the first win ends the meta-episode."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the numbers there, too.", metavar="FILE")] = None,
) -> None:
    """Compares agents on the same panel, paired by meta-episode: differences, intervals, exact tests, ties."""
    from benchmarks.compare import choose_sides
    from benchmarks.compare import compare as compare_sides
    from benchmarks.compare_report import LEGEND, comparison_tables, comparisons_csv
    from benchmarks.run_directory import load_run
    from benchmarks.verification import rebuild_panel

    if csv is not None and not csv.parent.is_dir():
        raise RecordError(f"there is no folder {csv.parent}")  # Before the work, not after it.
    runs = [load_run(path) for path in (run, run2) if path is not None]
    sides = choose_sides(runs, agent or ())
    panel = rebuild_panel(runs[0].manifest.config)
    found = compare_sides(sides, panel, measure.value if measure else None, scenario or ())
    if not found:
        raise RecordError("these agents play no scenario in common")
    out.print(comparison_tables(found))
    out.print("\n" + LEGEND.format(count=len(found)), style="dim", markup=False)
    if csv is not None:
        csv.write_text(comparisons_csv(found), encoding="utf-8")
        out.print(f"{csv}: {len(found)} comparisons", markup=False, soft_wrap=True)
