"""Plays meta-episodes with an agent through Gymnasium, as a user would."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

import mage_envs  # noqa: F401 -- registers the ids
from mage_agent.base import Agent
from mage_agent.briefing import brief


def make(name: str = "KuhnPoker", **arguments: Any) -> gym.Env[Any, Any]:
    return gym.make(f"mage/{name}-meta-v0", **arguments)


def play(agent: Agent, env: gym.Env[Any, Any], seed: int, **options: Any) -> list[float]:
    """Returns the score of each episode. The agent gets the environment's own seed, as careless users do."""
    observation, info = env.reset(seed=seed, options=options)
    agent.begin(brief(env, info, seed, oracle=agent.oracle))
    public = {key: value for key, value in info.items() if key != "privileged"}
    scores, over = [], False
    while not over:
        choose = agent.reflect if info["phase"] == "reflect" else agent.act
        observation, _, over, _, info = env.step(choose(observation, public))
        public = {key: value for key, value in info.items() if key != "privileged"}
        if "episode_result" in info:
            assert info["episode_result"]["invalid"] == 0
            scores.append(info["episode_result"]["reward"])
    return scores
