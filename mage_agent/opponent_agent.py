"""Any opponent as an agent: it plays from the agent's views, with its own generator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mage_agent.base import Briefing, agent_generator
from mage_envs.errors import UnsupportedControlError
from mage_envs.games import View
from mage_envs.opponents import Memory, Opponent, make_opponent, sample_index
from mage_envs.spec_strings import Spec, parse_spec

_PLAY_ANYTHING = ("random", "first_legal")
"""Opponents that look at the legal actions only: as agents they play in worlds, too."""


class OpponentAgent:
    """Plays as an opponent would, and remembers what the opponent would."""

    oracle = False
    interface = "array"

    def __init__(self, spec: str | Spec) -> None:
        """Takes the opponent's spec; the opponent is made when the game is known."""
        self.name = str(spec)
        self._spec = parse_spec(spec) if isinstance(spec, str) else spec
        self._opponent: Opponent
        self._memory: Memory
        self._rng: np.random.Generator

    def begin(self, briefing: Briefing) -> None:
        """Makes the opponent for the game, with a fresh memory and a generator from the agent's seed."""
        spec: Any = briefing.spec if self._spec.name in _PLAY_ANYTHING else briefing.game
        self._opponent = make_opponent(self._spec, spec)
        self._rng = agent_generator(briefing.seed)
        self._memory = self._opponent.start(self._rng)

    @property
    def memory(self) -> tuple[Memory] | None:
        """What the opponent remembers; None if it is one that remembers nothing."""
        kind = type(self._opponent)
        remembers = kind.start is not Opponent.start or kind.end_episode is not Opponent.end_episode
        return (self._memory,) if remembers else None

    @memory.setter
    def memory(self, memory: tuple[Memory]) -> None:
        (self._memory,) = memory

    def shuffled(self, memory: tuple[Memory], rng: np.random.Generator) -> tuple[Memory]:
        """Refuses: what an opponent remembers has no parts that all opponents share.

        Raises:
            UnsupportedControlError: Always.
        """
        raise UnsupportedControlError(f"{self.name} is an opponent, and nothing says how to shuffle what it remembers")

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Samples an action id from the opponent's distribution."""
        view: View = info["view"]
        if not view.legal:  # The others ended the first episode before this seat could act.
            return 0
        distribution, self._memory = self._opponent.policy(view, self._memory, self._rng)
        return view.legal[sample_index(distribution, self._rng.random(), view)]

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Lets the opponent learn from the terminal view. The free action is 0."""
        self._memory = self._opponent.end_episode(info["view"], self._memory)
        return 0
