"""``benchmark verify``: replays a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.commands.console import Jobs, RunPath, app, cpus, err, out

if TYPE_CHECKING:
    from benchmarks.panels import Panel
    from benchmarks.run_directory import RunDirectory


@app.command()
def verify(path: RunPath, jobs: Jobs = None) -> None:
    """Replays every recorded action of a run, and fails if any result differs."""
    directory, panel = verified_run(path, jobs)
    owed = owed_meta_episodes(directory, panel)
    out.print(f"{directory.path}: verified{f', as far as it goes: {owed}' if owed else ''}", soft_wrap=True)


def verified_run(path: Path, jobs: int | None) -> tuple[RunDirectory, Panel]:
    """Opens a run and replays it.

    Raises:
        VerificationError: A result differs.
    """
    from benchmarks.progress import Bar
    from benchmarks.run_directory import load_run
    from benchmarks.verification import rebuild_panel, verify

    directory = load_run(path)
    panel = rebuild_panel(directory.manifest.config)
    with Bar("replayed", err) as bar:
        verify(directory, panel, jobs=jobs or cpus(), progress=bar)
    return directory, panel


def owed_meta_episodes(directory: RunDirectory, panel: Panel) -> str:
    """Says how many meta-episodes of the panel are not played yet; empty if none."""
    from benchmarks.verification import missing

    count = missing(directory, panel)
    return f"{count} meta-episodes are not played yet" if count else ""
