"""Results by what is known of the instances, as a person reads them in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from benchmarks.breakdown import ALL, Share
from benchmarks.names import Name, short_name
from benchmarks.suites.base import Protocol
from benchmarks.tables import with_half

LEGEND = (
    "Mean score of an episode (pass@n: share of meta-episodes won by then) ± half of its 95 % interval, clustered by "
    "instance. n: meta-episodes with a score."
)
_WIDE = 95
_CELL = 12


def breakdown_tables(found: Sequence[Share], fact: str, protocol: Protocol, width: int) -> RenderableType:
    """Renders results, a table for each scenario.

    Args:
        found: The results, scenario by scenario.
        fact: What they are broken down by.
        protocol: The suite's protocol.
        width: Columns of the terminal; narrow ones show the first episode and the last.
    """
    scenarios = groupby(found, key=lambda share: share.scenario)
    return Group(*(part for name, own in scenarios for part in _scenario(name, list(own), fact, protocol, width)))


def _scenario(name: str, found: Sequence[Share], fact: str, protocol: Protocol, width: int) -> Iterator[RenderableType]:
    last = protocol.episodes
    shown = sorted({1, (1 + last) // 2, last} if width >= _WIDE else {1, last})
    if protocol.stop_on_success:
        shown = []
    yield Text(f"\n{name}", style="bold")
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, expand=True, show_edge=False)
    table.add_column(f"agent, by {fact}", ratio=1, overflow="fold", min_width=10)
    for title in (*(f"episode {number}" for number in shown), f"pass@{last}"):
        table.add_column(title, justify="right", width=_CELL)
    table.add_column("n", justify="right", width=7)
    for share in found:
        episodes = share.metrics.episodes
        cells = [with_half(*episodes[number - 1].score[:3]) for number in shown]
        passed = with_half(*episodes[-1].passed[:3], signed=False)
        whole = share.value == ALL
        label = Name(short_name(share.agent)) if whole else Padding(Name(share.value), (0, 0, 0, 2))
        table.add_row(label, *cells, passed, str(share.metrics.n_scored), style="bold" if whole else "")
    yield table
