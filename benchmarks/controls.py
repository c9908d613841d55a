"""Causal controls: what an agent's gain is due to, seen by playing it with something taken away or exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.panels import Entry
from benchmarks.referee import Playing
from mage_agent.base import Agent
from mage_envs.errors import UnknownNameError

NONE = "none"


def play_under(control: str, env: Any, agent: Agent, entry: Entry, entries: Sequence[Entry]) -> Playing:  # noqa: ARG001
    """Lets an agent play one entry of a panel under a control.

    Args:
        control: Name of the control.
        env: The environment of the entry's scenario, with the agent's interface.
        agent: The agent.
        entry: What to play.
        entries: All entries of the scenario.

    Returns:
        The meta-episode in progress, as :func:`benchmarks.referee.playing` gives it: a generator, so that the agents
        of both executors, those that are called and those that are awaited, play under the same control.

    Raises:
        UnknownNameError: There is no such control.
    """
    raise UnknownNameError("control", control, (NONE,))
