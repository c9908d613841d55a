"""``tiny``: MAGE's loop with a language model that comes with the package, in short prompts. Needs the extra ``agent``.

The models are Llamas of a quarter of a million parameters: ``start`` was cloned from transcripts of scripted agents of
mixed quality, ``kuhn`` and ``rps`` were trained from it. docs/tiny.md tells how, and how each can be made again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.language import BUDGET, LanguageAgent
from mage_agent.model_calls import Model
from mage_agent.prompting import Templates
from mage_agent.tiny.checkpoints import AUTO, CHOICES, SAMPLING, checkpoint_for, revision, settings_for
from mage_envs.games import GameSpec
from mage_envs.opponents.base import check_choice

TEMPLATES = Templates(
    system="{rules}\n{answer}",
    act="Answer with an action.",
    reflect="Answer with a remark.",
    memory="{passages}",
    history="Episode {number}:\n{text}",
    reflection="Remark {number}: {text}",
    steps="{passages}",
    step="{observation}\nYour answer: {answer}",
    now="{observation}",
    legal="{actions}",
    legal_action="- {name}",
    ended="{text}",
)


class Tiny(LanguageAgent):
    """A language model of a quarter of a million parameters that comes with the package, and reflects."""

    name = "tiny"
    sees: ClassVar[str] = "rules, own views, own reflections"
    templates: ClassVar[Templates] = TEMPLATES

    def __init__(self, memory: str = "reflection", memory_budget: int = BUDGET, checkpoint: str = AUTO) -> None:
        """Takes what is kept of an episode, how many tokens of it a prompt may hold, and which model plays.

        Args:
            memory: ``none``, ``history``, ``reflection`` or ``history+reflection``.
            memory_budget: Most tokens of memory in a prompt.
            checkpoint: ``start``, ``kuhn`` or ``rps``; ``auto``: the one that was trained on the game, else ``start``.
                Where a model is named (``--model``), that one plays.
        """
        super().__init__(memory, memory_budget)
        self._checkpoint = check_choice("checkpoint", checkpoint, CHOICES)
        self._own = True

    @property
    def own_model(self) -> bool:
        """Whether its own model plays, and no other was named."""
        return self._own

    def card(self) -> Mapping[str, Any]:
        """Says what a board shows: its own model goes by the name of its checkpoint, not by where it is installed."""
        if not self._own:
            return super().card()
        drawn = {"temperature": SAMPLING.temperature, "top_p": SAMPLING.top_p, "max_tokens": SAMPLING.max_tokens}
        model = {"model": f"tiny/{self._checkpoint}", "revision": revision(self._checkpoint), "sampling": drawn}
        return {**model, "memory": self.mode, "prompt_hash": self.words.hash()}

    async def begin(self, briefing: Briefing) -> None:
        """Starts a meta-episode, with the checkpoint for its game unless another model was named."""
        if self._own:
            game = briefing.spec.name if isinstance(briefing.spec, GameSpec) else ""
            name = checkpoint_for(game) if self._checkpoint == AUTO else self._checkpoint
            await self.calls.close()  # It may hold the model of another game, which it played before.
            self.calls.connect(settings_for(name))
        await super().begin(briefing)

    def connect(self, model: Model) -> None:
        """Takes another model in the place of its own."""
        self._own = False
        super().connect(model)


AGENTS.register("tiny", Tiny)
