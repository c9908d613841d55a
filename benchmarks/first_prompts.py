"""The first prompts of a run, written before any model is asked: if these do not fit, none does."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.asking import run_loop
from benchmarks.plan import Plan
from benchmarks.referee import briefing, start
from mage_agent.backends.base import Message
from mage_agent.backends.fake import FakeBackend
from mage_agent.language import LanguageAgent

MOST = 3
"""So many of the longest are looked at: to count one may be a request to a server."""


class FirstPrompt(NamedTuple):
    """What an agent sends for its first decision of a scenario.

    Attributes:
        agent: Name of the agent.
        scenario: Name of the scenario.
        messages: The prompt.
    """

    agent: str
    scenario: str
    messages: tuple[Message, ...]


def first_prompts(plan: Plan) -> list[FirstPrompt]:
    """Writes the first prompt of each language agent in each scenario that it plays: rules, first view, legal actions.

    Returns:
        The longest of them, at most :data:`MOST`. What agents of other kinds send nobody knows.
    """
    found = [
        FirstPrompt(name, scenario, run_loop(_first(plan, agent, scenario)))
        for scenario, names in plan.manifest.config.plays.items()
        for name in names
        if plan.panel.by_scenario[scenario] and isinstance(agent := plan.factory(name), LanguageAgent)
    ]
    return sorted(found, key=lambda each: sum(len(part.content) for part in each.messages), reverse=True)[:MOST]


async def _first(plan: Plan, agent: LanguageAgent, scenario: str) -> tuple[Message, ...]:
    suite, entry = plan.panel.suite, plan.panel.by_scenario[scenario][0]
    env = suite.make_env(next(part.scenario for part in suite.parts if part.scenario.name == scenario), agent.interface)
    observation, info = start(env, entry)
    backend = FakeBackend(lambda request: "")
    agent.connect(backend)
    await agent.begin(briefing(env, entry, info, oracle=agent.oracle, protocol=suite.protocol))
    await agent.act(observation, info)
    return backend.requests[0].messages
