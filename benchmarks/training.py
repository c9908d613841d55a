"""Evaluation in the middle of training: a panel that no suite has, played in this process and kept in memory.

:mod:`mage_agent.grpo.evaluation` says what is needed, and finds this module by its name.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from benchmarks.asynchronous import LoopSetup
from benchmarks.ceilings import NONE
from benchmarks.metrics import row_metrics
from benchmarks.panels import Panel as Entries
from benchmarks.panels import make_panel
from benchmarks.plan import Task
from benchmarks.players import Table
from benchmarks.provenance import commit
from benchmarks.records import Record, parse_line
from benchmarks.statistics import Estimate
from benchmarks.suites.base import Part, Protocol, Suite
from mage_agent.base import Agent
from mage_agent.grpo.evaluation import Evaluation, Interval, Panel

__all__ = ["commit", "evaluate", "validation"]

NAME = "training-validation"
"""What seeds are derived from: no suite may have this name, or its panel would be this one."""


def validation(panel: Panel, name: str = NAME, seed: int = 0) -> Entries:
    """Returns the meta-episodes of a validation panel: the same for every model, and in no suite.

    Args:
        panel: What is played.
        name: What seeds are derived from.
        seed: Another seed is another panel.
    """
    protocol = Protocol(
        episodes=panel.episodes,
        max_invalid=panel.max_invalid,
        stop_on_success=panel.stop_on_success,
        legal_actions_in_prompt=panel.legal_actions_in_prompt,
    )
    part = Part(panel.scenario, panel.meta_episodes, ())
    return make_panel(Suite(name, 1, "Validation of what is trained.", (part,), protocol), seed)


def evaluate(panel: Panel, agent: Callable[[], Agent], concurrency: int) -> Evaluation:
    """Plays a validation panel.

    Args:
        panel: What is played.
        agent: Makes an agent that is awaited.
        concurrency: Meta-episodes in flight.

    Returns:
        What came of it, with 95 % intervals that are clustered by opponent and instance.
    """
    entries = validation(panel)
    lines: list[bytes] = []
    tasks = tuple(Task("policy", entry) for entry in entries.entries)
    table = Table(entries, "none", tasks, lambda _: agent(), lambda: lambda line, _: lines.append(line))
    owed = itertools.chain(range(len(tasks)), itertools.repeat(None))
    LoopSetup(table, min(concurrency, len(tasks)))()(lambda: next(owed), lambda _: None, lambda: False)
    records = sorted((parse_line(line, "evaluation") for line in lines), key=lambda record: record.number)
    return _evaluation(entries, records, panel)


def _evaluation(entries: Entries, records: Sequence[Record], panel: Panel) -> Evaluation:
    row = row_metrics(records, len(records), panel.episodes, NONE, stops=panel.stop_on_success)
    errors = [record for record in records if not record.scored]
    opponents = sorted({record.opponent for record in records if record.opponent is not None})
    return Evaluation(
        panel=entries.hash,
        scored=row.n_scored,
        errors=len(errors),
        first_error=(errors[0].error or "") if errors else "",
        score=tuple(_interval(episode.score) for episode in row.episodes),
        win=tuple(_interval(episode.win) for episode in row.episodes),
        invalid=tuple(_interval(episode.invalid) for episode in row.episodes),
        gain=_interval(row.gain),
        opponents={opponent: _scores(records, opponent, panel) for opponent in opponents},
    )


def _scores(records: Sequence[Record], opponent: str, panel: Panel) -> tuple[Interval, ...]:
    own = [record for record in records if record.opponent == opponent]
    row = row_metrics(own, len(own), panel.episodes, NONE, stops=panel.stop_on_success)
    return tuple(_interval(episode.score) for episode in row.episodes)


def _interval(estimate: Estimate) -> Interval:
    return Interval(estimate.value, estimate.low, estimate.high)
