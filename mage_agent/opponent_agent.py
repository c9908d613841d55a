"""Any opponent as an agent: it plays from the agent's views, with its own generator.

``random`` plays in worlds without action ids as well: it gives one of the listed answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from mage_agent.base import Briefing, agent_generator
from mage_envs.errors import UnsupportedControlError
from mage_envs.games import View
from mage_envs.opponents import Memory, Opponent, make_opponent, sample_index
from mage_envs.spec_strings import Spec, parse_spec
from mage_envs.worlds import World, WorldView

_PLAY_ANYTHING = ("random", "first_legal")
"""Opponents that look at the legal actions only: as agents they play in worlds, too."""

_BLANK = re.compile(r"<your \w+>")
_WORD = re.compile(r"\w+")


class OpponentAgent:
    """Plays as an opponent would, and remembers what the opponent would."""

    oracle = False
    interface = "array"

    def __init__(self, spec: str | Spec) -> None:
        """Takes the opponent's spec; the opponent is made when the game is known."""
        self.name = str(spec)
        self._spec = parse_spec(spec) if isinstance(spec, str) else spec
        self.also_text = self._spec.name == "random"
        self._nothing: int | str = 0
        self._opponent: Opponent
        self._memory: Memory
        self._rng: np.random.Generator

    def begin(self, briefing: Briefing) -> None:
        """Makes the opponent for the game, with a fresh memory and a generator from the agent's seed."""
        spec: Any = briefing.spec if self._spec.name in _PLAY_ANYTHING else briefing.game
        self._opponent = make_opponent(self._spec, spec)
        self._rng = agent_generator(briefing.seed)
        if isinstance(briefing.spec, World):
            self._nothing = 0 if "array" in briefing.spec.interfaces else ""
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

    def act(self, observation: Any, info: Mapping[str, Any]) -> int | str:
        """Samples an action id from the opponent's distribution, or an answer where there are no ids."""
        if isinstance(info["view"], WorldView) and not info["view"].legal:
            return random_answer(info["view"], self._rng)
        view: View = info["view"]
        if not view.legal:  # The others ended the first episode before this seat could act.
            return 0
        distribution, self._memory = self._opponent.policy(view, self._memory, self._rng)
        return view.legal[sample_index(distribution, self._rng.random(), view)]

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int | str:
        """Lets the opponent learn from the terminal view. The free action is 0 or empty."""
        self._memory = self._opponent.end_episode(info["view"], self._memory)
        return self._nothing


def random_answer(view: WorldView, rng: np.random.Generator) -> str:
    """Draws one of the listed answers; what it leaves blank becomes a word of what is asked for.

    Args:
        view: A view of an episode that goes on, in a world that lists answers.
        rng: Draws once, and once more for each blank.

    Returns:
        Such as ``"go to desk 1"``; for ``"search[<your words>]"`` a word of the view's ``instruction``, or of its text.
    """
    words = _WORD.findall(str(view.facts.get("instruction", view.text))) or [""]
    return _BLANK.sub(lambda _: words[int(rng.integers(len(words)))], view.names[int(rng.integers(len(view.names)))])
