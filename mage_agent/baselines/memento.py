"""``memento``: a bank of cases; the most similar ones are shown.

Source: H. Zhou et al., Memento, arXiv 2508.16153, the variant with non-parametric retrieval: cases (state, action,
result), of which the K most similar to the present state are read; K = 4 was the best there.

Simplified: there is no planner and there are no tools; a case is one decision, with how its episode ended; retrieval
compares texts by TF-IDF (:mod:`mage_agent.similarity`), no neural embedding; the bank is empty when a meta-episode
begins. The model writes no reflection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mage_agent.agents import AGENTS
from mage_agent.language import BUDGET, Ended, LanguageAgent
from mage_agent.memory import Memory, Passage, shuffled_words
from mage_agent.prompting import REASONED, Templates
from mage_agent.similarity import most_similar
from mage_envs.opponents.base import check_range


class Case(NamedTuple):
    """A decision and what came of it.

    Attributes:
        state: What the agent was shown.
        action: Its answer.
        result: How the episode ended, in the environment's words.
    """

    state: str
    action: str
    result: str


@dataclass(frozen=True)
class CaseTemplates(Templates):
    """The words, with one more: ``case``, with ``{state}``, ``{action}`` and ``{result}``."""

    memory: str = "Situations of earlier episodes that are like the one now, the most similar last:\n\n{passages}"
    history: str = ""
    reflection: str = ""
    case: str = "{state}\nYour answer: {action}\nHow it ended: {result}"


class Memento(LanguageAgent):
    """A language model that reasons, and reads the most similar situations of earlier episodes, with results."""

    name = "memento"
    sees: ClassVar[str] = "rules, own views, own similar cases"
    keeps: ClassVar[str] = "cases"
    templates: ClassVar[CaseTemplates] = CaseTemplates(act=REASONED)

    def __init__(self, top: int = 4, memory_budget: int = BUDGET) -> None:
        """Takes how many cases are read, and how many tokens of them a prompt may hold.

        Args:
            top: Cases in a prompt, at most; 1 to 100.
            memory_budget: Most tokens of memory in a prompt; the least similar case is left out first.

        Raises:
            SpecError: One of them is out of range.
        """
        super().__init__("history", memory_budget)
        check_range("top", top, 1, 100)
        self._top = top

    def recall(self, observation: str, info: Mapping[str, Any]) -> Sequence[Passage]:
        """Returns the most similar cases, the most similar last."""
        cases: tuple[Case, ...] = self.kept
        places = most_similar(observation, [case.state for case in cases], self._top)
        return [Passage("reflection", self.templates.case.format(**cases[place]._asdict())) for place in places]

    async def learn(self, ended: Ended, passages: Sequence[Passage]) -> tuple[Memory, str]:
        """Adds every decision of the episode to the bank."""
        result = ended.end.rpartition("\n")[2]
        return (*self.kept, *(Case(step.observation, step.answer, result) for step in ended.steps)), ""

    def shuffled(self, memory: Memory, rng: np.random.Generator) -> Memory:
        """Shuffles the words of every state, and gives actions and results to cases at random."""
        order = rng.permutation(len(memory)).tolist()
        return tuple(
            Case(shuffled_words(case.state, rng), *memory[other][1:]) for case, other in zip(memory, order, strict=True)
        )


AGENTS.register("memento", Memento)
