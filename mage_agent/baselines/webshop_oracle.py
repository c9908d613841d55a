"""``webshop_oracle``: knows the goals of the shop, and buys what meets the one that the instruction words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.webshop_reading import check_webshop
from mage_envs.worlds.webshop import WebShop


class WebShopOracle:
    """Looks the instruction up among the shop's goals: its scores are the ceiling."""

    name = "webshop_oracle"
    oracle = True
    interface = "text"

    def __init__(self) -> None:
        """Has no parameters."""
        self._world: WebShop

    def begin(self, briefing: Briefing) -> None:
        """Takes the shop.

        Raises:
            UnsupportedGameError: Something else than WebShop is played.
        """
        self._world = check_webshop(briefing)

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Searches for the product by its title, opens it, chooses the options, buys."""
        facts = info["view"].facts
        goal = self._world.shop.goal(self._find(facts["instruction"]))
        if facts["page"] == "results":
            there = any(asin == goal.asin for asin, _, _ in facts["results"])
            return f"click[{goal.asin if there else 'next >'}]"
        if facts["page"] != "item":
            return f"search[{goal.title}]"
        missing = [value for value in goal.wanted if value not in facts["chosen"].values()]
        offered = [value for value in missing if f"click[{value}]" in info["legal_actions"]]
        return f"click[{offered[0]}]" if offered else "click[buy now]"

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Has nothing to say."""
        return ""

    def _find(self, instruction: str) -> int:
        """Returns a goal of that wording; of several, one whose product meets the others best."""
        shop = self._world.shop
        same = self._world.worded(instruction)
        return max(same, key=lambda at: sum(shop.reward(other, *_purchase(shop.goal(at))) for other in same))


def _purchase(goal: Any) -> tuple[str, dict[str, str]]:
    return goal.asin, dict(each for each in goal.options if not isinstance(each, str))


AGENTS.register("webshop_oracle", WebShopOracle)
