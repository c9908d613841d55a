"""``reflexion``: reflects on failures only, and keeps the last few reflections.

Source: N. Shinn et al., Reflexion, arXiv 2303.11366: trials in a row, a verbal reflection after each failed one, one to
three of them kept.

Simplified: an episode is a trial, the environment's result is the evaluator, every episode that was not won is a
failure, a draw included, and actor and reflector are one model. Examples of reflections are not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from mage_agent.agents import AGENTS
from mage_agent.language import BUDGET, Ended, LanguageAgent
from mage_agent.memory import Memory, Mode, Passage
from mage_agent.prompting import REASONED, REFLECT, Templates
from mage_envs.opponents.base import check_range


class Reflexion(LanguageAgent):
    """A language model that reasons, reflects after failures only, and reads its last reflections."""

    name = "reflexion"
    sees: ClassVar[str] = "rules, own views, own last reflections"
    templates: ClassVar[Templates] = Templates(act=REASONED, reflect=REFLECT)
    modes: ClassVar[tuple[Mode, ...]] = ("reflection", "history+reflection")

    def __init__(self, memory: str = "reflection", memory_budget: int = BUDGET, keep: int = 3) -> None:
        """Takes what is kept of a failure, how many tokens of it a prompt may hold, and of how many failures.

        Args:
            memory: ``reflection`` or ``history+reflection``.
            memory_budget: Most tokens of memory in a prompt.
            keep: Failures that are remembered, the last ones; 1 to 100.

        Raises:
            SpecError: One of them is out of range.
        """
        super().__init__(memory, memory_budget)
        check_range("keep", keep, 1, 100)
        self._keep = keep

    async def learn(self, ended: Ended, passages: Sequence[Passage]) -> tuple[Memory, str]:
        """Keeps failures."""
        if ended.result["outcome"] == "win":
            return self.kept, ""
        memory, written = await super().learn(ended, passages)
        return memory[-self._keep :], written


AGENTS.register("reflexion", Reflexion)
