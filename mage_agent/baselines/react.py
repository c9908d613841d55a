"""``react``: reasons, then acts, and begins every episode anew.

Source: S. Yao et al., ReAct, arXiv 2210.03629, as the MAGE paper's table has it: no memory between episodes.

Simplified: the reasoning and the action are one reply, without examples of how to reason, and the reasoning of earlier
decisions is not shown again.
"""

from __future__ import annotations

from typing import ClassVar

from mage_agent.agents import AGENTS
from mage_agent.language import BUDGET, LanguageAgent
from mage_agent.prompting import REASONED, REFLECT, Templates


class React(LanguageAgent):
    """A language model that reasons, then acts, and keeps nothing of earlier episodes."""

    name = "react"
    sees: ClassVar[str] = "rules, own views"
    templates: ClassVar[Templates] = Templates(act=REASONED, reflect=REFLECT)

    def __init__(self, memory: str = "none", memory_budget: int = BUDGET) -> None:
        """Takes what is kept of an episode, and how many tokens of it a prompt may hold.

        Args:
            memory: ``none``, ``history``, ``reflection`` or ``history+reflection``.
            memory_budget: Most tokens of memory in a prompt.
        """
        super().__init__(memory, memory_budget)


AGENTS.register("react", React)
