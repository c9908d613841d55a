"""A run's results by what is known of the instances: in ALFWorld by the type of task."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

from benchmarks.ceilings import NONE
from benchmarks.metrics import RowMetrics, row_metrics
from benchmarks.panels import Panel
from benchmarks.records import Record
from benchmarks.run_directory import RunDirectory
from mage_envs.errors import MageError, UnknownNameError
from mage_envs.scenarios import Scenario
from mage_envs.worlds import World

ALL = "all"


class Share(NamedTuple):
    """What an agent scored in a scenario on the instances of which one thing is known.

    Attributes:
        scenario: Name of the scenario.
        agent: Name of the agent.
        value: What is known, in words; ``"all"``: all of them, whatever it is.
        metrics: The numbers, over the records that are there.
    """

    scenario: str
    agent: str
    value: str
    metrics: RowMetrics


def breakdown(run: RunDirectory, panel: Panel, records: Iterable[Record], fact: str) -> list[Share]:
    """Computes results for each value of a fact.

    Args:
        run: The run.
        panel: Its panel.
        records: Its records.
        fact: What :meth:`mage_envs.worlds.World.known` says of an instance, such as ``"task_type"``.

    Returns:
        Scenario by scenario, agent by agent, all values together and then each. Left out are games, and
        scenarios in which each episode has its own instance.

    Raises:
        UnknownNameError: Nothing of this name is known of any instance.
        MageError: The run has no replayed instances of worlds.
    """
    grouped: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record.episodes:
            grouped.setdefault((record.scenario, record.agent), []).append(record)
    protocol, found, names = panel.suite.protocol, list[Share](), set[str]()
    scenarios = [part.scenario for part in panel.suite.parts if _is_replayed_world(part.scenario)]
    if not scenarios:
        raise MageError("results by a fact are of worlds whose instances are replayed: this run has none")
    for scenario in scenarios:
        known = _known(scenario)
        for agent in run.manifest.config.plays[scenario.name]:
            by_value: dict[Any, list[Record]] = {}
            own = grouped.get((scenario.name, agent), [])
            for record in own:
                facts = known(record.episodes[0].instance)
                names.update(facts)
                if fact in facts:
                    by_value.setdefault(facts[fact], []).append(record)
            for value, share in [*([(ALL, own)] if by_value else []), *sorted(by_value.items())]:
                numbers = row_metrics(share, len(share), protocol.episodes, NONE, stops=protocol.stop_on_success)
                found.append(Share(scenario.name, agent, str(value), numbers))
    if not found:
        raise UnknownNameError("fact", fact, names)
    return found


def _is_replayed_world(scenario: Scenario) -> bool:
    return scenario.population is None and scenario.instance == "replay"


def _known(scenario: Scenario) -> Callable[[str], dict[str, Any]]:
    made: Any = scenario.make().unwrapped
    world: World = made.world

    @cache
    def known(instance: str) -> dict[str, Any]:
        return dict(world.known(world.start(world.check_instance(instance))))

    return known
