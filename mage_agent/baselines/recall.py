"""``recall``: remembers how each action turned out, repeats what won, and avoids what lost.

Every-visit Monte Carlo averages (R. Sutton and A. Barto, Reinforcement Learning, 2018, section 5.1), acted on greedily,
with 0 for what was never tried: a result above 0 is repeated, one below 0 makes it try something else. Against
``pattern(order=rows)`` in Tic-Tac-Toe it repeats its first win in every later episode. It plays any game.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing, agent_generator
from mage_envs.games import View
from mage_envs.opponents import Distribution, Opponent, make_opponent
from mage_envs.spec_strings import Spec


class Choice(NamedTuple):
    """An action at a view of a seat."""

    seat: int
    view: str
    action: int


class Results(NamedTuple):
    """How episodes ended in which a choice was made: their number, and the sum of their scores."""

    times: int
    total: float


Remembered: TypeAlias = tuple[tuple[Choice, Results], ...]


class Recall:
    """Takes the action with the best mean score so far; among equally good ones, it plays as ``base`` does."""

    name = "recall"
    oracle = False
    interface = "array"

    def __init__(self, base: str | Spec = "random") -> None:
        """Takes who plays where nothing is remembered.

        Args:
            base: Spec of an opponent that plays the game and itself remembers nothing.
        """
        self._spec = base
        self._base: Opponent
        self._rng: np.random.Generator
        self._results: dict[Choice, Results] = {}
        self._made: list[Choice] = []

    @property
    def memory(self) -> Remembered:
        """All choices that were made, with their results."""
        return tuple(self._results.items())

    @memory.setter
    def memory(self, memory: Remembered) -> None:
        self._results = dict(memory)

    def shuffled(self, memory: Remembered, rng: np.random.Generator) -> Remembered:
        """Gives the results out to the choices at random."""
        order = rng.permutation(len(memory)).tolist()
        return tuple((choice, memory[other][1]) for (choice, _), other in zip(memory, order, strict=True))

    def begin(self, briefing: Briefing) -> None:
        """Makes the base player, and forgets everything.

        Raises:
            UnsupportedGameError: The base player does not play this game.
            SpecError: The base player's spec is bad.
        """
        self._base = make_opponent(self._spec, briefing.game)
        self._rng = agent_generator(briefing.seed)
        self._results, self._made = {}, []

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Plays the best that it knows."""
        view: View = info["view"]
        distribution, _ = self._base.policy(view, self._base.start(self._rng), self._rng)
        chosen = self._choose(view, distribution)
        self._made.append(chosen)
        return chosen.action

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Writes the episode's score to all choices that were made in it. The free action is 0."""
        score = float(info["episode_result"]["reward"])
        for choice in dict.fromkeys(self._made):
            times, total = self._results.get(choice, Results(0, 0.0))
            self._results[choice] = Results(times + 1, total + score)
        self._made = []
        return 0

    def _choose(self, view: View, base: Distribution) -> Choice:
        choices = [Choice(view.seat, view.key, action) for action in view.legal]
        means = [self._mean(choice) for choice in choices]
        weights = np.array([p if mean == max(means) else 0.0 for p, mean in zip(base, means, strict=True)])
        if not weights.any():  # The base player would never do what is best.
            weights = np.array([float(mean == max(means)) for mean in means])
        return choices[int(self._rng.choice(len(choices), p=weights / weights.sum()))]

    def _mean(self, choice: Choice) -> float:
        results = self._results.get(choice)
        return results.total / results.times if results else 0.0


AGENTS.register("recall", Recall)
