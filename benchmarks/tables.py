"""The board as a person reads it in a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks.columns import INTERVAL, REFUSED
from benchmarks.leaderboard import row_key
from benchmarks.names import Name, row_label
from benchmarks.ranking import Place, last_score, measure, places
from benchmarks.rows import Row

_MAX_EPISODES = 3
_CELL = 12
_WIDE, _NARROW = 95, 75  # Columns that three episodes need, and that two and the gain need.


def board(rows: Sequence[Row], own: Collection[tuple[str, ...]] = (), width: int = 100) -> RenderableType:
    """Renders rows, a table for each scenario and panel.

    Args:
        rows: The rows, in the order in which their scenarios shall appear.
        own: Keys of the rows to point out.
        width: Columns of the terminal; narrow ones show less of each row.

    Returns:
        What rich prints.
    """
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["scenario"], row["suite_version"], row["panel"]), []).append(row)
    return Group(*(part for group in groups.values() for part in _scenario(group, own, width)))


def merge(own: Iterable[Row], others: Iterable[Row]) -> list[Row]:
    """Puts a run's rows among those of a board that were played on the same panel. Equal keys: the run's row counts."""
    found = {row_key(row): row for row in own}
    panels = {row["panel"] for row in found.values()}
    for row in others:
        if row["panel"] in panels:
            found.setdefault(row_key(row), row)
    return list(found.values())


def with_half(value: float | None, low: float | None, high: float | None, *, signed: bool = True) -> str:
    """Writes an estimate with half of its interval, in 12 characters if it can be.

    >>> with_half(0.175, 0.076, 0.274), with_half(1.0, None, None), with_half(None, None, None)
    ('+0.175 ±.099', '+1.000', '')
    """
    if value is None:
        return ""
    half = None if low is None or high is None else (high - low) / 2
    texts = [_rounded(value, half, digits, "+" if signed else "") for digits in (3, 2, 1, 0)]
    return next((text for text in texts if len(text) <= _CELL), texts[-1])


def _scenario(rows: Sequence[Row], own: Collection[tuple[str, ...]], width: int) -> Iterator[RenderableType]:
    first, by_pass = rows[0], any(measure(row) == "pass" for row in rows)
    shown = _episodes(int(first["episodes"]), width)
    unit = "share won by episode n" if by_pass else first["unit"]
    yield Text.assemble(("\n" + first["scenario"], "bold"), f"   {unit}; {_size(rows)}", style="")
    ordered = sorted(rows, key=lambda row: (not _complete(row), -last_score(row), row["agent"]))
    found = places(ordered)
    names = [f"{'pass' if by_pass else 'score'}_{number}" for number in shown]
    names += ["gain"] if width >= _NARROW and not by_pass else []
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, expand=True, show_edge=False)
    table.add_column("#", justify="right", width=1 + max(len(_place(place, own=bool(own))) for place in found))
    table.add_column("agent", ratio=1, overflow="fold", min_width=10)
    for name in names:
        table.add_column(_title(name), justify="right", width=_CELL)
    table.add_column("norm.", justify="right", width=5)
    table.add_column("n", justify="right", width=7)
    for row, place in zip(ordered, found, strict=True):
        mine = row_key(row) in own
        table.add_row(*_cells(row, _place(place, own=mine), names), style="bold green" if mine else "")
    for label, values in () if by_pass else _yardsticks(first, shown):
        table.add_row("", label, *values, style="dim")
    yield table
    yield from (Text(note, style="dim") for row in ordered if (note := _troubles(row)))
    if first["adaptive_high"]:
        yield Text(_bounds(first), style="dim")


def _title(name: str) -> str:
    return name.replace("score_", "episode ").replace("pass_", "pass@")


def _cells(row: Row, place: str, names: Sequence[str]) -> list[str | Name]:
    norm = row[f"normalised_{row['episodes']}"]
    return [
        place,
        Name(row_label(row)),
        *(_with_interval(row, name) for name in names),
        f"{float(norm):.2f}" if norm else "",
        row["n_scored"] if _complete(row) else f"{row['n_scored']}!",
    ]


def _place(place: Place | None, *, own: bool) -> str:
    return ("> " if own else "") + ("-" if place is None else str(place))


def _with_interval(row: Row, name: str) -> str:
    value, low, high = (float(row[name + end]) if row[name + end] else None for end in INTERVAL)
    return with_half(value, low, high, signed=not name.startswith("pass"))


def _rounded(value: float, half: float | None, digits: int, sign: str) -> str:
    return f"{value:{sign}.{digits}f}" + ("" if half is None else f" ±{half:.{digits}f}".replace("±0.", "±."))


def _episodes(count: int, width: int) -> list[int]:
    """Chooses the episodes to show: all, or the first, the middle one (if there is room) and the last."""
    if width < _WIDE:
        return sorted({1, count})
    return list(range(1, count + 1)) if count <= _MAX_EPISODES else [1, (count + 1) // 2, count]


def _size(rows: Sequence[Row]) -> str:
    first = rows[0]
    played = f"{first['n_expected']} meta-episodes of {first['episodes']}"
    return f"{played}; version {first['suite_version']}, panel {first['panel'][:8]}"


def _yardsticks(row: Row, shown: Sequence[int]) -> Iterator[tuple[str, list[str]]]:
    """Yields the exact values under the rows they are for: a label, and a value for each episode that is shown."""
    named = {
        "exact: uniform play": [row["random"] for _ in shown],
        "exact: equilibrium": [row["equilibrium"] for _ in shown],
        "exact: best adaptive": [row[f"adaptive_{number}"] for number in shown],
        "exact: told opponent": [row["ceiling"] if row["equilibrium"] else "" for _ in shown],  # Not in worlds.
    }
    for label, values in named.items():
        if any(values):
            yield label, [f"{float(value):+.3f}      " if value else "" for value in values]


def _troubles(row: Row) -> str:
    """Says which answers of a row could not be played, and whether its memory fitted; empty if there is nothing to say.

    The figures are those of the columns of the same names.
    """
    answers = [f"{row[c.name]} {c.name.removeprefix('n_')}" for c in REFUSED[:-1] if row[c.name] != "0"]
    said = [f"answers not played: {', '.join(answers)}"] if answers else []
    if row["n_memory_truncated"] != "0":
        said.append(f"prompts with shortened memory: {row['n_memory_truncated']}")
    return f"{row_label(row)}: {'; '.join(said)}" if said else ""


def _bounds(row: Row) -> str:
    low, error, high = (float(row[f"adaptive_{end}"]) for end in ("low", "low_error", "high"))
    return (
        f"bounds, no value: the best adaptive total is {low:+.3f} (standard error {error:.3f}) or more, and "
        f"{high:+.3f} or less"
    )


def _complete(row: Row) -> bool:
    return row["n_scored"] == row["n_expected"]


LEGEND = (
    "Mean score of an episode (pass@n: share of meta-episodes won by then) ± half of its 95 % interval, clustered by "
    "opponent and instance. gain: last minus first episode. norm.: 0 is equilibrium play, 1 the ceiling (last "
    "episode). #: the places that the intervals leave open; rows whose intervals overlap share one. Oracles, "
    "causal controls and incomplete rows (!) have none."
)
