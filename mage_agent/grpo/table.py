"""Where the agents of all meta-episodes wait until the last of them asks; then all replies are sampled together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from mage_agent.backends.base import Completion, Message, Request
from mage_agent.backends.local_chat import LocalChat, Prompt, fit
from mage_agent.model_settings import ModelSettings, Sampling

MODEL = "policy"
"""What the model in training is called in an agent's card."""


class Sampled(NamedTuple):
    """A reply.

    Attributes:
        ids: Token ids, the end token included if the model came to it.
        logprobs: Of each token, under the policy that sampled; None if the sampler does not tell.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...] | None


class Sampler(Protocol):
    """What writes replies."""

    def sample(self, prompts: Sequence[Sequence[int]]) -> list[Sampled]:
        """Returns one reply for each prompt of token ids. No prompts: takes part in what other processes do."""


@dataclass(frozen=True)
class Conditions:
    """How meta-episodes are played: what a suite's protocol says, and the limits of the model.

    Attributes:
        episodes: N, at least 1.
        max_invalid: So many replies in a row that cannot be played lose the episode.
        stop_on_success: Whether the first win ends the meta-episode.
        legal_actions_in_prompt: Whether prompts list the legal actions.
        max_completion: Most tokens of a reply.
        context: Most tokens of prompt and reply together; None: nobody counts.
    """

    episodes: int = 3
    max_invalid: int = 3
    stop_on_success: bool = False
    legal_actions_in_prompt: bool = True
    max_completion: int = 64
    context: int | None = None


class Asked(NamedTuple):
    """A call of the model."""

    prompt_ids: tuple[int, ...]
    reply: Sampled
    cut: bool


class Table:
    """Where the agents of all meta-episodes wait until the last of them asks.

    Attributes:
        chat: Tokenizer and chat template of the model.
        conditions: How it is played.
    """

    def __init__(self, chat: LocalChat, conditions: Conditions, live: int) -> None:
        """Takes how many meta-episodes there are; made inside the event loop."""
        self.chat, self.conditions = chat, conditions
        self._live = live
        self._waiting: list[tuple[int, tuple[int, ...], asyncio.Future[Sampled]]] = []
        self._full = asyncio.Event()
        self._prompts: dict[tuple[Message, ...], Prompt] = {}
        self._look()

    def prompt(self, messages: tuple[Message, ...]) -> Prompt:
        """Renders a prompt, once: it is counted before it is sent, and members of a group begin with the same one."""
        found = self._prompts.get(messages)
        if found is None:
            found = self._prompts[messages] = self.chat.prompt(messages)
        return found

    async def ask(self, number: int, tokens: tuple[int, ...]) -> Sampled:
        """Waits for a reply."""
        reply: asyncio.Future[Sampled] = asyncio.get_running_loop().create_future()
        self._waiting.append((number, tokens, reply))
        self._look()
        return await reply

    def leave(self) -> None:
        """Says that a meta-episode is over."""
        self._live -= 1
        self._look()

    async def filled(self) -> bool:
        """Waits until all that are not over wait. Returns whether there are any."""
        await self._full.wait()
        return bool(self._waiting)

    def serve(self, sampler: Sampler) -> None:
        """Has all replies sampled, in the order of the tasks."""
        asked = sorted(self._waiting, key=lambda one: one[0])
        replies = sampler.sample([tokens for _, tokens, _ in asked])
        self._waiting.clear()
        self._full.clear()
        for (_, _, reply), sampled in zip(asked, replies, strict=True):
            reply.set_result(sampled)
        self._look()

    def _look(self) -> None:
        if len({number for number, *_ in self._waiting}) == self._live:
            self._full.set()


class Line:
    """The backend of one meta-episode's agent."""

    model, revision, counter, system_role = MODEL, "", "the model's tokenizer", True

    def __init__(self, table: Table, number: int) -> None:
        """Takes the number of the meta-episode: replies are sampled in this order."""
        self._table, self._number = table, number
        conditions = table.conditions
        self.context = conditions.context
        self.settings = ModelSettings(
            "", MODEL, context=conditions.context, sampling=Sampling(max_tokens=conditions.max_completion)
        )
        self._asked: list[Asked] = []

    async def open(self) -> None:
        """Has nothing to open."""

    async def close(self) -> None:
        """Has nothing to close."""

    async def complete(self, request: Request) -> Completion:
        """Returns a reply, sampled together with those of all other meta-episodes.

        Raises:
            FinalError: The prompt does not fit.
        """
        chat, most = self._table.chat, self._table.conditions.max_completion
        prompt = self._table.prompt(request.messages)
        fit(len(prompt.tokens), most, self.context)
        reply = await self._table.ask(self._number, prompt.tokens)
        ended = bool(reply.ids) and reply.ids[-1] in chat.ends
        self._asked.append(Asked(prompt.tokens, reply, not ended))
        return chat.completion(prompt, reply.ids, "stop" if ended else "length")

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Returns the number of tokens of a prompt, chat template included."""
        return len(self._table.prompt(tuple(messages)).tokens)

    def take(self) -> tuple[Asked, ...]:
        """Returns the calls since the last time."""
        asked, self._asked = tuple(self._asked), []
        return asked
