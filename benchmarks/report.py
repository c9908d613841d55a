"""What a person reads after a run: the board, what it means, and who did not play or failed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from rich.console import Console

from benchmarks.breakdown import breakdown
from benchmarks.breakdown_report import LEGEND as BREAKDOWN_LEGEND
from benchmarks.breakdown_report import breakdown_tables
from benchmarks.leaderboard import board_path, read_board, row_key
from benchmarks.panels import Panel
from benchmarks.records import Record
from benchmarks.remarks import remarks
from benchmarks.rows import run_rows
from benchmarks.run_directory import RunDirectory
from benchmarks.suites.base import Suite
from benchmarks.tables import LEGEND, board, merge


def print_run(
    out: Console, run: RunDirectory, panel: Panel, records: Collection[Record], leaderboards: Path | None
) -> None:
    """Prints a run's rows among those of the leaderboard that were played on the same panel.

    Args:
        out: Where to.
        run: The run.
        panel: Its panel.
        records: Its records.
        leaderboards: Folder of leaderboards; None: the usual place.
    """
    own = run_rows(run, panel, records, verified=False)
    committed = read_board(board_path(panel.suite.name, leaderboards))
    out.print(board(merge(own, committed), {row_key(row) for row in own}, out.width))
    out.print(f"\n{LEGEND} > this run.", style="dim")
    elsewhere = sum(row["panel"] != panel.hash for row in committed)
    if elsewhere:
        other = "other panels (seed, size, protocol or version)"
        out.print(f"{elsewhere} rows of the board are of {other}, and are not shown.")
    for note in [*run.manifest.reasons, *_failures(records), *remarks(records)]:
        out.print(note, markup=False)


def print_breakdown(out: Console, run: RunDirectory, panel: Panel, records: Iterable[Record], fact: str) -> None:
    """Prints a run's results by what is known of the instances.

    Args:
        out: Where to.
        run: The run.
        panel: Its panel.
        records: Its records.
        fact: Such as ``task_type``.
    """
    found = breakdown(run, panel, records, fact)
    out.print(breakdown_tables(found, fact, panel.suite.protocol, out.width))
    out.print(f"\n{BREAKDOWN_LEGEND}", style="dim")


def print_board(out: Console, suite: Suite, leaderboards: Path | None) -> None:
    """Prints the leaderboard of a suite, newest version first, scenarios in the order of the suite."""
    path = board_path(suite.name, leaderboards)
    rows = read_board(path)
    if not rows:
        out.print(f"{path} has no rows yet: benchmark run {suite.name}, then benchmark submit")
        return
    places = {part.scenario.name: place for place, part in enumerate(suite.parts)}
    ordered = sorted(rows, key=lambda row: (-int(row["suite_version"]), places.get(row["scenario"], -1)))
    out.print(board(ordered, width=out.width))
    out.print(f"\n{LEGEND}", style="dim")


def _failures(records: Iterable[Record]) -> list[str]:
    """Says how often agents failed, and how the first time."""
    found: dict[str, list[str]] = {}
    for record in records:
        if record.error is not None:
            found.setdefault(record.agent, []).append(f"{record.scenario} number {record.number}: {record.error}")
    return [f"{agent} failed in {len(errors)} meta-episodes, first in {errors[0]}" for agent, errors in found.items()]
