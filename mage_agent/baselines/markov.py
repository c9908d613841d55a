"""``markov``: guesses the next throw of Rock-Paper-Scissors from what followed the last throws before, and beats it.

The oldest idea for finding habits: count what comes after each pair of throws, and bet on the most frequent. Against
``cycle``, in matches of ten throws, it wins every throw from the third match on. Old counts fade, so that habits that
change are learnt anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing, agent_generator
from mage_agent.memory import shifted
from mage_envs.errors import UnsupportedGameError
from mage_envs.games import View
from mage_envs.opponents.base import check_range
from mage_envs.opponents.observed import is_rock_paper_scissors, throws_seen

Context: TypeAlias = tuple[tuple[int, int], ...]
"""The last throws, own and other's, oldest first."""
Counts: TypeAlias = tuple[float, ...]
"""How often rock, paper and scissors have followed, faded."""

_NOTHING: Counts = (0.0, 0.0, 0.0)


class Markov:
    """Counts what the other throws after the last ``order`` throws of both, over the whole meta-episode.

    Where a context has never been seen, shorter ones are asked, down to the plain frequencies; at first it throws at
    random. Equally good throws are drawn.
    """

    name = "markov"
    oracle = False
    interface = "array"

    def __init__(self, order: int = 1, decay: float = 0.95) -> None:
        """Takes the length of the context and how fast counts fade.

        Args:
            order: Throws that a guess depends on; 0 (plain frequencies) to 8.
            decay: What a context's counts are multiplied by when it is seen again; above 0, 1 never forgets.

        Raises:
            SpecError: One of them is out of range.
        """
        check_range("order", order, 0, 8)
        check_range("decay", decay, 0.01, 1.0, float)
        self._order, self._decay = order, decay
        self._counts: dict[Context, Counts] = {}
        self._last: Context = ()
        self._taken = 0
        self._rng: np.random.Generator

    @property
    def memory(self) -> tuple[Context, tuple[tuple[Context, Counts], ...]]:
        """The last throws, and the counts by context."""
        return self._last, tuple(self._counts.items())

    @memory.setter
    def memory(self, memory: tuple[Context, tuple[tuple[Context, Counts], ...]]) -> None:
        self._last, self._counts = memory[0], dict(memory[1])

    def shuffled(
        self, memory: tuple[Context, tuple[tuple[Context, Counts], ...]], rng: np.random.Generator
    ) -> tuple[Context, tuple[tuple[Context, Counts], ...]]:
        """Gives every throw the count of another one, context by context."""
        return memory[0], tuple((context, shifted(counts, rng)) for context, counts in memory[1])

    def begin(self, briefing: Briefing) -> None:
        """Forgets all counts.

        Raises:
            UnsupportedGameError: The game is not Rock-Paper-Scissors.
        """
        if not is_rock_paper_scissors(briefing.game):
            raise UnsupportedGameError(f"markov plays rock_paper_scissors only, not {briefing.game.name!r}; recall "
                                       "plays any game")  # fmt: skip
        self._rng = agent_generator(briefing.seed)
        self._counts, self._last, self._taken = {}, (), 0

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Beats the likeliest throws."""
        view: View = info["view"]
        self._learn(view)
        rock, paper, scissors = self._expected()
        gains = (scissors - paper, rock - scissors, paper - rock)
        best = [throw for throw, gain in enumerate(gains) if gain == max(gains)]
        return best[int(self._rng.random() * len(best))]

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Counts the last throw of the episode. The free action is 0."""
        self._learn(info["view"])
        self._taken = 0
        return 0

    def _expected(self) -> Counts:
        """Returns the counts of the longest context that has any."""
        for start in range(len(self._last) + 1):
            if counts := self._counts.get(self._last[start:]):
                return counts
        return _NOTHING

    def _learn(self, view: View) -> None:
        """Counts the throws of this episode that are new."""
        for own, other in throws_seen(view)[self._taken :]:
            for start in range(len(self._last) + 1):
                context = self._last[start:]
                faded = [self._decay * count for count in self._counts.get(context, _NOTHING)]
                faded[other] += 1.0
                self._counts[context] = tuple(faded)
            self._last = (*self._last, (own, other))[-self._order :] if self._order else ()
            self._taken += 1


AGENTS.register("markov", Markov)
