"""What a backend is: it turns chat messages into one reply of a model. Asynchronous; nothing here needs a dependency.

A backend file in this room registers ``factory(settings) -> Backend`` and imports what is heavy only inside functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from mage_envs.errors import MageError
from mage_envs.registry import Registry

if TYPE_CHECKING:
    from mage_agent.model_settings import ModelSettings

Role: TypeAlias = Literal["system", "user", "assistant"]
Finish: TypeAlias = Literal["stop", "length", "cut", "other"]

CUT: frozenset[Finish] = frozenset({"length", "cut"})
"""Ends of a reply that is not whole, and so is never a move."""


class Message(NamedTuple):
    """One chat message."""

    role: Role
    content: str


def without_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Returns a prompt for a model that knows no role ``system``: its words stand before those of the next message.

    >>> [message.content.split() for message in without_system([Message("system", "Rules."), Message("user", "Go.")])]
    [['Rules.', 'Go.']]
    """
    kept: list[Message] = []
    words: list[str] = []
    for message in messages:
        words.append(message.content)
        if message.role != "system":
            kept.append(Message(message.role, "\n\n".join(words)))
            words = []
    return (*kept, Message("user", "\n\n".join(words))) if words else tuple(kept)


class Request(NamedTuple):
    """What a model is asked.

    Attributes:
        messages: The whole prompt, at least one message.
        draw: Names this draw among all draws that might have the same prompt: which meta-episode, which of its calls.
            The same draw of the same prompt may be answered from a cache, and seeds sampling where a backend samples
            itself; another draw never shares either.
    """

    messages: tuple[Message, ...]
    draw: str


class Completion(NamedTuple):
    """What a model answered.

    Attributes:
        text: The reply as it came, thoughts in tags included; empty if there was none.
        reasoning: Thoughts that the server gave apart from the reply; empty if none.
        finish: ``"stop"``: the model ended it; ``"length"``: it was cut at the limit of tokens; ``"cut"``: something
            else cut it, such as a filter; ``"other"``: nobody said.
        prompt_tokens: Tokens that the model read; None if unknown.
        completion_tokens: Tokens that it wrote, thoughts included; None if unknown.
        cached: Whether it came from the response cache.
    """

    text: str
    reasoning: str = ""
    finish: Finish = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached: bool = False


class BackendError(MageError):
    """A backend gave no reply, and trying again did not help. Never a move: the meta-episode is an ``error``."""


class FinalError(BackendError):
    """The same request will never get a reply: it is too long, refused, or for a model that is not there."""


class Backend(Protocol):
    """A model that can be asked. One object serves one event loop; many requests are in flight at once.

    Attributes:
        model: Name of the model, as boards say it.
        revision: Revision or fingerprint of its weights; empty if unknown.
        context: Most tokens of prompt and reply together; None if unknown. Known after :meth:`open`.
        counter: How :meth:`count_tokens` counts, in a word or two: for the card of an agent.

    An attribute ``system_role`` is optional: False where the backend found out that the model knows no system messages,
    and puts their words before the user's. So is ``settings``: the ModelSettings that it was opened with, which say how
    long a reply may get.
    """

    model: str
    revision: str
    context: int | None
    counter: str

    async def open(self) -> None:
        """Connects, or loads the model, if that was not done yet.

        Raises:
            BackendError: It cannot; the message names the remedy.
        """

    async def complete(self, request: Request) -> Completion:
        """Returns one reply.

        Raises:
            Overloaded: The server has too much to do, and said so repeatedly.
            BackendError: There is no reply.
        """

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Counts the tokens of a prompt, chat template included, with the model's tokenizer; else an upper bound."""

    async def close(self) -> None:
        """Lets go of connections and memory. Closing twice is fine."""


BackendFactory: TypeAlias = "Callable[[ModelSettings], Backend]"

BACKENDS: Registry[BackendFactory] = Registry("backend", package="mage_agent.backends")
"""Backend files register ``factory(settings)`` here: ``openai``, ``transformers``, ``vllm``, ``fake``."""
