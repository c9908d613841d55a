"""Reward shaping over the episodes of a meta-episode, as Gymnasium wrappers.

R_n is the score of episode n, penalties included. All three pay on the last step of an episode and 0 elsewhere. The
differential sum telescopes to the last episode's score: MAGE's objective (arXiv 2603.03680). The cumulative one is
LaMer's (arXiv 2512.16848).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import gymnasium as gym


class EpisodeReward(gym.Wrapper[Any, Any, Any, Any]):
    """Base: pays ``shape(R_n, R_(n-1), last)`` when episode n ends, with R_0 = 0."""

    @abstractmethod
    def shape(self, score: float, before: float, last: bool) -> float:
        """Returns the reward for an episode.

        Args:
            score: R_n, the score of the episode that ended.
            before: R_(n-1), the score of the one before; 0 for the first.
            last: Whether the meta-episode is over.
        """

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts a meta-episode."""
        self._before = 0.0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Steps, and replaces the reward."""
        observation, _, terminated, truncated, info = self.env.step(action)
        result = info.get("episode_result")
        if result is None:
            return observation, 0.0, terminated, truncated, info
        reward = self.shape(result["reward"], self._before, terminated or truncated)
        self._before = result["reward"]
        return observation, float(reward), terminated, truncated, info


class DifferentialReward(EpisodeReward):
    """Pays R_n − R_(n−1)."""

    def shape(self, score: float, before: float, last: bool) -> float:
        """Returns the improvement over the episode before."""
        return score - before


class FinalEpisodeReward(EpisodeReward):
    """Pays the last episode only."""

    def shape(self, score: float, before: float, last: bool) -> float:
        """Returns the score if the meta-episode is over, else 0."""
        return score if last else 0.0


class CumulativeReward(EpisodeReward):
    """Pays every episode's score at its end."""

    def shape(self, score: float, before: float, last: bool) -> float:
        """Returns the score."""
        return score
