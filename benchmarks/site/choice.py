"""Which meta-episodes of a run the site shows: few, the same every time, and from all opponents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, islice, zip_longest

from benchmarks.panels import Entry, Panel
from benchmarks.records import Record

FAILED = 3
"""So many that did not end well are shown besides, the first of each agent and scenario."""
MAX_STEPS = 5_000
"""Answers that the replays of one row hold together, so that long games do not make a large page."""


class Chooser:
    """Picks records out of a stream.

    Attributes:
        chosen: (scenario, agent) to the records picked so far.
    """

    def __init__(self, panel: Panel, count: int) -> None:
        """Chooses from the panel, before there are records.

        Args:
            panel: The panel.
            count: Meta-episodes of each agent and scenario, besides those that failed; 0 shows none at all.
        """
        self.chosen: dict[tuple[str, str], list[Record]] = {}
        self._numbers = {name: spread(entries, count) for name, entries in panel.by_scenario.items()}
        self._failed: dict[tuple[str, str], int] = {}
        self._failures = FAILED if count else 0

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """Passes records on, and keeps those that are chosen."""
        for record in records:
            if self._wants(record):
                self.chosen.setdefault((record.scenario, record.agent), []).append(record)
            yield record

    def picked(self, scenario: str, agent: str) -> list[Record]:
        """Returns what is shown of a row: as many as have room, those that did not end well first, at least one."""
        records = self.chosen.get((scenario, agent), [])
        ordered = sorted(records, key=lambda record: (record.status == "ok", record.number))
        steps = accumulate(sum(len(episode.actions) for episode in record.episodes) for record in ordered)
        fitting = [record for index, (record, sum_) in enumerate(zip(ordered, steps, strict=True))
                   if sum_ <= MAX_STEPS or index == 0]  # fmt: skip
        return sorted(fitting, key=lambda record: record.number)

    def _wants(self, record: Record) -> bool:
        if record.number in self._numbers.get(record.scenario, ()):
            return True
        if record.status == "ok":
            return False
        key = (record.scenario, record.agent)
        self._failed[key] = self._failed.get(key, 0) + 1
        return self._failed[key] <= self._failures


def spread(entries: Sequence[Entry], count: int) -> Collection[int]:
    """Chooses entries of a panel: opponents take turns, and each gives its first ones, so both seats of a deal.

    Args:
        entries: The entries of one scenario.
        count: How many.

    Returns:
        Their numbers.
    """
    by_opponent: dict[str | None, list[int]] = {}
    for entry in entries:
        by_opponent.setdefault(entry.opponent, []).append(entry.number)
    turns = (number for turn in zip_longest(*by_opponent.values()) for number in turn if number is not None)
    return frozenset(islice(turns, count))
