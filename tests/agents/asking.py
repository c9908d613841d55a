"""A server that fails on demand, and a backend that asks it without waiting."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mage_agent.backends.base import Message, Request
from mage_agent.backends.fault_server import FaultServer, Raw
from mage_agent.backends.openai import OpenAIBackend
from mage_agent.backends.retrying import Retrying
from mage_agent.model_settings import ModelSettings

Result = TypeVar("Result")

PROMPT = (Message("system", "the rules"), Message("user", "your view\n\nYour legal actions:\n- pass\n- bet"))
REQUEST = Request(PROMPT, "1/0")
REPLY = "I take the first. <action>pass</action>"


class Pauses(list[float]):
    """Keeps how long something would have slept."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)
        await asyncio.sleep(0)


def backend(server: FaultServer, pauses: Pauses | None = None, **settings: Any) -> OpenAIBackend:
    chosen = {"model": "scripted", "base_url": server.url, "timeout": 5.0, **settings}
    made = ModelSettings("openai", **chosen)
    slept = Pauses() if pauses is None else pauses
    return OpenAIBackend(made, Retrying(made.retries, slept, random.Random(0)))


def using(
    server: FaultServer,
    use: Callable[[OpenAIBackend], Awaitable[Result]],
    pauses: Pauses | None = None,
    **settings: Any,
) -> Result:
    """Makes a backend, uses it, closes it."""

    async def go() -> Result:
        made = backend(server, pauses, **settings)
        try:
            return await use(made)
        finally:
            await made.close()

    return asyncio.run(go())


def chats(server: FaultServer) -> int:
    return sum(server.counts.values())


def raw(status: int, content: Any, **headers: str) -> Raw:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Raw(status, body, {"Content-Type": "application/json", **headers})


def refusal(status: int, message: str, **more: Any) -> Raw:
    return raw(status, {"error": {"message": message, **more}})
