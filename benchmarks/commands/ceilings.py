"""``benchmark ceilings``: the exact scores to compare with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.commands.console import SuiteName, app, err, out


@app.command()
def ceilings(
    suite: SuiteName,
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
