"""Where rows come from: run directories, boards, files, and the published numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks.leaderboard import PUBLISHED, board_path, read_board, row_key
from benchmarks.records import Record
from benchmarks.rows import Row, run_rows
from benchmarks.run_directory import MANIFEST, load_run
from benchmarks.suites import SUITES
from benchmarks.verification import rebuild_panel
from mage_envs.errors import RecordError

PAPER = PUBLISHED.removesuffix(".csv")


class Sources(NamedTuple):
    """What was named.

    Attributes:
        rows: Rows of runs and boards, the first of each key.
        records: Records behind the rows of runs, by the row's key.
        reported: Whether the published numbers were named.
    """

    rows: list[Row]
    records: dict[tuple[str, ...], list[Record]]
    reported: bool


def read_sources(names: Iterable[str], leaderboards: Path | None = None) -> Sources:
    """Reads what a user names.

    Args:
        names: Run directories, names of suites (their boards), CSV files of boards, or ``paper``.
        leaderboards: Folder of leaderboards; None: the usual place.

    Returns:
        The rows, in the order of the names. If two have the same key, the one named first counts.

    Raises:
        RecordError: A run or board cannot be read.
        UnknownNameError: There is no such suite.
    """
    rows: dict[tuple[str, ...], Row] = {}
    records: dict[tuple[str, ...], list[Record]] = {}
    reported = False
    for name in names:
        path = Path(name)
        if (path / MANIFEST).exists():
            run = load_run(path)
            own = list(run.records().values())
            found = run_rows(run, rebuild_panel(run.manifest.config), own, verified=False)
            for row in found:
                behind = [r for r in own if (r.agent, r.scenario) == (row["agent"], row["scenario"])]
                records.setdefault(row_key(row), behind)
        elif path.name == PUBLISHED or name == PAPER:
            found, reported = [], True
        elif path.suffix == ".csv":
            if not path.is_file():
                raise RecordError(f"there is no file {path}")
            found = read_board(path)
        elif name not in SUITES and (path.exists() or len(path.parts) > 1):
            raise RecordError(f"{path} is no run directory: it has no {MANIFEST}")
        else:
            found = _board(name, leaderboards)
        for row in found:
            rows.setdefault(row_key(row), row)
    return Sources(list(rows.values()), records, reported)


def _board(suite: str, leaderboards: Path | None) -> list[Row]:
    """Reads the rows of a suite's present version, in the order of its scenarios."""
    known = SUITES.get(suite)
    path = board_path(suite, leaderboards)
    places = {part.scenario.name: place for place, part in enumerate(known.parts)}
    rows = [row for row in read_board(path) if row["suite_version"] == str(known.version)]
    if not rows:
        raise RecordError(
            f"{path} has no rows of version {known.version}: benchmark run {suite}, then benchmark submit"
        )
    return sorted(rows, key=lambda row: places.get(row["scenario"], len(places)))
