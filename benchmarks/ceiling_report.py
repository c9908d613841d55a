"""What ``benchmark ceilings`` does: the yardsticks of a suite, scenario by scenario. Nothing has to be played."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from benchmarks.ceiling_rows import CeilingRow, ceiling_rows, write_rows
from benchmarks.ceiling_tables import LEGEND, scenario_table
from benchmarks.panels import make_panel
from benchmarks.suites.base import Part, Suite
from benchmarks.yardsticks import seat_yardsticks
from mage_envs.errors import RecordError, UnknownNameError


def print_ceilings(
    out: Console, suite: Suite, scenarios: Collection[str], episodes: int | None, csv: Path | None
) -> None:
    """Prints the yardsticks of a suite, each scenario as soon as it is computed.

    Args:
        out: Where to.
        suite: The suite; opponents count as often as they come in its panel.
        scenarios: Names of those to print; none: all.
        episodes: N; None: the suite's.
        csv: File to write the numbers to.

    Raises:
        UnknownNameError: The suite has no such scenario.
        RecordError: There is no such folder to write to.
    """
    parts = _chosen(suite, scenarios)
    if csv is not None and not csv.parent.is_dir():
        raise RecordError(f"there is no folder {csv.parent}")  # Before the work, not after it.
    if episodes is not None:
        suite = replace(suite, protocol=replace(suite.protocol, episodes=episodes))
    entries, rows = make_panel(suite).by_scenario, list[CeilingRow]()
    for part in parts:
        seats = seat_yardsticks(suite, part.scenario, entries[part.scenario.name])
        out.print(scenario_table(suite, part.scenario, seats, out.width))
        rows += ceiling_rows(part.scenario.name, suite.protocol.episodes, seats)
    out.print(f"\n{LEGEND}", style="dim")
    if csv is not None:
        csv.write_bytes(write_rows(rows).encode())
        out.print(f"{csv}: {len(rows)} rows", markup=False, soft_wrap=True)


def _chosen(suite: Suite, scenarios: Collection[str]) -> list[Part]:
    by_name = {part.scenario.name: part for part in suite.parts}
    for name in scenarios:
        if name not in by_name:
            raise UnknownNameError(f"scenario of the suite {suite.name!r}:", name, by_name)
    return [part for name, part in by_name.items() if not scenarios or name in scenarios]
