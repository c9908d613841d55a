"""When does an agent notice that its opponent has changed, and what does it lose until then?

Episodes are counted from the switch: 0 is the first against the second strategy, -1 the last against the first one.
docs/adaptation.md defines the numbers and works an example, which is a test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.compare import chosen_scenarios, records_of
from benchmarks.measures import cluster_keys
from benchmarks.panels import Panel
from benchmarks.records import Record
from benchmarks.run_directory import RunDirectory
from benchmarks.statistics import Estimate, cluster_labels, mean_estimate
from mage_envs.errors import MageError, RecordError
from mage_envs.spec_strings import parse_spec

BEFORE = 2
"""So many episodes before the switch say what the agent had reached."""
AFTER = 4
"""Episodes 0 to 4 are looked at: the measures need them of every meta-episode."""


class Adaptation(NamedTuple):
    """How an agent took the switches of one scenario.

    Attributes:
        scenario: Name of the scenario.
        agent: Name of the agent.
        n: Meta-episodes with a score.
        n_expected: Meta-episodes in the panel.
        before: Mean score of the last two episodes before the switch.
        after: Mean score of each episode from the switch on, 0 to 4.
        drop: ``before`` minus episode 0, paired.
        cost: What was lost in episodes 0 to 4 together: the sum of ``before`` minus each, paired.
        recovery: First episode by which half of the drop is made up, 1 to 4; 5 if it is later. None: there was no drop
            beyond doubt, so nothing to recover from.
    """

    scenario: str
    agent: str
    n: int
    n_expected: int
    before: Estimate
    after: tuple[Estimate, ...]
    drop: Estimate
    cost: Estimate
    recovery: int | None


def adaptations(run: RunDirectory, panel: Panel, scenarios: Collection[str] = ()) -> list[Adaptation]:
    """Computes the measures of a run, for every agent in every scenario whose opponents switch.

    Args:
        run: The run.
        panel: Its panel.
        scenarios: Only these; none: all whose opponents switch.

    Returns:
        Scenario by scenario, agent by agent.

    Raises:
        UnknownNameError: The panel has no such scenario.
        MageError: No scenario has opponents that switch, or one switches too early or too late to be measured.
    """
    chosen = [
        name
        for name in chosen_scenarios(panel, scenarios)
        if all(switch_episode(entry.opponent) is not None for entry in panel.by_scenario[name])
    ]
    if not chosen:
        raise MageError("no opponent switches here: play a suite with opponents such as switching(a, b, at=4), like "
                        "`benchmark run adaptation`")  # fmt: skip
    records = records_of(run)
    return [
        adaptation(
            name,
            agent,
            records.get((agent, name), {}).values(),
            len(panel.by_scenario[name]),
        )
        for name in chosen
        for agent in run.manifest.config.plays[name]
    ]


def adaptation(scenario: str, agent: str, records: Iterable[Record], n_expected: int) -> Adaptation:
    """Computes the measures of one agent in one scenario.

    Args:
        scenario: Its name.
        agent: The agent's name.
        records: Its records there.
        n_expected: Meta-episodes in the panel.

    Returns:
        The measures, over the records that have a score.

    Raises:
        RecordError: A meta-episode is not long enough around its switch.
    """
    scored = [record for record in records if record.scored]
    windows = np.array([_window(record) for record in scored]).reshape(len(scored), BEFORE + AFTER + 1)
    clusters = cluster_labels(cluster_keys(record) for record in scored)
    before = windows[:, :BEFORE].mean(axis=1)
    lost = before[:, None] - windows[:, BEFORE:]
    after = tuple(mean_estimate(column, clusters) for column in windows[:, BEFORE:].T.tolist())
    level, drop = (mean_estimate(values.tolist(), clusters) for values in (before, lost[:, 0]))
    cost = mean_estimate(lost.sum(axis=1).tolist(), clusters)
    return Adaptation(scenario, agent, len(scored), n_expected, level, after, drop, cost, _recovery(level, drop, after))


def switch_episode(opponent: str | None) -> int | None:
    """Returns the index of the first episode in which a switching opponent is the other one; None if it never switches.

    >>> switch_episode("switching(a=rock, b=paper, at=5)")
    5
    """
    spec = parse_spec(opponent) if opponent else None
    return int(str(dict(spec.kwargs)["at"])) if spec and spec.name == "switching" else None


def _window(record: Record) -> list[float]:
    """Returns the scores from two episodes before the switch to four after it.

    Raises:
        RecordError: They were not all played.
    """
    at = switch_episode(record.opponent) or 0
    scores = [episode.reward for episode in record.episodes[max(0, at - BEFORE) : at + AFTER + 1]]
    if len(scores) < BEFORE + AFTER + 1:
        raise RecordError(
            f"{record.opponent} in {record.scenario} cannot be measured, {len(record.episodes)} episodes were played: "
            f"{BEFORE} before the switch and {AFTER + 1} from it on are needed"
        )
    return scores


def _recovery(before: Estimate, drop: Estimate, after: Sequence[Estimate]) -> int | None:
    if before.value is None or drop.value is None or drop.low is None or drop.low <= 0.0:
        return None
    wanted = before.value - drop.value / 2.0
    reached = (
        episode for episode, score in enumerate(after) if episode and score.value is not None and score.value >= wanted
    )
    return next(reached, AFTER + 1)
