"""An opponent that changes: one strategy before a given episode of the meta-episode, another from then on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mage_envs.games import GameSpec, View
from mage_envs.opponents import make_opponent
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, check_range
from mage_envs.spec_strings import Spec

MAX_EPISODES = 100_000


class Progress(NamedTuple):
    """Episodes that are over, and what both strategies remember: each sees every episode."""

    episodes: int
    first: Memory
    second: Memory


class Switching(Opponent):
    """Plays as ``a`` in the first ``at`` episodes of the meta-episode, and as ``b`` afterwards."""

    summary = "plays as one opponent in the first episodes of the meta-episode, and as another afterwards"
    plays = "what both play"
    tabular = False

    def __init__(self, game: GameSpec, a: str | Spec, b: str | Spec, at: int) -> None:
        """Makes both.

        Args:
            game: A game that both play.
            a: Spec of the first opponent.
            b: Spec of the second.
            at: Index of the first episode, from 0, that ``b`` plays; 1 to 100,000.

        Raises:
            ValueError: A spec names no opponent of this game, or ``at`` is out of range.
        """
        super().__init__(game)
        check_range("at", at, 1, MAX_EPISODES)
        self._first, self._second, self._at = make_opponent(a, game), make_opponent(b, game), at

    def start(self, rng: np.random.Generator) -> Progress:
        """Starts both."""
        return Progress(0, self._first.start(rng), self._second.start(rng))

    def policy(self, view: View, memory: Progress, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Asks the one whose turn it is."""
        if memory.episodes < self._at:
            distribution, first = self._first.policy(view, memory.first, rng)
            return distribution, memory._replace(first=first)
        distribution, second = self._second.policy(view, memory.second, rng)
        return distribution, memory._replace(second=second)

    def end_episode(self, view: View, memory: Progress) -> Progress:
        """Shows the episode to both."""
        first = self._first.end_episode(view, memory.first)
        return Progress(memory.episodes + 1, first, self._second.end_episode(view, memory.second))


OPPONENTS.register("switching", Switching)
