"""``webshop_rule``: searches for the instruction and buys the first product, whatever its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.webshop_reading import check_webshop


class WebShopRule:
    """Search, first result, Buy Now: the rule baseline of the WebShop paper, without its options."""

    name = "webshop_rule"
    oracle = False
    interface = "text"

    def __init__(self) -> None:
        """Has no parameters."""

    def begin(self, briefing: Briefing) -> None:
        """Needs nothing.

        Raises:
            UnsupportedGameError: Something else than WebShop is played.
        """
        check_webshop(briefing)

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Plays the next of three steps."""
        facts = info["view"].facts
        if facts["page"] == "results" and facts["results"]:
            return f"click[{facts['results'][0][0]}]"
        return "click[buy now]" if facts["page"] == "item" else f"search[{facts['instruction']}]"

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Has nothing to say."""
        return ""


AGENTS.register("webshop_rule", WebShopRule)
