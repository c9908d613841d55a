"""What an agent is told before a meta-episode, read from a Gymnasium environment: for harness, chat and own loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mage_agent.base import Briefing, RecordCall


def brief(
    env: Any,
    info: Mapping[str, Any],
    seed: int,
    *,
    oracle: bool = False,
    record_call: RecordCall | None = None,
    legal_actions_in_prompt: bool = True,
) -> Briefing:
    """Returns the briefing of a meta-episode that begins.

    Args:
        env: A game's or a world's environment with meta-episodes, wrapped or not, after ``reset``.
        info: What ``reset`` returned; ``info["privileged"]`` is read for an oracle only.
        seed: The agent's seed, at least 0.
        oracle: Whether the agent is one, and so is told the opponent: its attribute ``oracle``.
        record_call: Keeps the agent's calls of a model.
        legal_actions_in_prompt: Whether prompts list the legal actions.
    """
    inner = env.unwrapped
    others = hasattr(inner, "population")  # In a world there is nobody else.
    return Briefing(
        spec=info["view"].spec,
        rules=info["rules"],
        episodes=info["episodes"],
        population=inner.population.members if others else (),
        seed=seed,
        opponent=info["privileged"]["opponent"] if oracle and others else None,
        seats=inner.seats if others else None,
        instance=inner.instance,
        record_call=record_call,
        legal_actions_in_prompt=legal_actions_in_prompt,
    )
