"""Rows of a board, computed from a run. Always from all records: nothing is carried over from an earlier count."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeAlias, get_args

from benchmarks.ceilings import Ceilings, panel_ceilings
from benchmarks.columns import ADAPTIVE, BOUNDS, INTERVAL, OVERALL, PER_EPISODE, YARDSTICKS
from benchmarks.metrics import RowMetrics, row_metrics
from benchmarks.panels import Panel
from benchmarks.records import Figures, Record, Refusal
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
        records: Its records, each once. They are gone through one at a time and not kept.
        verified: Whether they were replayed.

    Returns:
        The rows, scenario by scenario in the order of the suite.
    """
    grouped: defaultdict[tuple[str, str], _Group] = defaultdict(_Group)
    for record in records:
        grouped[record.scenario, record.agent].add(record)
    cards = {card.name: card for card in run.manifest.config.agents}
    rows = []
    for part in panel.suite.parts:
        scenario = part.scenario.name
        entries = panel.by_scenario[scenario]
        ceilings = panel_ceilings(panel.suite, part.scenario, entries)
        for agent in run.manifest.config.plays[scenario]:
            own = grouped[scenario, agent]
            protocol, played = panel.suite.protocol, own.figures()
            metrics = row_metrics(played, len(entries), protocol.episodes, ceilings, stops=protocol.stop_on_success)
            rows.append(
                _what(panel, part)
                | _who(cards[agent], run.manifest.config.control)
                | _numbers(metrics)
                | _yardsticks(ceilings, panel.suite.protocol.episodes)
                | _origin(run, own.digest(), verified=verified)
            )
    return rows


class _Group:
    """The records of one row: what its numbers are made from, and the hash of all of them by their number."""

    def __init__(self) -> None:
        self._figures: list[Figures] = []
        self._hash = hashlib.sha256()
        self._hashed = 0
        self._early: dict[int, bytes] = {}  # Lines that cannot be hashed yet: one before them is not there.

    def add(self, record: Record) -> None:
        """Takes a record."""
        self._figures.append(record.figures())
        self._early[record.number] = record.line() + b"\n"
        while self._hashed in self._early:
            self._hash.update(self._early.pop(self._hashed))
            self._hashed += 1

    def figures(self) -> list[Figures]:
        """Returns the records' numbers, in their order."""
        return sorted(self._figures, key=lambda found: found.number)

    def digest(self) -> str:
        """Returns the hash of the records, line by line."""
        whole = self._hash.copy()
        for found in sorted(self._early):
            whole.update(self._early[found])
        return whole.hexdigest()


def number(value: float | None, form: str = ".6g") -> str:
    """Writes a number as it stands in the CSV: with six digits unless said otherwise, empty if there is none."""
    return "" if value is None else format(value + 0.0, form)


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
        **{f"n_{kind}": str(metrics.refused.get(kind, 0)) for kind in get_args(Refusal)},
        "n_memory_truncated": str(metrics.n_memory_truncated),
        "prompt_tokens": number(metrics.prompt_tokens, ".0f"),
        "completion_tokens": number(metrics.completion_tokens, ".0f"),
        "cost": number(metrics.cost),
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


def _origin(run: RunDirectory, digest: str, *, verified: bool) -> Row:
    return {
        "package": run.manifest.config.packages["mage-envs"],
        "commit": run.manifest.commit,
        "run": digest,
        "verified": _yes(verified),
    }


def _yes(value: bool) -> str:
    return "yes" if value else "no"
