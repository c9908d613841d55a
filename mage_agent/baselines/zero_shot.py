"""``zero_shot``: a model that answers at once. The plainest language agent, with which all others are compared."""

from __future__ import annotations

from typing import ClassVar

from mage_agent.agents import AGENTS
from mage_agent.language import BUDGET, LanguageAgent
from mage_agent.prompting import DIRECT, REFLECT, Templates


class ZeroShot(LanguageAgent):
    """A language model that answers with an action and nothing else."""

    name = "zero_shot"
    sees: ClassVar[str] = "rules, own views"
    templates: ClassVar[Templates] = Templates(act=DIRECT, reflect=REFLECT)

    def __init__(self, memory: str = "none", memory_budget: int = BUDGET) -> None:
        """Takes what is kept of an episode, and how many tokens of it a prompt may hold.

        Args:
            memory: ``none``, ``history``, ``reflection`` or ``history+reflection``.
            memory_budget: Most tokens of memory in a prompt.
        """
        super().__init__(memory, memory_budget)


AGENTS.register("zero_shot", ZeroShot)
