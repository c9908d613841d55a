"""Comparisons as a person reads them in a terminal, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks.compare import Comparison
from benchmarks.leaderboard import safe_text
from benchmarks.names import short_name
from benchmarks.rows import number
from benchmarks.tables import with_half

LEGEND = (
    "first − second, mean per meta-episode ± half of its 95 % interval, paired by meta-episode and clustered by "
    "opponent and instance. ahead: clusters in which the first : the second did better; sign p: exact sign test of "
    "these. perm. p: permutation test; Holm p: the same, corrected for the {count} comparisons above. better: by Holm "
    "p < .05; a tie is a difference that this panel cannot tell from 0, and the interval says how large it may be."
)

_HEADER = (
    *("scenario", "first", "second", "measure", "difference", "difference_low", "difference_high"),
    *("n", "n_expected", "clusters", "first_ahead", "second_ahead", "sign_p", "permutation_p", "holm_p", "better"),
)


def comparison_tables(found: Sequence[Comparison]) -> RenderableType:
    """Renders comparisons, a table for each scenario."""
    scenarios = dict.fromkeys(comparison.scenario for comparison in found)
    return Group(*(part for name in scenarios for part in _scenario(name, [c for c in found if c.scenario == name])))


def comparisons_csv(found: Iterable[Comparison]) -> str:
    """Writes comparisons as CSV, one a line. No cell can run as a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    for c in found:
        estimates = [number(x) for x in c.test.difference[:3]]
        counts = [c.n, c.n_expected, c.test.clusters, c.test.first_better, c.test.second_better]
        chances = [number(p) for p in (c.test.sign_p, c.test.p, c.holm_p)]
        names = [safe_text(name) for name in (c.scenario, c.first, c.second, c.measure)]
        writer.writerow([*names, *estimates, *counts, *chances, c.verdict])
    return text.getvalue()


def chance(p: float) -> str:
    """Writes a p value.

    >>> chance(0.03125), chance(0.0001), chance(1.0)
    ('.031', '<.001', '1')
    """
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 0.9995 else "1"


def _scenario(name: str, found: Sequence[Comparison]) -> Iterator[RenderableType]:
    yield Text.assemble(("\n" + name, "bold"), f"   {found[0].n_expected} meta-episodes")
    yield _table(headed=True)
    for pair in dict.fromkeys((c.first, c.second) for c in found):
        yield Text(" − ".join(map(short_name, pair)))
        table = _table(headed=False)
        for comparison in found:
            if (comparison.first, comparison.second) == pair:
                table.add_row(*_cells(comparison))
        yield table


def _table(*, headed: bool) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False, show_header=headed)
    table.add_column("  first − second", width=17)
    for title, width in (("difference", 14), ("ahead", 10), ("sign p", 8), ("perm. p", 8), ("Holm p", 8)):
        table.add_column(title, justify="right", width=width)
    table.add_column(" better", width=13)
    return table


def _cells(c: Comparison) -> list[Text | str]:
    test = c.test
    verdict = f" ! {c.n} scored" if c.verdict == "incomplete" else f" {c.verdict}"
    return [
        f"  {c.measure}",
        with_half(*test.difference[:3]),
        f"{test.first_better}:{test.second_better}",
        *(chance(p) for p in (test.sign_p, test.p, c.holm_p)),
        Text(verdict, "" if c.verdict == "tie" else "bold"),
    ]
