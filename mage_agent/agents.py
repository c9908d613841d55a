"""The registry of agents: one file each in :mod:`mage_agent.baselines`, and every opponent as well."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from mage_agent.base import Agent
from mage_agent.model_calls import Model
from mage_agent.opponent_agent import OpponentAgent
from mage_envs.errors import UnknownNameError
from mage_envs.opponents import OPPONENTS
from mage_envs.registry import Registry
from mage_envs.spec_strings import Spec, bind_spec, parse_spec, usage

Factory: TypeAlias = Callable[..., Agent]

AGENTS: Registry[Factory] = Registry("agent", package="mage_agent.baselines")
"""Agent files register ``factory(**parameters)`` here."""


def make_agent(spec: str | Spec, model: Model | None = None) -> Agent:
    """Makes the agent that a spec names.

    Args:
        spec: The spec of an agent (``"thompson"``), or of an opponent (``"mcts(simulations=100)"``), which then
            plays as an agent.
        model: The model that a language agent asks: its settings, or a backend that is open. Others need none.

    Returns:
        A new agent; its ``name`` is the spec with every parameter.

    Raises:
        SpecError: The spec does not parse, or has an unknown parameter.
        UnknownNameError: There is neither an agent nor an opponent of this name; near matches are listed.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    if parsed.name in AGENTS:
        factory = AGENTS.get(parsed.name)
        values = bind_spec(parsed, factory, "agent")
        agent = factory(**values)
    elif parsed.name in OPPONENTS:
        values = bind_spec(parsed, partial(OPPONENTS.get(parsed.name), None), "agent")
        agent = OpponentAgent(Spec(parsed.name, (), tuple(values.items())))
    else:
        raise UnknownNameError("agent", parsed.name, {*AGENTS, *OPPONENTS})
    agent.name = str(Spec(parsed.name, (), tuple(values.items())))
    if model is not None and hasattr(agent, "connect"):
        agent.connect(model)
    return agent


def agent_rows() -> Iterator[tuple[str, str, str]]:
    """Yields for every agent how its spec is written, whether it is an oracle, and what it does and sees."""
    for name in AGENTS:
        factory = AGENTS.get(name)
        oracle = "yes" if getattr(factory, "oracle", False) else "no"
        sees = f" Sees: {factory.sees}." if hasattr(factory, "sees") else ""
        yield usage(name, factory), oracle, first_line(factory) + sees


def first_line(factory: Callable[..., object]) -> str:
    """Returns the first line of a factory's docstring as plain text; empty if it has none."""
    return (inspect.getdoc(factory) or "").split("\n", maxsplit=1)[0].replace("``", "")
