"""``benchmark table``: tables for a paper or a page."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.commands.console import Boards, app, out
from mage_envs.errors import MageError

Sourced = Annotated[
    list[str],
    typer.Argument(help="Run directories, suites (their boards), CSV files; `paper`: published.", metavar="RUN|SUITE…"),
]


class Form(StrEnum):
    """Formats of a table."""

    md = "md"
    latex = "latex"
    csv = "csv"
    html = "html"


class Layout(StrEnum):
    """What stands in the columns."""

    methods = "methods"
    episodes = "episodes"


class Shown(StrEnum):
    """What stands in the cells of the layout ``methods``."""

    passed = "pass"
    win = "win"
    score = "score"
    normalised = "normalised"


@app.command()
def table(
    sources: Sourced,
    form: Annotated[Form, typer.Option("--format", help="Format.")] = Form.md,
    layout: Annotated[
        Layout, typer.Option(help="methods × environments, as Table 1 of MAGE; or scores by episode, gain and regret.")
    ] = Layout.methods,
    measure: Annotated[Shown, typer.Option(help="What the layout `methods` says, of the last episode.")] = Shown.passed,
    mix: Annotated[bool, typer.Option("--mix", help="Show panels that are not compared, each for itself.")] = False,
    out_: Annotated[
        Path | None, typer.Option("--out", help="File to write instead of the terminal.", metavar="FILE")
    ] = None,
    leaderboards: Boards = None,
) -> None:
    """Writes a table with intervals: Markdown, LaTeX, CSV or HTML."""
    from benchmarks.sources import read_sources
    from benchmarks.table_data import episode_tables, methods_table
    from benchmarks.table_formats import render

    if out_ is not None and not out_.parent.is_dir():
        raise MageError(f"there is no folder {out_.parent}")
    found = read_sources(sources, leaderboards)
    if layout is Layout.episodes:
        tables = episode_tables(found.rows, mix=mix)
    else:
        tables = [methods_table(found.rows, measure.value, reported=found.reported, mix=mix)]
    text = render(tables, form.value)
    if out_ is None:
        typer.echo(text, nl=False)
    else:
        out_.write_text(text, encoding="utf-8")
        out.print(f"{out_}: written", markup=False, soft_wrap=True)
