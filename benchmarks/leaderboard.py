"""Leaderboard files: reading, and adding rows under a lock, in one step."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from filelock import FileLock

from benchmarks.columns import COUNTED, KEY, header, is_text
from benchmarks.files import replace_file
from benchmarks.rows import Row
from mage_envs.errors import RecordError

FOLDER = Path("leaderboards")
PUBLISHED = "paper.csv"
_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
"""Begins what a spreadsheet computes (OWASP, CSV injection); and the apostrophe, so that names read back."""


def board_path(suite: str, folder: Path | None) -> Path:
    """Finds the board to show.

    Args:
        suite: Name of the suite.
        folder: Where boards are kept; None: ``./leaderboards`` if this suite has one there, else the boards that came
            with the package.

    Returns:
        Path of the CSV, which may not exist.

    Raises:
        RecordError: The name could lead out of the folder.
    """
    name = f"{_plain_name(suite)}.csv"
    if folder is not None:
        return folder / name
    here = FOLDER / name
    return here if here.exists() else Path(str(files("leaderboards"))) / name


def boards(folder: Path) -> list[Path]:
    """Returns the boards of a folder by name: all its CSVs but the published numbers, which are no board."""
    return sorted(path for path in folder.glob("*.csv") if path.name != PUBLISHED)


def submit_folder(folder: Path | None) -> Path:
    """Finds the folder to write to: the given one (made if it is missing), or ``./leaderboards``.

    Raises:
        RecordError: None is given and there is no ``./leaderboards``; or it cannot be made.
    """
    if folder is None:
        if not FOLDER.is_dir():
            remedy = "go to a MAGE checkout, or name any by --leaderboards DIR"
            raise RecordError(f"there is no folder {FOLDER} here: {remedy}")
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
        RecordError: The file cannot be read or is no board: a column is missing or unknown, a line is too short or
            too long, or a cell holds no number where one belongs.
    """
    if not path.exists():
        return []
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            return _read(csv.DictReader(stream, strict=True), path)
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise RecordError(f"{path} is no leaderboard: {error}") from error


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
    columns = [(name, is_text(name)) for name in names]
    lines = [[safe_text(row.get(name, "")) if text else row.get(name, "") for name, text in columns] for row in ordered]
    return "".join(map(_line, [names, *lines]))


def safe_text(cell: str) -> str:
    """Puts an apostrophe before text that a spreadsheet would compute.

    >>> safe_text("=HYPERLINK(1)"), safe_text("mcts(simulations=9)")
    ("'=HYPERLINK(1)", 'mcts(simulations=9)')
    """
    return "'" + cell if cell.startswith(_FORMULA) else cell


def _read(reader: csv.DictReader[str], path: Path) -> list[Row]:
    names = reader.fieldnames or ()
    for name in header(0):
        if name not in names:
            raise RecordError(f"{path} is no leaderboard: it has no column {name!r}")
    texts = [name for name in names if is_text(name) and name not in COUNTED]
    numbers = [name for name in names if not is_text(name) and name not in COUNTED]
    rows = []
    for row in reader:
        place = f"{path}:{reader.line_num}"
        if None in row or None in row.values():
            raise RecordError(f"{place}: this line has not as many cells as the header")
        for name in texts:
            row[name] = row[name].removeprefix("'")
        for name in COUNTED:
            _check(row[name].isdecimal() and int(row[name]) >= COUNTED[name], row, name, place)
        for name in numbers:
            _check(not row[name] or _is_number(row[name]), row, name, place)
        rows.append(row)
    known = set(header(max((int(row["episodes"]) for row in rows), default=0)))
    for name in names:
        if rows and name not in known:
            raise RecordError(f"{path}: unknown column {name!r}; was the file made by a newer MAGE?")
    lacking = dict.fromkeys(known - {*names}, "")
    return [row | lacking for row in rows] if lacking else rows


def _check(good: bool, row: Row, name: str, place: str) -> None:
    if not good:
        raise RecordError(f"{place}: {row[name]!r} is no value of the column {name!r}")


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)  # With this end it quotes both characters in cells.
    return text.getvalue().removesuffix("\r\n") + "\n"


def _plain_name(suite: str) -> str:
    if not _NAME.fullmatch(suite):
        raise RecordError(f"a suite named {suite!r} has no board: use letters, digits, dot, dash and underscore only")
    return suite
