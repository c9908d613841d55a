"""``benchmark site``: the boards and replays as a web page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.commands.console import Boards, Jobs, app, cpus, err, out


@app.command()
def site(
    runs: Annotated[list[Path] | None, typer.Argument(help="Run directories.", metavar="[RUN]...")] = None,
    out_: Annotated[Path, typer.Option("--out", help="Folder of the page.", metavar="DIR")] = Path("site"),
    leaderboards: Boards = None,
    replays: Annotated[
        int, typer.Option(min=0, max=10_000, help="Meta-episodes to watch, of each agent and scenario of a run.")
    ] = 20,
    jobs: Jobs = None,
) -> None:
    """Builds a static web page of the boards, with replays of the runs that are named."""
    from benchmarks.progress import Bar
    from benchmarks.site.build import build_site

    begun = time.monotonic()
    with Bar("rows filmed", err) as bar:
        built = build_site(
            out_,
            runs or (),
            leaderboards=leaderboards,
            replays=replays,
            jobs=jobs or cpus(),
            progress=bar,
        )
    out.print(
        f"{built.page}: {built.rows} rows, {built.replays} replays, in {time.monotonic() - begun:.0f} s",
        markup=False,
        soft_wrap=True,
    )
