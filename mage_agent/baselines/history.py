"""``history``: learns in context, from all earlier episodes as they went. Nothing is written about them.

What an agent can do without reflecting: the row "history" of LaMer's ablation (arXiv 2512.16848).
"""

from __future__ import annotations

from typing import ClassVar

from mage_agent.agents import AGENTS
from mage_agent.language import LanguageAgent
from mage_agent.memory import Mode
from mage_agent.prompting import REASONED, Templates

LONG = 16_384
"""Tokens of memory in a prompt: the whole of some dozens of short episodes."""


class History(LanguageAgent):
    """A language model that reasons, and reads all earlier episodes as they went."""

    name = "history"
    sees: ClassVar[str] = "rules, own views, own earlier episodes"
    templates: ClassVar[Templates] = Templates(act=REASONED)
    modes: ClassVar[tuple[Mode, ...]] = ("history",)

    def __init__(self, memory: str = "history", memory_budget: int = LONG) -> None:
        """Takes how many tokens of earlier episodes a prompt may hold.

        Args:
            memory: ``history``.
            memory_budget: Most tokens of memory in a prompt.
        """
        super().__init__(memory, memory_budget)


AGENTS.register("history", History)
