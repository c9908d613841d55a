"""Leaderboard files: reading, and adding rows under a lock, in one step."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from filelock import FileLock

from benchmarks.columns import KEY, header, is_text
from benchmarks.files import replace_file
from benchmarks.rows import Row
from mage_envs.errors import RecordError

FOLDER = Path("leaderboards")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


def board_path(suite: str, folder: Path | None) -> Path:
    """Finds the board to show.

    Args:
        suite: Name of the suite.
        folder: Where boards are kept; None: ``./leaderboards`` if this suite has one there, else the boards that came
            with the package.

    Returns:
        Path of the CSV, which may not exist.
    """
    if folder is not None:
        return folder / f"{suite}.csv"
    here = FOLDER / f"{suite}.csv"
    return here if here.exists() else Path(str(files("leaderboards"))) / f"{suite}.csv"


def submit_folder(folder: Path | None) -> Path:
    """Finds the folder to write to: the given one (made if it is missing), or ``./leaderboards``.

    Raises:
        RecordError: None is given and there is no ``./leaderboards``; or it cannot be made.
    """
    if folder is None:
        if not FOLDER.is_dir():
            raise RecordError(f"there is no folder {FOLDER} here: go to a MAGE checkout, or name one by --leaderboards")
        return FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder


def row_key(row: Row) -> tuple[str, ...]:
    """Returns what names a row."""
    return tuple(row[name] for name in KEY)


def read_board(path: Path) -> list[Row]:
    """Reads a board.

    Args:
        path: The CSV; a missing one has no rows.

    Returns:
        The rows.

    Raises:
        RecordError: The file is no board: a column is missing, or a line is too short or too long.
    """
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream, strict=True)
        missing = [name for name in KEY if name not in (reader.fieldnames or ())]
        if missing:
            raise RecordError(f"{path} is no leaderboard: it has no column {missing[0]!r}")
        rows = []
        for row in reader:
            if None in row or None in row.values():
                raise RecordError(f"{path}:{reader.line_num}: this line has not as many cells as the header")
            rows.append({name: _plain(name, cell) for name, cell in row.items()})
        return rows


def add_rows(path: Path, rows: Sequence[Row]) -> int:
    """Adds rows to a board, or replaces those with the same key. Safe with other writers.

    Args:
        path: The CSV; its folder must exist.
        rows: New rows.

    Returns:
        How many rows the board then has.
    """
    with FileLock(path.with_name(f".{path.name}.lock")):
        merged = {row_key(row): row for row in [*read_board(path), *rows]}
        replace_file(path, write_board(merged.values()).encode())
        return len(merged)


def write_board(rows: Iterable[Row]) -> str:
    """Writes rows as CSV, sorted, so that the same rows are the same file. No cell can run as a formula."""
    ordered = sorted(rows, key=lambda row: (-int(row["suite_version"]), *row_key(row)[2:]))
    names = header(max((int(row["episodes"]) for row in ordered), default=1))
    lines = [[_safe(name, row.get(name, "")) for name in names] for row in ordered]
    return "".join(map(_line, [names, *lines]))


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)  # With this end it quotes both characters in cells.
    return text.getvalue().removesuffix("\r\n") + "\n"


def _safe(name: str, cell: str) -> str:
    """Puts an apostrophe before text that a spreadsheet would compute."""
    return "'" + cell if is_text(name) and cell.startswith(_FORMULA) else cell


def _plain(name: str, cell: str) -> str:
    return cell[1:] if is_text(name) and cell.startswith("'") else cell
