"""``reflective``: MAGE's loop without training (arXiv 2603.03680).

It reasons and acts; after every episode it writes a reflection; every prompt of a later episode holds all of them. With
another ``memory`` it is the ablation of LaMer (arXiv 2512.16848): the course of episodes, reflections, or both.
"""

from __future__ import annotations

from typing import ClassVar

from mage_agent.agents import AGENTS
from mage_agent.language import BUDGET, LanguageAgent
from mage_agent.prompting import REASONED, REFLECT, Templates


class Reflective(LanguageAgent):
    """A language model that reasons, reflects after every episode, and reads all its reflections."""

    name = "reflective"
    sees: ClassVar[str] = "rules, own views, own reflections"
    templates: ClassVar[Templates] = Templates(act=REASONED, reflect=REFLECT)

    def __init__(self, memory: str = "reflection", memory_budget: int = BUDGET) -> None:
        """Takes what is kept of an episode, and how many tokens of it a prompt may hold.

        Args:
            memory: ``none``, ``history``, ``reflection`` or ``history+reflection``.
            memory_budget: Most tokens of memory in a prompt.
        """
        super().__init__(memory, memory_budget)


AGENTS.register("reflective", Reflective)
