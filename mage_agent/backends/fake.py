"""``fake``: a model that is a script. For tests of agents, and to try a run without any server.

``--backend fake --model first`` answers with the first legal action that the prompt lists, ``any`` with one that is
drawn by :attr:`Request.draw`, and any other name is what it always says: ``--model "<action>bet</action>"``.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from mage_agent.backends.base import BACKENDS, BackendError, Completion, Message, Request
from mage_agent.model_settings import ModelSettings
from mage_agent.prompting import Templates

Reply: TypeAlias = "str | Completion | BaseException"
"""What comes of a request: a text, all of a completion, or a fault that is raised."""
Script: TypeAlias = "Callable[[Request], Reply] | Sequence[Reply]"

_HEADING = Templates().legal.partition("{")[0]
_LISTED = re.compile(r"^- (.+)$", re.MULTILINE)


class FakeBackend:
    """Answers from a script, and remembers what it was asked.

    Attributes:
        requests: All requests so far, those included that came to a fault.
        opened: How often it was opened.
        closed: How often it was closed.
    """

    revision = "1"
    counter = "words"

    def __init__(self, script: Script, *, model: str = "fake", context: int | None = None) -> None:
        """Takes the script.

        Args:
            script: Replies in the order of the requests, or a function from a request to its reply.
            model: Name of the model.
            context: Most words of prompt and reply together; None: unknown.
        """
        self.model, self.context = model, context
        self.requests: list[Request] = []
        self.opened = self.closed = 0
        self._answer = script if callable(script) else _one_by_one(iter(script))

    async def open(self) -> None:
        """Counts."""
        self.opened += 1

    async def complete(self, request: Request) -> Completion:
        """Returns the script's reply, after a turn of the event loop.

        Raises:
            BackendError: The script is at its end.
            BaseException: The fault that the script says.
        """
        self.requests.append(request)
        await asyncio.sleep(0)
        reply = self._answer(request)
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, Completion):
            return reply
        words = len(reply.split())
        return Completion(reply, prompt_tokens=_words(request.messages), completion_tokens=words)

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Counts words, and one more for each message."""
        return _words(messages)

    async def close(self) -> None:
        """Counts."""
        self.closed += 1


def listed_actions(messages: Sequence[Message]) -> list[str]:
    """Returns the legal actions that the end of a prompt lists; none if it lists none."""
    return _LISTED.findall(messages[-1].content.rpartition(_HEADING)[2]) if _HEADING in messages[-1].content else []


def by_draw(request: Request, count: int) -> int:
    """Draws a number in ``0..count-1`` that is a function of the request's draw."""
    return int.from_bytes(hashlib.sha256(request.draw.encode()).digest()[:8], "big") % count


def _one_by_one(replies: Iterator[Reply]) -> Callable[[Request], Reply]:
    return lambda request: next(replies, BackendError("the script of the fake backend is at its end"))


def _words(messages: Sequence[Message]) -> int:
    return sum(len(message.content.split()) + 1 for message in messages)


def _first(request: Request) -> str:
    names = listed_actions(request.messages)
    return f"<action>{names[0]}</action>" if names else "Nothing to remark."


def _any(request: Request) -> str:
    names = listed_actions(request.messages)
    return f"<action>{names[by_draw(request, len(names))]}</action>" if names else f"Remark {by_draw(request, 1000)}."


def fake(settings: ModelSettings) -> FakeBackend:
    """Makes the script that the model's name says."""
    scripts = {"first": _first, "any": _any}
    script = scripts.get(settings.model, lambda request: settings.model)
    return FakeBackend(script, model=settings.model, context=settings.context)


BACKENDS.register("fake", fake)
