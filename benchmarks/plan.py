"""What a run will do, before it does it: the panel, who plays which scenario, and what the manifest says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from benchmarks.asking import AgentFailure, Call, ask
from benchmarks.controls import check_control, why_not
from benchmarks.panels import Entry, Panel, make_panel
from benchmarks.provenance import commit, host_facts, package_versions
from benchmarks.records import Key
from benchmarks.referee import briefing, start
from benchmarks.run_directory import AgentCard, Config, Manifest
from benchmarks.suites.base import Part, Suite
from mage_agent.agents import make_agent
from mage_agent.base import Agent
from mage_envs.errors import MageError, UnsupportedGameError

MakeAgent: TypeAlias = Callable[[str], Agent]


class Task(NamedTuple):
    """One meta-episode of one agent."""

    agent: str
    entry: Entry

    @property
    def key(self) -> Key:
        """What names its record."""
        return Key(self.agent, self.entry.scenario, self.entry.number)


@dataclass(frozen=True)
class Plan:
    """What a run will do.

    Attributes:
        panel: What is played.
        manifest: Who plays what, and where it comes from.
        factory: Makes an agent from its name, in each process.
    """

    panel: Panel
    manifest: Manifest
    factory: MakeAgent

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All meta-episodes in the order of the record file: scenario by scenario, agent by agent."""
        return tuple(
            Task(agent, entry)
            for scenario, agents in self.manifest.config.plays.items()
            for agent in agents
            for entry in self.panel.by_scenario[scenario]
        )


def make_plan(
    suite: Suite,
    agents: Sequence[str] = (),
    *,
    meta_episodes: int | None = None,
    seed: int = 0,
    control: str = "none",
    factory: MakeAgent = make_agent,
) -> Plan:
    """Builds the panel, and asks every agent which scenarios it can play.

    Args:
        suite: The suite.
        agents: Specs of agents, each for all scenarios; empty: those that the suite names for each.
        meta_episodes: Meta-episodes of each scenario; None: as many as the suite says.
        seed: Another seed is another panel.
        control: Name of the causal control under which all agents play; ``none``: as they are.
        factory: Makes an agent from a spec; must pickle.

    Returns:
        The plan.

    Raises:
        ValueError: ``meta_episodes`` is out of range.
        MageError: An agent's spec, or the control, is bad or unknown.
    """
    check_control(control)
    panel = make_panel(suite, seed, meta_episodes)
    made = {spec: factory(spec) for spec in dict.fromkeys(agents or suite.default_agents)}
    plays: dict[str, tuple[str, ...]] = {}
    unsupported: dict[str, dict[str, str]] = {}
    for part in suite.parts:
        scenario = part.scenario.name
        candidates = {made[spec].name: made[spec] for spec in agents or part.agents}
        reasons = {name: _why_not(suite, part, panel, agent, control) for name, agent in candidates.items()}
        plays[scenario] = tuple(name for name, reason in reasons.items() if not reason)
        for name, reason in reasons.items():
            if reason:
                unsupported.setdefault(name, {})[scenario] = reason
    config = Config(
        suite=suite.name,
        version=suite.version,
        panel=panel.hash,
        seed=seed,
        meta_episodes=meta_episodes,
        agents=tuple({agent.name: _card(agent, suite) for agent in made.values()}.values()),
        plays=plays,
        control=control,
        packages=package_versions(),
    )
    return Plan(panel, _manifest(config, unsupported), factory)


def _manifest(config: Config, unsupported: Mapping[str, dict[str, str]]) -> Manifest:
    return Manifest(
        config=config, digest=config.digest, unsupported=dict(unsupported), commit=commit(), host=host_facts()
    )


def _card(agent: Agent, suite: Suite) -> AgentCard:
    return AgentCard.model_validate(
        {
            "name": agent.name,
            "oracle": agent.oracle,
            "interface": agent.interface,
            "memory": suite.protocol.memory,
        }
    )


def _why_not(suite: Suite, part: Part, panel: Panel, agent: Agent, control: str) -> str:
    """Lets an agent begin against each opponent once. Returns why it cannot play here; empty if it can."""
    env = suite.make_env(part.scenario, agent.interface)
    entries = panel.by_scenario[part.scenario.name]
    tried: dict[str | None, Entry] = {}
    for entry in entries:
        tried.setdefault(entry.opponent, entry)
    for entry in tried.values():
        _, info = start(env, entry)
        try:
            ask(Call(agent, "begin", (briefing(env, entry, info, oracle=agent.oracle),)))
        except AgentFailure as failure:
            cause = failure.__cause__
            if isinstance(cause, UnsupportedGameError):
                return str(cause)
            if isinstance(cause, MageError):
                raise cause from None
            return ""  # Playing will meet it again, and write it down as this agent's error.
    return why_not(control, agent, entries)
