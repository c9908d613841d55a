"""Compares agents that played the same panel, meta-episode by meta-episode."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from benchmarks.measures import Kind, Measure, cluster_keys, measures
from benchmarks.names import short_name
from benchmarks.paired import SIGNIFICANCE, PairedTest, holm, paired_test
from benchmarks.panels import Panel
from benchmarks.records import Record
from benchmarks.run_directory import Config, RunDirectory
from benchmarks.statistics import cluster_labels
from mage_envs.errors import MageError, RecordError, UnknownNameError

_NAMED = ("suite", "version", "seed", "meta_episodes")


class Side(NamedTuple):
    """One of the two that are compared.

    Attributes:
        run: Its run.
        agent: Name of the agent there.
        label: How tables call it: with the run's name if both are one agent.
    """

    run: RunDirectory
    agent: str
    label: str


class Comparison(NamedTuple):
    """First against second, in one scenario, by one measure.

    Attributes:
        scenario: Name of the scenario.
        first: Label of the first.
        second: Label of the second.
        measure: What is compared.
        test: The difference and its tests.
        n: Meta-episodes that both have a score in.
        n_expected: Meta-episodes in the panel.
        holm_p: The permutation test's p, corrected for all comparisons that are shown.
    """

    scenario: str
    first: str
    second: str
    measure: str
    test: PairedTest
    n: int
    n_expected: int
    holm_p: float

    @property
    def verdict(self) -> str:
        """``first`` or ``second`` is better, ``tie``, or ``incomplete``: results are missing, nothing is said."""
        if self.n < self.n_expected:
            return "incomplete"
        value = self.test.difference.value
        if value is None or value == 0.0 or self.holm_p >= SIGNIFICANCE:
            return "tie"
        return "first" if value > 0.0 else "second"


def check_same_panel(first: Config, second: Config) -> None:
    """Sees whether two runs can be paired.

    Raises:
        RecordError: They played different panels; the message names what differs.
    """
    if first.panel == second.panel:
        return
    old, new = first.model_dump(), second.model_dump()
    found = [f"{key} ({_said(old[key])} and {_said(new[key])})" for key in _NAMED if old[key] != new[key]]
    what = ", ".join(found) or "the suite's scenarios, populations or protocol, which were changed in between"
    raise RecordError(f"the runs are of different panels, and cannot be compared pair by pair. What differs: {what}")


def choose_sides(runs: Sequence[RunDirectory], agents: Sequence[str]) -> list[tuple[Side, Side]]:
    """Chooses who is compared with whom.

    Args:
        runs: One run, or two of one panel.
        agents: Names, defaults left out or not. One run: none for all pairs, one to compare it with all others, or two.
            Two runs: none for every agent that is in both (or the only one of each), one for that agent in both, or
            one of each run.

    Returns:
        The pairs.

    Raises:
        RecordError: The panels differ.
        UnknownNameError: A run has no such agent.
        MageError: There is nobody to compare.
    """
    if len(agents) > 2:
        raise MageError(f"name two agents at most, not {len(agents)}")
    names = [[card.name for card in run.manifest.config.agents] for run in runs]
    if len(runs) == 1:
        return [(Side(runs[0], a, a), Side(runs[0], b, b)) for a, b in _pairs(names[0], agents)]
    check_same_panel(runs[0].manifest.config, runs[1].manifest.config)
    found = []
    for a, b in _across(names, agents):
        labels = _labels(runs, a, b)
        found.append((Side(runs[0], a, labels[0]), Side(runs[1], b, labels[1])))
    if not found:
        raise MageError("no agent is in both runs: name one of each by --agent A --agent B")
    return found


def compare(
    sides: Sequence[tuple[Side, Side]], panel: Panel, kind: Kind | None = None, scenarios: Collection[str] = ()
) -> list[Comparison]:
    """Compares pairs of agents in every scenario that both play.

    Args:
        sides: The pairs.
        panel: What they played.
        kind: What is compared; see :func:`benchmarks.measures.measures`.
        scenarios: Only these; none: all.

    Returns:
        The comparisons, scenario by scenario and pair by pair. Holm's correction is over all of them.
    """
    chosen = measures(panel.suite.protocol, kind)
    runs = {side.run.path: side.run for pair in sides for side in pair}
    records = {path: records_of(run) for path, run in runs.items()}
    jobs = [
        (scenario, first, second, pair_up(*(records[s.run.path].get((s.agent, scenario), {}) for s in (first, second))))
        for scenario in chosen_scenarios(panel, scenarios)
        for first, second in sides
        if _play(first, second, scenario)
    ]
    total = len(jobs) * len(chosen)
    found = [
        Comparison(
            scenario, first.label, second.label, measure.name, test, len(pairs), len(panel.by_scenario[scenario]), 1.0
        )
        for scenario, first, second, pairs in jobs
        for measure, test in _tests(pairs, chosen, total)
    ]
    corrected = holm([comparison.test.p for comparison in found])
    return [comparison._replace(holm_p=p) for comparison, p in zip(found, corrected, strict=True)]


def chosen_scenarios(panel: Panel, wanted: Collection[str]) -> list[str]:
    """Returns the scenarios of a panel that are asked for, all if none is.

    Raises:
        UnknownNameError: The panel has no such scenario.
    """
    for name in wanted:
        if name not in panel.by_scenario:
            raise UnknownNameError(f"scenario of the suite {panel.suite.name!r}:", name, panel.by_scenario)
    return [name for name in panel.by_scenario if not wanted or name in wanted]


def records_of(run: RunDirectory) -> dict[tuple[str, str], dict[int, Record]]:
    """Reads a run's records: by agent and scenario, then by number in the panel."""
    grouped: dict[tuple[str, str], dict[int, Record]] = {}
    for record in run.records().values():
        grouped.setdefault((record.agent, record.scenario), {})[record.number] = record
    return grouped


def pair_up(first: Mapping[int, Record], second: Mapping[int, Record]) -> list[tuple[Record, Record]]:
    """Pairs records by their number in the panel, where both have a score."""
    return [(a, second[n]) for n, a in sorted(first.items()) if a.scored and n in second and second[n].scored]


def _play(first: Side, second: Side, scenario: str) -> bool:
    return all(side.agent in side.run.manifest.config.plays.get(scenario, ()) for side in (first, second))


def _tests(
    pairs: Sequence[tuple[Record, Record]], chosen: Iterable[Measure], comparisons: int
) -> list[tuple[Measure, PairedTest]]:
    clusters = cluster_labels(cluster_keys(*pair) for pair in pairs)
    return [
        (measure, paired_test([measure.of(a) - measure.of(b) for a, b in pairs], clusters, comparisons))
        for measure in chosen
    ]


def _pairs(names: Sequence[str], agents: Sequence[str]) -> list[tuple[str, str]]:
    if len(agents) == 2:
        return [(find_agent(agents[0], names), find_agent(agents[1], names))]
    if len(names) < 2:
        raise MageError(f"the run has one agent only, {names[0]}: name a second run, or play another agent")
    if agents:
        one = find_agent(agents[0], names)
        return [(one, other) for other in names if other != one]
    return list(combinations(names, 2))


def _across(names: Sequence[Sequence[str]], agents: Sequence[str]) -> list[tuple[str, str]]:
    if agents:
        return [(find_agent(agents[0], names[0]), find_agent(agents[-1], names[1]))]
    if len(names[0]) == len(names[1]) == 1:
        return [(names[0][0], names[1][0])]
    return [(name, name) for name in names[0] if name in names[1]]


def find_agent(wanted: str, names: Sequence[str]) -> str:
    """Finds an agent of a run by its full name or by its name without default parameters.

    Raises:
        UnknownNameError: There is none.
    """
    for name in names:
        if wanted in (name, short_name(name)):
            return name
    raise UnknownNameError("agent of the run:", wanted, [short_name(name) for name in names])


def _labels(runs: Sequence[RunDirectory], first: str, second: str) -> tuple[str, str]:
    """Tells the two apart: by name, by the control they played under, or by their run."""
    controls = [run.manifest.config.control for run in runs]
    if controls[0] != controls[1]:
        return f"{first} [{controls[0]}]", f"{second} [{controls[1]}]"
    return (first, second) if first != second else (f"{first} [{runs[0].path}]", f"{second} [{runs[1].path}]")


def _said(value: object) -> str:
    return "as the suite says" if value is None else str(value)
