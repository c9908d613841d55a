"""Rows of a board, computed from a run. Always from all records: nothing is carried over from an earlier count."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from benchmarks.ceilings import Ceilings, panel_ceilings
from benchmarks.columns import ADAPTIVE, BOUNDS, COST, INTERVAL, OVERALL, PER_EPISODE, YARDSTICKS
from benchmarks.metrics import RowMetrics, row_metrics
from benchmarks.panels import Panel
from benchmarks.records import Record
from benchmarks.run_directory import AgentCard, RunDirectory
from benchmarks.statistics import Estimate
from benchmarks.suites.base import Part

Row: TypeAlias = dict[str, str]
"""Column name to what the CSV says; an empty string where there is nothing to say."""


def run_rows(run: RunDirectory, panel: Panel, records: Iterable[Record], *, verified: bool) -> list[Row]:
    """Computes the rows of a run: one for each agent in each scenario that it plays.

    Args:
        run: The run.
        panel: Its panel.
        records: Its records.
        verified: Whether they were replayed.

    Returns:
        The rows, scenario by scenario in the order of the suite.
    """
    grouped: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        grouped.setdefault((record.scenario, record.agent), []).append(record)
    cards = {card.name: card for card in run.manifest.config.agents}
    rows = []
    for part in panel.suite.parts:
        scenario = part.scenario.name
        entries = panel.by_scenario[scenario]
        ceilings = panel_ceilings(panel.suite, part.scenario, entries)
        for agent in run.manifest.config.plays[scenario]:
            own = sorted(grouped.get((scenario, agent), []), key=lambda record: record.number)
            protocol = panel.suite.protocol
            metrics = row_metrics(own, len(entries), protocol.episodes, ceilings, stops=protocol.stop_on_success)
            rows.append(
                _what(panel, part)
                | _who(cards[agent], run.manifest.config.control)
                | _numbers(metrics)
                | _yardsticks(ceilings, panel.suite.protocol.episodes)
                | _origin(run, own, verified=verified)
            )
    return rows


def number(value: float | None) -> str:
    """Writes a number as it stands in the CSV: six digits, empty if there is none."""
    return "" if value is None else format(value + 0.0, ".6g")


def _what(panel: Panel, part: Part) -> Row:
    return {
        "suite": panel.suite.name,
        "suite_version": str(panel.suite.version),
        "panel": panel.hash,
        "scenario": part.scenario.name,
        "unit": part.scenario.unit,
        "episodes": str(panel.suite.protocol.episodes),
    }


def _who(card: AgentCard, control: str) -> Row:
    return {
        "agent": card.name,
        "oracle": _yes(card.oracle),
        "model": card.model,
        "revision": card.revision,
        "memory": card.memory,
        "prompt_hash": card.prompt_hash,
        "control": control,
    }


def _numbers(metrics: RowMetrics) -> Row:
    row = {
        "n_expected": str(metrics.n_expected),
        "n_scored": str(metrics.n_scored),
        "n_error": str(metrics.n_error),
        "n_timeout": str(metrics.n_timeout),
        "n_forfeit": str(metrics.n_forfeit),
    }
    for index, episode in enumerate(metrics.episodes, start=1):
        names = [f"{column.name}_{index}" for column in PER_EPISODE]
        row |= _estimates(dict(zip(names, episode, strict=True)))
    names = [column.name for column in OVERALL]
    return row | _estimates(dict(zip(names, (metrics.gain, metrics.regret), strict=True)))


def _estimates(named: Mapping[str, Estimate]) -> Row:
    return {name + end: number(x) for name, found in named.items() for end, x in zip(INTERVAL, found[:3], strict=True)}


def _yardsticks(ceilings: Ceilings, episodes: int) -> Row:
    each = (ceilings.random, ceilings.equilibrium, ceilings.told)
    row = {column.name: number(value) for column, value in zip(YARDSTICKS, each, strict=True)}
    adaptive = ceilings.adaptive or [None] * episodes
    row |= {f"{ADAPTIVE.name}_{episode}": number(value) for episode, value in enumerate(adaptive, start=1)}
    bounds = ceilings.bounds or (None,) * len(BOUNDS)
    return row | {column.name: number(value) for column, value in zip(BOUNDS, bounds, strict=True)}


def _origin(run: RunDirectory, records: Sequence[Record], *, verified: bool) -> Row:
    digest = hashlib.sha256()
    for record in records:
        digest.update(record.line() + b"\n")
    return {column.name: "" for column in COST} | {
        "package": run.manifest.config.packages["mage-envs"],
        "commit": run.manifest.commit,
        "run": digest.hexdigest(),
        "verified": _yes(verified),
    }


def _yes(value: bool) -> str:
    return "yes" if value else "no"
