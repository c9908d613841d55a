"""``reflective``: MAGE's loop without training (arXiv 2603.03680): reflections after all episodes are read."""

from __future__ import annotations

from typing import ClassVar

from mage_agent.agents import AGENTS
from mage_agent.language import BUDGET, LanguageAgent
from mage_agent.prompting import REASONED, REFLECT, Templates


class Reflective(LanguageAgent):
    """A language model that reasons, acts, writes a reflection after every episode, and reads all of them."""

    name = "reflective"
    sees: ClassVar[str] = "rules, own views, own reflections"
    templates = Templates(act=REASONED, reflect=REFLECT)

    def __init__(self, memory: str = "reflection", memory_budget: int = BUDGET) -> None:
        """Takes what is kept of an episode, and how many tokens of it a prompt may hold.

        Args:
            memory: ``none``, ``history``, ``reflection`` or ``history+reflection``.
            memory_budget: Most tokens of memory in a prompt.
        """
        super().__init__(memory, memory_budget)


AGENTS.register("reflective", Reflective)
