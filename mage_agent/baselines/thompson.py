"""``thompson``: draws an opponent from what it believes and plays the best response to it, episode by episode.

Source: posterior sampling, W. R. Thompson, Biometrika 25, 1933. It explores because it acts on a draw and not on the
most likely opponent, and exploits more as the belief sharpens. It is told the population, never the opponent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing, agent_generator
from mage_agent.memory import shifted
from mage_agent.policies import best_policy
from mage_envs.games import GameSpec, View
from mage_envs.tabular.belief import OpponentBelief

TREMBLING = 1e-3
"""Probability with which opponents are taken to move at random."""


class Thompson:
    """Keeps a posterior over the population and best-responds to one draw from it in each episode.

    The posterior uses the views of ended episodes: all moves seen, and hidden cards only if they were shown.
    A replayed deal is treated as a fresh one.
    """

    name = "thompson"
    oracle = False
    interface = "array"

    def __init__(self) -> None:
        """Has no parameters."""
        self._game: GameSpec
        self._belief: OpponentBelief
        self._rng: np.random.Generator
        self._drawn: str

    @property
    def belief(self) -> dict[str, float]:
        """The probability of each opponent, from the episodes that have ended."""
        return dict(zip(self._belief.opponents, self._belief.weights.tolist(), strict=True))

    @property
    def memory(self) -> tuple[float, ...]:
        """The belief's weights, in the population's order."""
        return tuple(self._belief.weights.tolist())

    @memory.setter
    def memory(self, memory: tuple[float, ...]) -> None:
        self._belief.weights = np.array(memory)
        self._draw()

    def shuffled(self, memory: tuple[float, ...], rng: np.random.Generator) -> tuple[float, ...]:
        """Gives every opponent the weight of another: all of them move by one drawn number of places."""
        return shifted(memory, rng)

    def begin(self, briefing: Briefing) -> None:
        """Starts from the population's weights.

        Raises:
            ValueError: The briefing tells no population.
            UnsupportedGameError: A world is played, an opponent has no behaviour table, or the game is too large.
        """
        self._game = briefing.game
        if not briefing.population:
            raise ValueError("thompson needs the population: put specs and weights in briefing.population")
        self._rng = agent_generator(briefing.seed)
        self._belief = OpponentBelief(briefing.game, briefing.population, TREMBLING)
        self._draw()

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Plays the best response to the drawn opponent."""
        view: View = info["view"]
        if not view.legal:  # The others ended the first episode before this seat could act.
            return 0
        self._belief.see(view)
        action = best_policy(self._game, self._drawn, view.seat, TREMBLING)[view.key]
        self._belief.act(view, action)
        return action

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Updates the posterior and draws an opponent for the next episode. The free action is 0."""
        self._belief.see(info["view"])
        self._draw()
        return 0

    def _draw(self) -> None:
        self._drawn = self._belief.opponents[self._rng.choice(len(self._belief.opponents), p=self._belief.weights)]


AGENTS.register("thompson", Thompson)
