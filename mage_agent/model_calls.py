"""An agent's calls of its model in one meta-episode: draws, what they came to, and what is kept of them."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, TypeAlias

from mage_agent.backends.base import Backend, Completion, Message, Request, without_system
from mage_agent.backends.shared import Lease, shared_backend
from mage_agent.base import Briefing, RecordCall, Usage
from mage_agent.model_settings import ModelSettings, Price
from mage_envs.errors import MageError

Model: TypeAlias = "ModelSettings | Backend"
"""Settings, whose backend all agents of a process share; or a backend, which its owner opens and closes."""


class ModelCalls:
    """Asks the model for one agent. Made once; :meth:`begin` starts a meta-episode."""

    def __init__(self) -> None:
        """Has no model yet."""
        self._model: Model | None = None
        self._lease: Lease | None = None
        self._record: RecordCall | None = None
        self._start(0)

    def connect(self, model: Model) -> None:
        """Says which model is asked."""
        self._model = model

    @property
    def settings(self) -> ModelSettings:
        """How the model is asked.

        Raises:
            MageError: There is no model.
        """
        if self._model is None:
            raise MageError(
                "a language agent needs a model: name it with --backend and --model, or make_agent(spec, model=...)"
            )
        if isinstance(self._model, ModelSettings):
            return self._model
        told: ModelSettings | None = getattr(self._model, "settings", None)
        return told or ModelSettings("", self._model.model, self._model.revision)

    def card(self) -> dict[str, Any]:
        """Returns what a card says of the model; nothing without one."""
        if self._model is None:
            return {}
        settings = self.settings
        sampling = {name: value for name, value in asdict(settings.sampling).items() if value not in (None, ())}
        if settings.sampling.extra:
            sampling["extra"] = dict(settings.sampling.extra)
        if not settings.system_role:
            sampling["system_role"] = False
        return {"model": settings.model, "revision": settings.revision, "sampling": sampling}

    def begin(self, briefing: Briefing) -> None:
        """Starts a meta-episode.

        Raises:
            MageError: There is no model.
        """
        assert self.settings
        self._record = briefing.record_call
        self._start(briefing.seed)

    async def backend(self) -> Backend:
        """Returns the backend, open.

        Raises:
            BackendError: It cannot be opened.
        """
        if self._model is not None and not isinstance(self._model, ModelSettings):
            return self._model
        if self._lease is None or self._lease.loop is not asyncio.get_running_loop():
            self._lease = shared_backend(self.settings)
        return await self._lease.open()

    def as_sent(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Returns a prompt in the roles that the model knows, as the settings say."""
        return messages if self.settings.system_role else without_system(messages)

    @contextmanager
    def method(self) -> Iterator[None]:
        """Surrounds a method of the agent that may be called again because the server has too much to do.

        What was answered before the server was busy is not asked again: the same method gets the same answers.
        """
        self._cursor = 0
        yield
        self._answered.clear()

    async def ask(self, messages: tuple[Message, ...], *, shortened: bool = False) -> Completion:
        """Asks the model once.

        Args:
            messages: The prompt.
            shortened: Whether memory was left out of it.

        Raises:
            Overloaded: The server has too much to do; nothing has changed.
            BackendError: There is no reply.
        """
        if self._cursor == len(self._answered):
            backend = await self.backend()
            request = Request(messages, f"{self._seed}/{self._calls}")
            completion = await backend.complete(request)
            completion = completion._replace(text=_encodable(completion.text))
            self._answered.append(completion)
            self._count(request, completion, shortened)
        self._cursor += 1
        return self._answered[self._cursor - 1]

    def usage(self) -> Usage:
        """Returns what the calls since :meth:`begin` came to."""
        return Usage(
            calls=self._calls,
            prompt_tokens=self._tokens[0],
            completion_tokens=self._tokens[1],
            cost=_cost(self._tokens, self.settings.price if self._model is not None else None),
            memory_truncated=self._shortened,
            prompts=self._prompts.hexdigest() if self._calls else "",
        )

    async def close(self) -> None:
        """Gives the backend back. It is taken anew if the agent goes on."""
        lease, self._lease = self._lease, None
        if lease is not None:
            await lease.close()

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._calls = self._shortened = self._cursor = 0
        self._tokens: tuple[int | None, int | None] = (0, 0)
        self._prompts = hashlib.sha256()
        self._answered: list[Completion] = []

    def _count(self, request: Request, completion: Completion, shortened: bool) -> None:
        self._calls += 1
        self._shortened += shortened
        prompt, written = self._tokens
        self._tokens = (_sum(prompt, completion.prompt_tokens), _sum(written, completion.completion_tokens))
        self._prompts.update(json.dumps(request.messages).encode() + b"\n")
        if self._record is not None:
            prompt_said = [message._asdict() for message in request.messages]
            reply = {name: value for name, value in completion._asdict().items() if name != "cached"}
            self._record({"draw": request.draw, "prompt": prompt_said, "reply": reply})


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _cost(tokens: tuple[int | None, int | None], price: Price | None) -> float | None:
    prompt, written = tokens
    if price is None or prompt is None or written is None:
        return None
    return (prompt * price.prompt + written * price.completion) / 1e6


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # Half a surrogate pair could be sent to no server.
