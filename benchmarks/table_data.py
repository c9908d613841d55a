"""Tables for a paper: methods against environments, or scores by episode; from runs, boards and published numbers.

Rows of ours that are compared stand in one block, published ones in another: those are of other tasks, marked, and
compared among themselves only. In a block and column, what no other row is better than beyond doubt is bold; so a tie
for the best is bold as a whole (:mod:`benchmarks.ranking`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from benchmarks import paper
from benchmarks.columns import INTERVAL
from benchmarks.names import row_label
from benchmarks.ranking import measure, place_of, places, rankable
from benchmarks.rows import Row
from benchmarks.statistics import EMPTY, Estimate
from mage_envs.errors import MageError

Kind: TypeAlias = Literal["pass", "win", "score", "normalised"]
RATES = frozenset({"pass", "win"})
_TITLES = {
    "pass": "pass@{}: share of meta-episodes with a win in episodes 1 to {}",
    "win": "win@{}: share of episodes {} that were won",
    "score": "mean score of episode {}",
    "normalised": "normalised score of episode {}: 0 is equilibrium play, 1 is the ceiling",
}
_MOST_EPISODES = 5

DAGGER = "†"
_REPORTED = (
    f"{DAGGER} published in {paper.MAGE}, not measured here: {paper.TASKS[paper.MAGE][0]} tasks of its own, one seed; "
    "intervals recomputed (Wilson). Not compared with other rows."
)
_BOLD = "Bold: no row of the same block and column is better beyond doubt (its interval above)."
_ORACLE = "Oracles are told what agents are not, and are not compared."
_INCOMPLETE = "! incomplete: results are missing; not compared."


class Cell(NamedTuple):
    """A cell.

    Attributes:
        estimate: What it says; empty where there is nothing.
        signed: Whether a plus is written.
        best: Whether it is bold.
        incomplete: Whether results are missing behind it.
    """

    estimate: Estimate = EMPTY
    signed: bool = False
    best: bool = False
    incomplete: bool = False


class Line(NamedTuple):
    """A line of a table.

    Attributes:
        head: Its first cells: place, if the table has places, and method.
        status: ``ours``, ``oracle``, ``exact`` or ``reported``.
        cells: The others.
    """

    head: tuple[str, ...]
    status: str
    cells: tuple[Cell, ...]


class TableData(NamedTuple):
    """A table.

    Attributes:
        title: What it shows.
        head: Titles of the first columns.
        columns: Titles of the others.
        blocks: Lines that stand together.
        notes: What its marks mean.
    """

    title: str
    head: tuple[str, ...]
    columns: tuple[str, ...]
    blocks: tuple[tuple[Line, ...], ...]
    notes: tuple[str, ...]


class _Column(NamedTuple):
    """A column of the methods × environments table: what is compared, and the published task that is the same."""

    scenario: str
    panel: str
    episodes: int
    task: tuple[str, str] | None


def methods_table(rows: Sequence[Row], kind: Kind = "pass", *, reported: bool = False, mix: bool = False) -> TableData:
    """Lays results out as Table 1 of MAGE does: methods × environments, by the last episode.

    Args:
        rows: Rows of runs and boards.
        kind: What the cells say.
        reported: Whether the paper's own rows stand beside them (``pass`` only).
        mix: Whether one scenario may come on two panels, in columns of their own.

    Returns:
        The table.

    Raises:
        MageError: There is nothing to show; or a scenario comes on two panels.
    """
    columns = _columns(rows, kind, mix=mix)
    if reported and kind == "pass":
        known = {column.task for column in columns}
        columns += [
            _Column(title, "", paper.LAST, (key, paper.IN))
            for key, title in list(paper.ENVIRONMENTS.items())[: len(paper.TABLE_1["MAGE"])]
            if (key, paper.IN) not in known
        ]
    if not columns:
        raise MageError("there are no rows to show")
    named = list(zip(_labels(rows), rows, strict=True))
    labels = sorted(dict.fromkeys((row["oracle"], label) for label, row in named), key=lambda pair: pair[0])
    found = {(label, row["scenario"], row["panel"]): row for label, row in named}
    at = [[found.get((label, column.scenario, column.panel)) for column in columns] for _, label in labels]
    own = [[_cell(row, kind) for row in line] for line in at]
    take_part = [[row is not None and rankable(row) for row in line] for line in at]
    lines = [
        Line((label,), "oracle" if oracle == "yes" else "ours", cells)
        for (oracle, label), cells in zip(labels, _with_best(own, take_part), strict=True)
    ]
    blocks = [lines, *([_reported(columns)] if reported and kind == "pass" else [])]
    return TableData(
        title=_title(kind, columns),
        head=("method",),
        columns=tuple(_name(column, columns, kind) for column in columns),
        blocks=tuple(tuple(block) for block in blocks if block),
        notes=(*_sizes(rows), *_notes(lines, reported=len(blocks) > 1), *(_twice(columns) if len(blocks) > 1 else ())),
    )


def episode_tables(rows: Sequence[Row], *, mix: bool = False) -> list[TableData]:
    """Lays out scores by episode, gain, normalised score and regret; one table for each scenario and panel.

    Args:
        rows: Rows of runs and boards.
        mix: Whether one scenario may come on two panels, in tables of their own.

    Returns:
        The tables.

    Raises:
        MageError: There is nothing to show; or a scenario comes on two panels.
    """
    columns = _columns(rows, "score", mix=mix)
    if not columns:
        raise MageError("there are no rows to show")
    return [
        _episode_table([row for row in rows if (row["scenario"], row["panel"]) == (column.scenario, column.panel)])
        for column in columns
    ]


def _episode_table(rows: Sequence[Row]) -> TableData:
    first, kind = rows[0], "pass" if any(measure(row) == "pass" for row in rows) else "score"
    last = int(first["episodes"])
    episodes = range(1, last + 1) if last <= _MOST_EPISODES else sorted({1, 2, 3, (last + 1) // 2, last})
    names = [f"{kind}_{n}" for n in episodes]
    names += [] if kind == "pass" else ["gain", f"normalised_{last}", "regret"]
    ranked = zip(rows, places(rows), strict=True)
    ordered = sorted(ranked, key=lambda pair: (pair[1] is None, -(_of(pair[0], names[len(episodes) - 1]).value or 0.0)))
    lines = [
        Line(
            ("–" if place is None else str(place), row_label(row)),
            "oracle" if row["oracle"] == "yes" else "ours",
            tuple(Cell(_of(row, name), kind != "pass", incomplete=_incomplete(row)) for name in names),
        )
        for row, place in ordered
    ]
    exact = [] if kind == "pass" else _exact_lines(first, episodes, len(names))
    unit = "share of meta-episodes won by episode n (pass@n)" if kind == "pass" else first["unit"]
    size = f"{first['n_expected']} meta-episodes of {last}, panel {first['panel'][:8]}"
    titles = {"gain": "gain", f"normalised_{last}": "norm.", "regret": "regret"}
    return TableData(
        title=f"{first['scenario']}: {unit}; {size}",
        head=("#", "method"),
        columns=tuple(titles.get(name, name.replace("pass_", "pass@").replace("score_", "ep. ")) for name in names),
        blocks=tuple(tuple(block) for block in (lines, exact) if block),
        notes=(
            "#: the places that the intervals leave open; rows whose intervals overlap share one.",
            *_notes(lines)[1:],
        ),
    )


def _exact_lines(row: Row, episodes: Sequence[int], width: int) -> list[Line]:
    values: dict[str, list[str]] = {
        "uniform random play": [row["random"]] * len(episodes),
        "equilibrium play": [row["equilibrium"]] * len(episodes),
        "best adaptive play": [row[f"adaptive_{n}"] for n in episodes],
        "told the opponent": [row["ceiling"] if row["equilibrium"] else ""] * len(episodes),  # Not in worlds.
    }
    return [
        Line(
            ("", f"exact: {label}"),
            "exact",
            tuple(Cell(Estimate(float(text), None, None, 0) if text else EMPTY, True) for text in texts)
            + (Cell(),) * (width - len(texts)),
        )
        for label, texts in values.items()
        if any(texts)
    ]


def _columns(rows: Iterable[Row], kind: Kind, *, mix: bool) -> list[_Column]:
    found: dict[tuple[str, str], _Column] = {}
    for row in rows:
        task = paper.SAME_TASK.get(row["scenario"]) if (kind, row["episodes"]) == ("pass", str(paper.LAST)) else None
        key = (row["scenario"], row["panel"])
        found.setdefault(key, _Column(*key, int(row["episodes"]), task))
    seen: dict[str, Row] = {}
    for row in rows:
        other = seen.setdefault(row["scenario"], row)
        if other["panel"] != row["panel"] and not mix:
            raise MageError(
                f"{row['scenario']} comes on two panels, whose results are not compared: {_panel(other)}, and "
                f"{_panel(row)}. Leave one out, or add --mix to give each a column of its own"
            )
    return list(found.values())


def _panel(row: Row) -> str:
    return f"suite {row['suite']} version {row['suite_version']}, panel {row['panel'][:8]}, {row['n_expected']} each"


def _reported(columns: Sequence[_Column]) -> list[Line]:
    found = {
        (r.method, (r.environment, r.setting)): r.estimate
        for r in paper.reported()
        if r.source == paper.MAGE
        and r.where in ("Table 1", "held out")
        and (r.metric, r.episode) == ("pass", paper.LAST)
    }
    methods = [m for m in paper.TABLE_1 if any((m, column.task) in found for column in columns)]
    cells = [[Cell(found.get((method, column.task or ("", "")), EMPTY)) for column in columns] for method in methods]
    best = _with_best(cells, [[cell.estimate.value is not None for cell in line] for line in cells])
    return [Line((f"{m} {DAGGER}",), "reported", line) for m, line in zip(methods, best, strict=True)]


def _with_best(cells: Sequence[Sequence[Cell]], take_part: Sequence[Sequence[bool]]) -> list[tuple[Cell, ...]]:
    """Marks in each column what nothing that takes part is better than; nothing where fewer than two take part."""
    width = len(cells[0]) if cells else 0
    rivals = [[line[k].estimate for line, mask in zip(cells, take_part, strict=True) if mask[k]] for k in range(width)]
    return [
        tuple(
            cell._replace(best=mask[k] and len(rivals[k]) > 1 and place_of(cell.estimate, rivals[k]).best == 1)
            for k, cell in enumerate(line)
        )
        for line, mask in zip(cells, take_part, strict=True)
    ]


def _cell(row: Row | None, kind: Kind) -> Cell:
    if row is None:
        return Cell()
    return Cell(_of(row, f"{kind}_{row['episodes']}"), kind not in RATES, incomplete=_incomplete(row))


def _of(row: Row, name: str) -> Estimate:
    value, low, high = (float(row[name + end]) if row.get(name + end) else None for end in INTERVAL)
    return Estimate(value, low, high, int(row["n_scored"]))


def _labels(rows: Sequence[Row]) -> list[str]:
    """Names rows; those that would have one name in one column are told apart by all that sets them apart."""
    plain = [row_label(row) for row in rows]
    count = Counter((label, row["scenario"], row["panel"]) for label, row in zip(plain, rows, strict=True))
    twice = {label for (label, *_), times in count.items() if times > 1}
    more = [" ".join(filter(None, (row["revision"], row["prompt_hash"][:8]))) for row in rows]
    return [f"{label} [{also}]" if label in twice else label for label, also in zip(plain, more, strict=True)]


def _incomplete(row: Row) -> bool:
    return row["n_scored"] != row["n_expected"]


def _title(kind: Kind, columns: Sequence[_Column]) -> str:
    last = {column.episodes for column in columns}
    text = str(last.pop()) if len(last) == 1 else "N"
    return _TITLES[kind].format(text, text) + "; 95 % intervals"


def _name(column: _Column, columns: Sequence[_Column], kind: Kind) -> str:
    parts = [column.scenario]
    if sum(other.scenario == column.scenario for other in columns) > 1:
        parts.append(f"(panel {column.panel[:8]})")
    if len({other.episodes for other in columns}) > 1:
        parts.append(f"{kind}@{column.episodes}")
    return " ".join(parts)


def _sizes(rows: Sequence[Row]) -> tuple[str, ...]:
    sizes = sorted({int(row["n_expected"]) for row in rows})
    return (f"Rows of ours: n = {' or '.join(map(str, sizes))} meta-episodes a cell.",) if sizes else ()


def _twice(columns: Sequence[_Column]) -> tuple[str, ...]:
    count = Counter(column.task for column in columns if column.task is not None)
    twice = [paper.ENVIRONMENTS[environment] for (environment, _), times in count.items() if times > 1]
    return tuple(
        f"{name}: one published number, which stands by each reading of the paper's setting." for name in twice
    )


def _notes(lines: Sequence[Line], *, reported: bool = False) -> tuple[str, ...]:
    notes = [_BOLD]
    if any(line.status == "oracle" for line in lines):
        notes.append(_ORACLE)
    if any(cell.incomplete for line in lines for cell in line.cells):
        notes.append(_INCOMPLETE)
    return (*notes, *([_REPORTED] if reported else []))
