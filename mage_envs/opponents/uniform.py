"""Opponents without an opinion: uniformly random, and always the first legal action."""

from __future__ import annotations

import numpy as np

from mage_envs.games import View
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, one_hot


class Random(Opponent):
    """Plays every legal action with equal probability."""

    summary = "plays every legal action with equal probability"

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Returns the uniform distribution."""
        return view.uniform, memory


class FirstLegal(Opponent):
    """Plays the legal action with the lowest id."""

    summary = "plays the legal action with the lowest id"

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Returns the first legal action for sure."""
        return one_hot(view, view.legal[0]), memory


OPPONENTS.register("random", Random)
OPPONENTS.register("first_legal", FirstLegal)
