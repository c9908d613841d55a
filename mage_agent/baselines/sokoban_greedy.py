"""``sokoban_greedy``: makes the push that brings a box nearer to a target, and looks no further."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing, agent_generator
from mage_agent.sokoban_pushes import Push, check_sokoban, pushes, seen_level
from mage_envs.worlds import WorldView


class SokobanGreedy:
    """Pushes a box nearer to its nearest target, by the shortest walk; remembers nothing from episode to episode."""

    name = "sokoban_greedy"
    oracle = False
    interface = "array"

    def __init__(self) -> None:
        """Has no parameters."""
        self._rng: np.random.Generator
        self._moves: list[int] = []

    def begin(self, briefing: Briefing) -> None:
        """Takes a generator from the agent's seed.

        Raises:
            UnsupportedGameError: Something else than Sokoban is played.
        """
        check_sokoban(briefing)
        self._rng, self._moves = agent_generator(briefing.seed), []

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Plays the next move of the push that it is making, or chooses a push."""
        if not self._moves:
            view: WorldView = info["view"]
            found = pushes(seen_level(view))
            self._moves = list(self._choose(view, found).moves) if found else [int(self._rng.integers(4))]
        return self._moves.pop(0)

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Drops the push that was being made. The free action is 0."""
        self._moves = []
        return 0

    def _choose(self, view: WorldView, found: list[Push]) -> Push:
        """Chooses among the pushes, at least one; ties are broken at random."""
        return self._one_of_the_best(found)

    def _one_of_the_best(self, found: list[Push]) -> Push:
        best = max((push.gain, -len(push.moves)) for push in found)
        among = [push for push in found if (push.gain, -len(push.moves)) == best]
        return among[int(self._rng.integers(len(among)))]


AGENTS.register("sokoban_greedy", SokobanGreedy)
