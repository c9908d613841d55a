"""What a run will do, before it does it: the panel, who plays which scenario, and what the manifest says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeAlias

from pydantic import ValidationError

from benchmarks.asking import AgentFailure, Call, ask, ask_awaited, run_loop, waits
from benchmarks.controls import check_control, why_not
from benchmarks.panels import Entry, Panel, make_panel
from benchmarks.provenance import commit, host_facts, package_versions
from benchmarks.records import Key
from benchmarks.referee import briefing, start
from benchmarks.run_directory import AgentCard, Config, Manifest
from benchmarks.suites.base import Part, Suite
from mage_agent.agents import make_agent
from mage_agent.base import Agent
from mage_agent.errors import Overloaded
from mage_envs.errors import MageError, UnsupportedGameError

MakeAgent: TypeAlias = Callable[[str], Agent]

CARD_KEYS = ("model", "revision", "memory", "prompt_hash", "sampling")
"""What an agent's ``card()`` may say."""


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
        awaited: Names of the agents that are awaited.
    """

    panel: Panel
    manifest: Manifest
    factory: MakeAgent
    awaited: frozenset[str] = frozenset()

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All meta-episodes of this shard, in the order of the record file."""
        number, count = self.manifest.shard or (1, 1)
        return tuple(islice(planned(self.manifest.config, self.panel), number - 1, None, count))


def planned(config: Config, panel: Panel) -> Iterator[Task]:
    """Yields all meta-episodes in the order of the record file: scenario by scenario, agent by agent."""
    for scenario, agents in config.plays.items():
        for agent in agents:
            for entry in panel.by_scenario[scenario]:
                yield Task(agent, entry)


def make_plan(
    suite: Suite,
    agents: Sequence[str] = (),
    *,
    meta_episodes: int | None = None,
    seed: int = 0,
    control: str = "none",
    legal_actions_in_prompt: bool | None = None,
    factory: MakeAgent = make_agent,
) -> Plan:
    """Builds the panel, and asks every agent which scenarios it can play.

    Args:
        suite: The suite.
        agents: Specs of agents, each for all scenarios; empty: those that the suite names for each.
        meta_episodes: Meta-episodes of each scenario; None: as many as the suite says.
        seed: Another seed is another panel.
        control: Name of the causal control under which all agents play; ``none``: as they are.
        legal_actions_in_prompt: Whether prompted agents are shown the list of legal actions; None: as the suite says.
        factory: Makes an agent from a spec; must pickle.

    Returns:
        The plan.

    Raises:
        ValueError: ``meta_episodes`` is out of range.
        MageError: An agent's spec, or the control, is bad or unknown.
    """
    check_control(control)
    if legal_actions_in_prompt == suite.protocol.legal_actions_in_prompt:
        legal_actions_in_prompt = None  # The same run, whether it was said or not.
    suite = suite.under(legal_actions_in_prompt=legal_actions_in_prompt)
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
        legal_actions_in_prompt=legal_actions_in_prompt,
        packages=package_versions(),
    )
    awaited = frozenset(agent.name for agent in made.values() if waits(agent))
    return Plan(panel, _manifest(config, unsupported), factory, awaited)


def _manifest(config: Config, unsupported: Mapping[str, dict[str, str]]) -> Manifest:
    return Manifest(
        config=config, digest=config.digest, unsupported=dict(unsupported), commit=commit(), host=host_facts()
    )


def _card(agent: Agent, suite: Suite) -> AgentCard:
    own = dict(agent.card()) if hasattr(agent, "card") else {}
    if unknown := own.keys() - CARD_KEYS:
        raise MageError(f"the card of {agent.name} says {min(unknown)!r}; a card says {', '.join(CARD_KEYS)}")
    values = {"name": agent.name, "oracle": agent.oracle, "interface": agent.interface}
    try:
        return AgentCard.model_validate({**values, "memory": suite.protocol.memory, **own})
    except ValidationError as error:
        raise MageError(f"the card of {agent.name} is bad: {error.errors()[0]['msg']}") from error


def _why_not(suite: Suite, part: Part, panel: Panel, agent: Agent, control: str) -> str:
    """Lets an agent begin against each opponent once. Returns why it cannot play here; empty if it can."""
    env = suite.make_env(part.scenario, agent.interface)
    if env.unwrapped.interface != agent.interface and not getattr(agent, "also_text", False):
        return f"it plays by arrays, and {env.unwrapped.world.title} has text only"
    entries = panel.by_scenario[part.scenario.name]
    tried: dict[str | None, Entry] = {}
    for entry in entries:
        tried.setdefault(entry.opponent, entry)
    for entry in tried.values():
        _, info = start(env, entry)
        try:
            _begin(Call(agent, "begin", (briefing(env, entry, info, oracle=agent.oracle, protocol=suite.protocol),)))
        except AgentFailure as failure:
            cause = failure.__cause__
            if isinstance(cause, UnsupportedGameError):
                return str(cause)
            if isinstance(cause, MageError) and not isinstance(cause, Overloaded):
                raise cause from None
            return ""  # Playing will meet it again, and write it down as this agent's error.
    return why_not(control, agent, entries)


def _begin(call: Call) -> None:
    """Lets an agent begin; if its server has too much to do, that is no reason not to play.

    Raises:
        AgentFailure: It failed.
    """
    if not waits(call.agent):
        ask(call, tries=1)
        return
    try:
        run_loop(ask_awaited(call))
    except Overloaded as error:
        raise AgentFailure(str(error)) from error
