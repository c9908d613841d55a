"""``benchmark power``: how many meta-episodes a result needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.commands.compare import Compared
from benchmarks.commands.console import app, out
from mage_envs.errors import MageError

_BETWEEN = "must be between 0 and 1"


def _inside(value: float | None) -> float | None:
    if value is not None and not 0.0 < value < 1.0:
        raise typer.BadParameter(_BETWEEN)
    return value


def _positive(value: float | None) -> float | None:
    if value is not None and not value > 0.0:
        raise typer.BadParameter("must be above 0")
    return value


@app.command()
def power(
    run: Annotated[Path | None, typer.Argument(help="Run directory whose variance is used.", metavar="RUN")] = None,
    half_width: Annotated[
        float | None, typer.Option(help="Wished half width of 95 % intervals.", callback=_positive)
    ] = None,
    difference: Annotated[
        float | None, typer.Option(help="Difference between two agents to detect.", callback=_positive)
    ] = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="Agent of the run; twice for a pair. Default: all, and all pairs.")
    ] = None,
    scenario: Annotated[list[str] | None, typer.Option(help="Only this scenario; can be repeated.")] = None,
    measure: Annotated[
        Compared | None,
        typer.Option(help="Scores, or wins by episode n. Default: score; pass if the first win ends the meta-episode."),
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Instead of RUN: a rate of success, 0 to 1.", callback=_inside)
    ] = None,
    other_rate: Annotated[
        float | None, typer.Option(help="Another agent's rate, to tell from --rate.", callback=_inside)
    ] = None,
    meta_episodes: Annotated[int | None, typer.Option(min=1, help="What so many would give, with --rate.")] = None,
    power: Annotated[float, typer.Option(help="Chance to detect a difference.", callback=_inside)] = 0.8,
) -> None:
    """Says how many meta-episodes a precise interval, or a detected difference, needs."""
    from benchmarks.power_report import LEGEND, Wish, needs_tables, rate_lines, run_needs

    wish = Wish(half_width, difference, power)
    if (run is None) == (rate is None):
        raise MageError("name a run directory, or a rate by --rate: one of the two")
    if rate is not None:
        if half_width is None and other_rate is None and meta_episodes is None:
            raise MageError("add a wish: --half-width, --other-rate or --meta-episodes")
        for line in rate_lines(rate, other_rate, wish, meta_episodes):
            out.print(line, markup=False)
        return
    if run is None or (half_width is None and difference is None):
        raise MageError("add a wish: --half-width or --difference, in the unit of the score")
    from benchmarks.run_directory import load_run
    from benchmarks.verification import rebuild_panel

    directory = load_run(run)
    panel = rebuild_panel(directory.manifest.config)
    needs = run_needs(directory, panel, wish, agent or (), measure.value if measure else None, scenario or ())
    out.print(needs_tables(needs, wish))
    out.print(f"\n{LEGEND}", style="dim", markup=False)
