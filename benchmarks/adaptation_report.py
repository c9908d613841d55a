"""The measures of switching opponents as a person reads them in a terminal, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks.adaptation import AFTER, Adaptation
from benchmarks.leaderboard import safe_text
from benchmarks.names import short_name
from benchmarks.rows import number
from benchmarks.tables import with_half

LEGEND = (
    "Mean scores by episode, counted from the switch: 0 is the first against the second strategy; before: the last two "
    "against the first. drop: before − episode 0; cost: what was lost in episodes 0 to 4 together; both ± half of a "
    "95 % interval. rec.: first episode by which half of the drop is made up; – without a drop beyond doubt."
)
_WIDE = 100
_ENDS = ("", "_low", "_high")


def adaptation_tables(found: Sequence[Adaptation], units: dict[str, str], width: int) -> RenderableType:
    """Renders the measures, a table for each scenario.

    Args:
        found: The measures.
        units: What a score of 1 is, by scenario.
        width: Columns of the terminal.
    """
    scenarios = dict.fromkeys(row.scenario for row in found)
    return Group(
        *(
            part
            for name in scenarios
            for part in _scenario(units[name], [r for r in found if r.scenario == name], width)
        )
    )


def adaptation_csv(found: Iterable[Adaptation]) -> str:
    """Writes the measures as CSV, one agent in one scenario a line. No cell can run as a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    named = ("before", *(f"after_{episode}" for episode in range(AFTER + 1)), "drop", "cost")
    writer.writerow(
        ["scenario", "agent", "n", "n_expected", *(name + end for name in named for end in _ENDS), "recovery"]
    )
    for row in found:
        estimates = [number(x) for found in (row.before, *row.after, row.drop, row.cost) for x in found[:3]]
        names = [safe_text(row.scenario), safe_text(row.agent)]
        writer.writerow([*names, row.n, row.n_expected, *estimates, "" if row.recovery is None else row.recovery])
    return text.getvalue()


def _scenario(unit: str, found: Sequence[Adaptation], width: int) -> Iterator[RenderableType]:
    shown = range(AFTER + 1) if width >= _WIDE else (0, AFTER)
    size = f"{found[0].n_expected} meta-episodes"
    yield Text.assemble(("\n" + found[0].scenario, "bold"), f"   {unit}; {size}")
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    table.add_column("agent", width=25, overflow="fold")
    for title in ("before", *(f"+{episode}" if episode else "0" for episode in shown)):
        table.add_column(title, justify="right", width=7)
    for title in ("drop", "cost"):
        table.add_column(title, justify="right", width=13)
    table.add_column("rec.", justify="right", width=5)
    for row in sorted(found, key=lambda row: (row.cost.value is None, row.cost.value)):
        table.add_row(*_cells(row, shown))
    yield table


def _cells(row: Adaptation, shown: Iterable[int]) -> list[str]:
    mark = "" if row.n == row.n_expected else " !"
    curve = [_plain(row.before.value), *(_plain(row.after[episode].value) for episode in shown)]
    recovery = "–" if row.recovery is None else f">{AFTER}" if row.recovery > AFTER else str(row.recovery)
    return [short_name(row.agent) + mark, *curve, with_half(*row.drop[:3]), with_half(*row.cost[:3]), recovery]


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}" if abs(value) < 10 else f"{value:+.2f}"
