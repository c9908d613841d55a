"""``sokoban_explorer``: a greedy player that remembers which pushes it made in episodes that it lost.

It shows that a suite of replayed rooms measures adaptation: without any look ahead it wins more of the third episodes
than of the first, since it does not make the same mistake twice. Where rooms are fresh, memory helps it nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.baselines.sokoban_greedy import SokobanGreedy
from mage_agent.sokoban_pushes import Push
from mage_envs.worlds import WorldView


class Made(NamedTuple):
    """A push that was made: where, which box, and whereto."""

    room: str
    box: int
    heading: int


class SokobanExplorer(SokobanGreedy):
    """Makes the greedy push among those that it lost with least often; repeats what it won with."""

    name = "sokoban_explorer"

    def __init__(self) -> None:
        """Has no parameters."""
        super().__init__()
        self._lost: Counter[Made] = Counter()
        self._won: dict[str, Made] = {}
        self._made: list[Made] = []

    @property
    def memory(self) -> tuple[tuple[tuple[Made, int], ...], tuple[Made, ...]]:
        """The pushes it lost with, and how often; the pushes that it won with."""
        return tuple(self._lost.items()), tuple(self._won.values())

    @memory.setter
    def memory(self, memory: tuple[tuple[tuple[Made, int], ...], tuple[Made, ...]]) -> None:
        self._lost, self._won = Counter(dict(memory[0])), {made.room: made for made in memory[1]}

    def shuffled(
        self, memory: tuple[tuple[tuple[Made, int], ...], tuple[Made, ...]], rng: np.random.Generator
    ) -> tuple[tuple[tuple[Made, int], ...], tuple[Made, ...]]:
        """Gives the headings out to the pushes at random, so that it remembers as much, but not what happened."""
        made = [*(each for each, _ in memory[0]), *memory[1]]
        turned = [each._replace(heading=int(rng.integers(4))) for each in made]
        lost, won = turned[: len(memory[0])], turned[len(memory[0]) :]
        return tuple((each, times) for each, (_, times) in zip(lost, memory[0], strict=True)), tuple(won)

    def begin(self, briefing: Briefing) -> None:
        """Forgets everything."""
        super().begin(briefing)
        self._lost, self._won, self._made = Counter(), {}, []

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Remembers how the pushes of the episode turned out. The free action is 0."""
        if info["episode_result"]["outcome"] == "win":
            self._won.update({made.room: made for made in self._made})
        else:
            self._lost.update(set(self._made))
        self._made = []
        return super().reflect(observation, info)

    def _choose(self, view: WorldView, found: list[Push]) -> Push:
        """Chooses a push; of those that it lost with equally often, a greedy one."""
        room, won = view.key, self._won.get(view.key)
        made = {push: Made(room, push.box, push.heading) for push in found}
        least = min(self._lost[each] for each in made.values())
        among = [push for push in found if self._lost[made[push]] == least]
        if won is not None:
            among = [push for push in found if made[push] == won] or among
        chosen = self._one_of_the_best(among)
        self._made.append(made[chosen])
        return chosen


AGENTS.register("sokoban_explorer", SokobanExplorer)
