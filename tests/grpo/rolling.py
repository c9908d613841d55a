"""A rollout without a model: a tokenizer, an agent with short prompts, and a sampler that is a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from mage_agent.backends.base import Message
from mage_agent.backends.fake import listed_actions
from mage_agent.backends.local_chat import LocalChat
from mage_agent.grpo.rollout import Rollout
from mage_agent.grpo.samples import Task
from mage_agent.grpo.table import Conditions, Sampled
from mage_agent.language import LanguageAgent
from mage_agent.prompting import Templates
from mage_agent.tiny.tokenizer import build_tokenizer

CONTEXT = 4096
TOKENIZER: Any = build_tokenizer(CONTEXT)
CHAT = LocalChat(TOKENIZER, None, {})
END = TOKENIZER.eos_token_id


class Brief(LanguageAgent):
    """Sees the observation and its reflections, and neither rules nor how to answer."""

    templates: ClassVar[Templates] = Templates(
        system="{answer}", act="Act.", reflect="Reflect.", memory="{passages}", reflection="{text}", now="{observation}"
    )

    def __init__(self) -> None:
        super().__init__("reflection")


def user_text(prompt: Sequence[int]) -> str:
    """Returns what the last message of a prompt says."""
    return str(TOKENIZER.decode(list(prompt))).rpartition("<|user|>")[2].partition("<|end|>")[0]


def first_listed(prompt: str) -> str:
    """Takes the first action that a prompt lists; else reflects in words that tell the prompt."""
    names = listed_actions((Message("user", prompt),))
    return f"<action>{names[0]}</action>" if names else f"<remark>It took {len(prompt)} letters.</remark>"


class Scripted:
    """Replies by a function of what the last message of a prompt says.

    Attributes:
        rounds: The prompts of each call.
    """

    def __init__(self, reply: Callable[[str], str] = first_listed, most: int = 200) -> None:
        self.rounds: list[list[tuple[int, ...]]] = []
        self._reply, self._most = reply, most

    def sample(self, prompts: Sequence[Sequence[int]]) -> list[Sampled]:
        self.rounds.append([tuple(prompt) for prompt in prompts])
        written = [TOKENIZER(self._reply(user_text(prompt)))["input_ids"] + [END] for prompt in prompts]
        return [Sampled(tuple(ids[: self._most]), None) for ids in written]


def rollout(agent: Callable[[], Any] = Brief, **conditions: Any) -> Rollout:
    return Rollout(agent, CHAT, Conditions(**{"max_completion": 200, "context": CONTEXT, **conditions}))


def group(size: int = 2, seed: int = 5, opponent: str | None = "conservative", seat: int | None = 0) -> list[Task]:
    scenario = "kuhn/train" if opponent else "sokoban/train"
    return [Task(scenario, opponent, seat, seed, member) for member in range(size)]
