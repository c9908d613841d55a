"""``change_point``: Thompson sampling that reckons with an opponent that changes.

Source: the fixed-share filter, M. Herbster and M. K. Warmuth, Machine Learning 32, 1998: after each episode a share of
all belief goes back to the prior, as if the opponent had been drawn anew with that probability. What it has seen many
episodes ago then counts less and less. With a share of 0 it never expects a change, and is slow to believe in one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.baselines.thompson import Thompson
from mage_envs.opponents.base import check_range
from mage_envs.spec_strings import parse_spec


class ChangePoint(Thompson):
    """Believes in one of the strategies that the population is made of, and in a change with probability ``hazard``.

    An opponent ``switching(a, b, at)`` is two strategies to it, each with half of its weight; ``at`` is not used.
    """

    name = "change_point"

    def __init__(self, hazard: float = 0.1) -> None:
        """Takes the probability of a change.

        Args:
            hazard: Probability that the opponent is drawn anew before an episode; 0 to 1.

        Raises:
            SpecError: ``hazard`` is out of range.
        """
        super().__init__()
        check_range("hazard", hazard, 0.0, 1.0, float)
        self._hazard = hazard

    def begin(self, briefing: Briefing) -> None:
        """Starts from the strategies of the population.

        Raises:
            ValueError: The briefing tells no population.
            UnsupportedGameError: A strategy has no behaviour table, or the game is too large.
        """
        super().begin(replace(briefing, population=strategies(briefing.population)))
        self._prior = self._belief.weights

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Updates the belief, gives a share of it back, and draws a strategy. The free action is 0."""
        self._belief.see(info["view"])
        self._belief.weights = (1.0 - self._hazard) * self._belief.weights + self._hazard * self._prior
        self._draw()
        return 0


def strategies(population: tuple[tuple[str, float], ...]) -> tuple[tuple[str, float], ...]:
    """Takes the switching opponents of a population apart.

    >>> strategies((("switching(a=aggressive, b=cfr, at=4)", 0.5), ("cfr", 0.5)))
    (('aggressive', 0.25), ('cfr', 0.75))
    """
    found: dict[str, float] = {}
    for text, weight in population:
        spec = parse_spec(text)
        parts = [text]
        if spec.name == "switching":
            named = dict(spec.kwargs)
            parts = [str(named["a"]), str(named["b"])]
        for part in parts:
            found[part] = found.get(part, 0.0) + weight / len(parts)
    return tuple(found.items())


AGENTS.register("change_point", ChangePoint)
