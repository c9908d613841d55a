"""``webshop_rerank``: reads titles and prices of the first ten results, looks at the best, and chooses options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.webshop_reading import Wish, check_webshop, choose_options, rate_options, rate_title, read_wish


class WebShopRerank:
    """Buys, of the products that it looked at, the one that fits best; remembers nothing from episode to episode.

    Args:
        looks: So many products are opened before one is bought, 1..3: more do not fit into 12 steps.
    """

    oracle = False
    interface = "text"
    family = "webshop_rerank"

    def __init__(self, looks: int = 3) -> None:
        """Makes the agent.

        Raises:
            ValueError: ``looks`` is out of range.
        """
        if looks not in (1, 2, 3):
            raise ValueError(f"looks must be 1, 2 or 3, got {looks!r}")
        self.name = self.family if looks == 3 else f"{self.family}(looks={looks})"
        self._looks = looks
        self._ratings: dict[str, float] = {}
        self._seen: dict[str, float] = {}

    def begin(self, briefing: Briefing) -> None:
        """Forgets everything.

        Raises:
            UnsupportedGameError: Something else than WebShop is played.
        """
        check_webshop(briefing)
        self._ratings, self._seen = {}, {}

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Searches, looks at products, chooses options, buys."""
        facts = info["view"].facts
        wish = read_wish(facts["instruction"])
        if facts["page"] == "results" and facts["results"]:
            self._ratings = {asin: self._rate(wish, asin, title, tag) for asin, title, tag in facts["results"]}
            return f"click[{self._next()}]"
        if facts["page"] != "item":
            return f"search[{wish.query if facts['page'] == 'results' else facts['instruction']}]"
        return self._at_product(wish, facts["product"], facts["options"], facts["chosen"])

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Forgets what was looked at."""
        self._ratings, self._seen = {}, {}
        return ""

    def _at_product(
        self, wish: Wish, asin: str, options: Mapping[str, Sequence[str]], chosen: Mapping[str, str]
    ) -> str:
        self._seen.setdefault(asin, self._ratings.get(asin, 0.0) + rate_options(wish, options))
        if self._next() != asin:
            return "click[< prev]"
        wanted = choose_options(wish, options)
        missing = next((value for name, value in wanted.items() if chosen.get(name) != value), None)
        if missing is None:
            self._buys(asin)
            return "click[buy now]"
        return f"click[{missing}]"

    def _next(self) -> str:
        """Returns the product to look at next, or, after enough looks, the best one."""
        open_ones = [asin for asin in self._ratings if asin not in self._seen]
        if len(self._seen) < self._looks and open_ones:
            return max(open_ones, key=self._ratings.__getitem__)
        return max(self._seen, key=self._seen.__getitem__)

    def _rate(self, wish: Wish, asin: str, title: str, tag: str) -> float:
        return rate_title(wish, title, tag)

    def _buys(self, asin: str) -> None:
        """Is told what is bought."""


AGENTS.register("webshop_rerank", WebShopRerank)
