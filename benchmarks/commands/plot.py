"""``benchmark plot``: figures of runs and boards."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmarks.commands.console import Boards, app, out
from benchmarks.commands.table import Sourced

if TYPE_CHECKING:
    from benchmarks.plot_report import Kind
    from benchmarks.plots import Format


class Drawn(StrEnum):
    """Kinds of figures."""

    curves = "curves"
    opponents = "opponents"
    cost = "cost"


class FileForm(StrEnum):
    """Formats of figures."""

    png = "png"
    svg = "svg"
    pdf = "pdf"


@app.command()
def plot(
    sources: Sourced,
    out_: Annotated[
        Path, typer.Option("--out", help="Folder to write to; it is made if it is missing.", metavar="DIR")
    ] = Path("figures"),
    kind: Annotated[
        list[Drawn] | None,
        typer.Option(help="Scores by episode, by opponent, or against cost; can be repeated. Default: all."),
    ] = None,
    form: Annotated[
        list[FileForm] | None, typer.Option("--format", help="Can be repeated. Default: png and svg.")
    ] = None,
    scenario: Annotated[list[str] | None, typer.Option(help="Only this scenario; can be repeated.")] = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="Only this agent; can be repeated. Default: all; eight in curves.")
    ] = None,
    leaderboards: Boards = None,
) -> None:
    """Draws adaptation curves, opponent maps and cost against score."""
    from benchmarks.leaderboard import submit_folder
    from benchmarks.plot_report import write_plots
    from benchmarks.sources import read_sources

    found = read_sources(sources, leaderboards)
    kinds: list[Kind] = [each.value for each in kind or Drawn]
    formats: list[Format] = [each.value for each in form or (FileForm.png, FileForm.svg)]
    written = write_plots(found, submit_folder(out_), kinds, formats, scenario or (), agent or ())
    for path in written.paths:
        out.print(str(path), markup=False, soft_wrap=True)
    for reason in written.skipped:
        out.print(reason, style="dim", markup=False)
