"""Rows of leaderboards as the page needs them: boards with places and intervals, and the rest for when it is asked for.

What a table and its curves show is loaded with the page; all other columns of a board are a file of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from benchmarks.columns import (
    ADAPTIVE,
    BOUNDS,
    COST,
    COUNTS,
    INTERVAL,
    ORIGIN,
    OVERALL,
    PER_EPISODE,
    REFUSED,
    WHO,
    YARDSTICKS,
)
from benchmarks.names import control_note, memory_note, row_labels, short_name
from benchmarks.ranking import Place, last_score, measure, places
from benchmarks.rows import Row
from benchmarks.site.film import Reel
from benchmarks.site.output import safe_name
from benchmarks.suites import SUITES
from benchmarks.tables import LEGEND

Json: TypeAlias = dict[str, Any]

_COLUMNS = (*WHO, *COUNTS, *REFUSED, *PER_EPISODE, *OVERALL, *YARDSTICKS, ADAPTIVE, *BOUNDS, *COST, *ORIGIN)
_FACTS = (*WHO, *COUNTS, *REFUSED, *COST, *ORIGIN)
_IF_ANY = frozenset(column.name for column in REFUSED)


class Line(NamedTuple):
    """A row of a board.

    Attributes:
        row: What the CSV says, or would say.
        reel: Its replays; None if its run is not there.
    """

    row: Row
    reel: Reel | None = None


class Board(NamedTuple):
    """Rows that are compared: one scenario on one panel.

    Attributes:
        name: Name of the file that holds its details.
        lines: The rows, in the order of the table.
    """

    name: str
    lines: Sequence[Line]


def make_boards(lines: Iterable[Line]) -> list[Board]:
    """Groups rows into boards.

    Args:
        lines: The rows, in the order in which their suites and scenarios shall appear.

    Returns:
        The boards. The newest version of a suite stands first; incomplete rows stand last on their board.
    """
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in lines:
        key = tuple(line.row[name] for name in ("suite", "suite_version", "panel", "scenario"))
        groups.setdefault(key, []).append(line)
    seen = list(dict.fromkeys(value for key in groups for value in key))
    ordered = sorted(groups, key=lambda key: (seen.index(key[0]), -int(key[1]), seen.index(key[2]), _of_suite(key)))
    return [Board(safe_name(key[3], *key[:3]), sorted(groups[key], key=_place)) for key in ordered]


def page(boards: Iterable[Board], published: Sequence[Sequence[str]] = ()) -> Json:
    """Returns what the page needs at once.

    Args:
        boards: The boards.
        published: What others have published: a table, the header first.
    """
    return {
        "legend": LEGEND.removesuffix(" > this run."),
        "columns": {column.name: [column.unit, column.meaning] for column in _COLUMNS},
        "boards": [_board(board) for board in boards],
        "published": published,
    }


def details(board: Board) -> list[Json]:
    """Returns what the rows of a board say when they are opened."""
    return [_details(*line) for line in board.lines]


def _board(board: Board) -> Json:
    first = board.lines[0].row
    rows = [line.row for line in board.lines]
    found, labels = places(rows), row_labels(rows)
    by = "pass" if any(measure(row) == "pass" for row in rows) else "score"
    episodes = range(1, int(first["episodes"]) + 1)
    return {
        "name": board.name,
        **{name: first[name] for name in ("suite", "scenario", "unit", "panel")},
        "version": int(first["suite_version"]),
        "episodes": len(episodes),
        "measure": by,
        "size": int(first["n_expected"]),
        "lines": {
            **{column.name: _number(first[column.name]) for column in YARDSTICKS},
            ADAPTIVE.name: [_number(first[f"{ADAPTIVE.name}_{n}"]) for n in episodes],
        },
        "bounds": [_number(first[column.name]) for column in BOUNDS],
        "rows": [_row(*line, place, label, by) for line, place, label in zip(board.lines, found, labels, strict=True)],
    }


def _row(row: Row, reel: Reel | None, place: Place | None, label: str, by: str) -> Json:
    episodes = int(row["episodes"])
    notes = {"memory": memory_note(row), "control": control_note(row)}
    return {
        "agent": row["agent"],
        "short": short_name(row["agent"]),
        "label": label,
        "model": row["model"],
        "notes": [f"{name} {note}" for name, note in notes.items() if note],
        "place": list(place) if place else None,
        "oracle": row["oracle"] == "yes",
        "complete": _complete(row),
        "n": int(row["n_scored"]),
        "scores": [_interval(row, f"{by}_{n}") for n in range(1, episodes + 1)],
        "gain": _interval(row, "gain"),
        "normalised": _number(row[f"normalised_{episodes}"]),
        "reel": reel.name if reel else None,
    }


def _details(row: Row, reel: Reel | None) -> Json:
    episodes = range(1, int(row["episodes"]) + 1)
    per_episode = {c.name: [_interval(row, f"{c.name}_{n}") for n in episodes] for c in PER_EPISODE}
    return {
        "facts": {c.name: row[c.name] for c in _FACTS if not (c.name in _IF_ANY and row[c.name] == "0")},
        "per_episode": {name: values for name, values in per_episode.items() if any(v[0] is not None for v in values)},
        "overall": {column.name: _interval(row, column.name) for column in OVERALL},
        "replays": reel.summary if reel else [],
    }


def _of_suite(key: tuple[str, ...]) -> int:
    """Returns the number of a scenario in its suite; scenarios that it has no more stand first, as in the terminal."""
    if key[0] not in SUITES:
        return -1
    names = [part.scenario.name for part in SUITES.get(key[0]).parts]
    return names.index(key[3]) if key[3] in names else -1


def _place(line: Line) -> tuple[bool, float, str]:
    return not _complete(line.row), -last_score(line.row), line.row["agent"]


def _complete(row: Row) -> bool:
    return row["n_scored"] == row["n_expected"]


def _interval(row: Row, name: str) -> list[float | None]:
    return [_number(row[name + end]) for end in INTERVAL]


def _number(cell: str) -> float | None:
    return float(cell) if cell else None
