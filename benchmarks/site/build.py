"""Builds the site: boards and runs are read, chosen meta-episodes are filmed, all is written as static files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from benchmarks.leaderboard import FOLDER, PUBLISHED, boards, read_board, row_key
from benchmarks.names import short_name
from benchmarks.panels import Panel
from benchmarks.pool import run_tasks
from benchmarks.records import Record
from benchmarks.rows import Row, run_rows
from benchmarks.run_directory import RunDirectory, load_run
from benchmarks.site.choice import Chooser
from benchmarks.site.film import FilmSetup, Reel
from benchmarks.site.output import INDEX, prepare_folder, safe_name, write_data
from benchmarks.site.page_data import Line, details, make_boards, page
from benchmarks.suites import Suite
from benchmarks.verification import Progress, rebuild_panel
from mage_envs.errors import RecordError

PAGE = "boards"
_HEAD = ("suite", "suite_version", "scenario", "unit", "agent", "run")


class Site(NamedTuple):
    """What was built.

    Attributes:
        page: The page to open.
        rows: Rows on its boards.
        replays: Meta-episodes that can be watched.
    """

    page: Path
    rows: int
    replays: int


def build_site(
    out: Path,
    runs: Sequence[Path] = (),
    *,
    leaderboards: Path | None = None,
    replays: int,
    jobs: int = 1,
    progress: Progress = lambda done, total: None,
) -> Site:
    """Builds a static site that needs no server and nothing from the network.

    Args:
        out: Folder of the site.
        runs: Run directories. Their rows are put among those of the boards; of equal keys the run's row counts, and a
            later run's before an earlier one's.
        leaderboards: Folder of leaderboards; None: ``./leaderboards`` if it is there, else those of the package.
        replays: Meta-episodes of each agent and scenario of a run that are filmed, spread over the opponents.
        jobs: Worker processes that film.
        progress: Is told now and then of how many rows the replays are filmed, of how many.

    Returns:
        What was built.

    Raises:
        RecordError: A run or board cannot be read, or the folder cannot be written, or there is nothing to show.
        VerificationError: A filmed record does not replay to what is recorded.
    """
    lines = {row_key(row): Line(row) for row in _board_rows(leaderboards)}
    suites: dict[str, Suite] = {}
    for path in runs:
        directory = load_run(path)
        panel = rebuild_panel(directory.manifest.config)
        suites[panel.suite.name] = panel.suite
        for row, reel in _run_lines(directory, panel, replays):
            old = lines.get(row_key(row))
            # A board's row of the same records says more: whether they were verified.
            lines[row_key(row)] = Line(old.row if old and old.row["run"] == row["run"] else row, reel)
    if not lines:
        raise RecordError("there is nothing to show: name a run directory, or a folder of boards by --leaderboards")
    prepare_folder(out)
    reels = tuple(line.reel for line in lines.values() if line.reel)
    run_tasks(FilmSetup(out, suites, reels), len(reels), jobs, lambda tally: progress(tally.done, len(reels)))
    made = make_boards(lines.values())
    for board in made:
        write_data(out, board.name, details(board))
    write_data(out, PAGE, page(made, _published(leaderboards)))
    return Site(out / INDEX, len(lines), sum(len(reel.records) for reel in reels))


def _board_rows(folder: Path | None) -> list[Row]:
    if folder is not None and not folder.is_dir():
        raise RecordError(f"{folder} is no folder of leaderboards")
    return [row for path in boards(_folder(folder)) for row in read_board(path)]


def _published(folder: Path | None) -> list[list[str]]:
    """Reads the numbers that others have published, the header first; no lines if they are not there."""
    path = _folder(folder) / PUBLISHED
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def _folder(folder: Path | None) -> Path:
    return folder or (FOLDER if FOLDER.is_dir() else Path(str(files("leaderboards"))))


def _run_lines(directory: RunDirectory, panel: Panel, replays: int) -> Iterator[Line]:
    """Reads a run once: rows are computed, and what is to be filmed is picked out on the way."""
    chooser = Chooser(panel, replays)
    for row in run_rows(directory, panel, chooser.watch(directory.stream()), verified=False):
        records = chooser.picked(row["scenario"], row["agent"])
        yield Line(row, _reel(row, records) if records else None)


def _reel(row: Row, records: Sequence[Record]) -> Reel:
    head = {name: row[name] for name in _HEAD} | {"short": short_name(row["agent"])}
    return Reel(safe_name("replay", row["scenario"], *row_key(row)), head, records)
