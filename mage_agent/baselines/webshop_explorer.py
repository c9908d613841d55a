"""``webshop_explorer``: as ``webshop_rerank``, but remembers what it bought and what that was worth.

It shows that a suite of replayed goals measures adaptation: it does not buy the same wrong product twice, and buys
again what won. Where goals are fresh, memory helps it nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.baselines.webshop_rerank import WebShopRerank
from mage_agent.webshop_reading import Wish, rate_title


class WebShopExplorer(WebShopRerank):
    """Looks at products that it has not lost with; goes straight to one that it won with.

    Args:
        looks: So many products are opened before one is bought, 1..3.
    """

    family = "webshop_explorer"

    def __init__(self, looks: int = 3) -> None:
        """Makes the agent; see :class:`WebShopRerank`."""
        super().__init__(looks)
        self._bought, self._instruction = "", ""
        self._worth: dict[tuple[str, str], float] = {}

    @property
    def memory(self) -> tuple[tuple[tuple[str, str], float], ...]:
        """For instruction and product, what buying it earned."""
        return tuple(self._worth.items())

    @memory.setter
    def memory(self, memory: tuple[tuple[tuple[str, str], float], ...]) -> None:
        self._worth = dict(memory)

    def shuffled(
        self, memory: tuple[tuple[tuple[str, str], float], ...], rng: np.random.Generator
    ) -> tuple[tuple[tuple[str, str], float], ...]:
        """Gives products' names out anew, so that it remembers as much, but not what happened."""
        return tuple(((text, f"B{rng.integers(10**9):09d}"), worth) for (text, _), worth in memory)

    def begin(self, briefing: Briefing) -> None:
        """Forgets everything."""
        super().begin(briefing)
        self._bought, self._instruction, self._worth = "", "", {}

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Searches, looks at products, chooses options, buys."""
        self._instruction = info["view"].facts["instruction"]
        return super().act(observation, info)

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Remembers what the purchase was worth, and says so."""
        earned = info["episode_result"]["reward"]
        said = f"Bought {self._bought}: {earned:.2f}." if self._bought else "Bought nothing."
        if self._bought:
            self._worth[self._instruction, self._bought] = 1.0 if info["episode_result"]["outcome"] == "win" else 0.0
        self._bought = ""
        super().reflect(observation, info)
        return said

    def _rate(self, wish: Wish, asin: str, title: str, tag: str) -> float:
        worth = self._worth.get((self._instruction, asin))
        return rate_title(wish, title, tag) + (0.0 if worth is None else 100.0 if worth else -100.0)

    def _buys(self, asin: str) -> None:
        self._bought = asin


AGENTS.register("webshop_explorer", WebShopExplorer)
