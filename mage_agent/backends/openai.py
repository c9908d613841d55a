"""Any server that speaks OpenAI's chat completions: vLLM, Ollama, llama.cpp, ``transformers serve``, hosted ones.

The official client sends; retries are ours (:mod:`mage_agent.backends.retrying`), so that they are bounded, jittered
and obey the server, and so that one deadline holds for the whole of an answer, not for each read of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from mage_agent.backends.base import BACKENDS, BackendError, Completion, FinalError, Message, Request
from mage_agent.backends.chat_reply import NotAReplyError, read_reply
from mage_agent.backends.http_faults import model_remedy, wants_other_limit
from mage_agent.backends.openai_client import Client
from mage_agent.backends.retrying import Fault, Retrying
from mage_agent.backends.token_counts import Remembered, byte_bound, count_with, load_tokenizer
from mage_agent.model_settings import ModelSettings

CONTEXTS = ("max_model_len", "n_ctx", "context_length", "context_window", "max_context_length", "n_ctx_train")
"""What servers call the context in their lists of models: vLLM, llama.cpp, OpenRouter, Groq, LM Studio, llama.cpp."""

OURS = frozenset({"model", "messages", "stream", "n", "stop", "max_tokens", "max_completion_tokens", "temperature",
                  "top_p", "top_k"})  # fmt: skip
"""Fields of a request that ``Sampling.extra`` may not set. Stop strings are never sent: they cut thoughts."""

OPENING_RETRIES = 2
"""A server that cannot be reached at the start is a wrong address rather than a fault that passes."""

_log = logging.getLogger(__name__)


class OpenAIBackend:
    """Asks a server. One object serves one event loop at a time; closed, it can be opened in another.

    Attributes:
        model: Name of the model, as it is sent.
        revision: As the settings say; empty: unknown, since servers do not tell.
        context: Tokens of prompt and reply together; None if neither settings nor server say.
        counter: ``"tokenizer"``, ``"server"`` (vLLM's ``/tokenize``) or ``"bytes"`` (an upper bound); without a
            tokenizer in the settings it is ``"unknown"`` until the server was asked.
        base_url: Where the server is, free of secrets.
    """

    def __init__(self, settings: ModelSettings, retry: Retrying | None = None) -> None:
        """Reads the environment; connects to nothing.

        Args:
            settings: Which model, where, and how it is asked.
            retry: How faults are met; None: as the settings say.

        Raises:
            BackendError: The settings hold what cannot be sent.
        """
        if taken := OURS & dict(settings.sampling.extra).keys():
            raise BackendError(f"the extra fields of a request cannot set {min(taken)!r}: MAGE does")
        self._settings, self._client = settings, Client(settings)
        self.model, self.revision, self.context = settings.model, settings.revision, settings.context
        self.counter = "tokenizer" if settings.tokenizer else "unknown"
        self.base_url = self._client.endpoint.url
        self._retry = retry or Retrying(settings.retries)
        self._first = Retrying(min(settings.retries, OPENING_RETRIES), self._retry.sleep, self._retry.rng)
        self._limit_name = "max_tokens"
        self._opening: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        self._is_open = False
        self._remembered = Remembered(self._counted)
        self._tokenizer: Any = None

    @property
    def met(self) -> Counter[str]:
        """How many requests were sent, and how often they met which fault."""
        return self._client.met

    async def open(self) -> None:
        """Asks the server for the context, and whether it counts tokens, if that was not done yet.

        Raises:
            BackendError: It cannot be reached, it refuses the key, or the tokenizer cannot be loaded.
            Overloaded: It has too much to do.
        """
        loop = asyncio.get_running_loop()
        if self._opening is None or self._opening[0] is not loop:
            self._opening = loop, asyncio.Lock()
        async with self._opening[1]:
            if self._is_open:
                return
            listed = await self._first(self._listed)
            entry = next((entry for entry in listed or () if entry.get("id") == self.model), {})
            self.context = self.context or next(filter(None, (_size(entry, name) for name in CONTEXTS)), None)
            if self._settings.tokenizer:
                name, trusted = self._settings.tokenizer, self._settings.trust_remote_code
                self._tokenizer = await asyncio.to_thread(load_tokenizer, name, trust_remote_code=trusted)
            else:
                self.counter = await self._probed()
            _log.info("%s at %s: context %s, tokens counted by %s",
                      self.model, self.base_url, self.context or "unknown", self.counter)  # fmt: skip
            self._is_open = True

    async def complete(self, request: Request) -> Completion:
        """Returns one reply. See :class:`mage_agent.backends.base.Backend`."""
        try:
            return await self._retry(partial(self._asked, request.messages))
        except FinalError as error:
            fault = error.__cause__
            if not isinstance(fault, Fault) or fault.status != 404:
                raise
            missing = fault
        raise FinalError(f"{missing}{model_remedy(self.model, await self._names())}") from missing

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Counts the tokens of a prompt as :attr:`counter` says, chat template included.

        Raises:
            BackendError: The server, or the tokenizer, fails to count.
            Overloaded: The server has too much to do.
        """
        if not self._is_open:
            await self.open()
        return await self._remembered(messages)

    async def close(self) -> None:
        """Closes the connections, and logs what they met."""
        if self.met:
            _log.info("%s at %s: %s", self.model, self.base_url, dict(self.met))
        await self._client.close()

    async def _asked(self, messages: Sequence[Message]) -> Completion:
        """Asks once; and again at once, if the server calls a field otherwise.

        Raises:
            Fault: There is no reply.
        """
        name = self._limit_name
        try:
            body = await self._client.chat(self._fields(messages, name))
        except Fault as fault:
            if name != "max_tokens" or not wants_other_limit(fault):
                raise
            self._switch_limit()
            body = await self._client.chat(self._fields(messages, self._limit_name))
        try:
            return read_reply(body)
        except NotAReplyError as error:
            raise self._client.no_reply(error) from None  # Its words hold nothing of the body, its attribute does.

    def _switch_limit(self) -> None:
        if self._limit_name == "max_tokens":  # Others in flight find the same out.
            self._limit_name = "max_completion_tokens"
            _log.info("%s at %s refuses max_tokens: max_completion_tokens is sent", self.model, self.base_url)

    def _fields(self, messages: Sequence[Message], limit_name: str) -> dict[str, Any]:
        sampling = self._settings.sampling
        chosen = {"temperature": sampling.temperature, "top_p": sampling.top_p, limit_name: sampling.max_tokens}
        more = {} if sampling.top_k is None else {"top_k": sampling.top_k}  # Not OpenAI's: hosted servers refuse it.
        return {
            "model": self.model,
            "messages": [message._asdict() for message in messages],
            **{name: value for name, value in chosen.items() if value is not None},
            **more,
            **dict(sampling.extra),
        }

    async def _listed(self) -> list[Mapping[str, Any]] | None:
        """Returns the server's list of models, which it need not have: None.

        Raises:
            Fault: It cannot be reached, it refuses the key, or it has too much to do.
        """
        try:
            page = await self._client.page("/models")
        except Fault as fault:
            if fault.status in (0, 401) or fault.kind == "busy":
                raise
            return None
        data = page.get("data") if isinstance(page, dict) else None
        return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else None

    async def _names(self) -> list[str] | None:
        try:
            listed = await self._listed()
        except Fault:
            return None
        return None if listed is None else [str(entry.get("id")) for entry in listed]

    async def _probed(self) -> str:
        """Finds out whether the server counts tokens as vLLM does. Returns what counts."""
        try:
            await self._first(partial(self._tokenized, (Message("user", "x"),)))
        except BackendError as error:
            _log.debug("%s: %s", self.base_url, error)
            return "bytes"
        return "server"

    async def _tokenized(self, messages: Sequence[Message]) -> int:
        body = {"model": self.model, "messages": [message._asdict() for message in messages]}
        page = await self._client.page(f"{self._client.endpoint.root}/tokenize", body)
        count = _size(page, "count") if isinstance(page, dict) else None
        if count is None:
            raise Fault(f"{self.base_url}: /tokenize says no count", "final")
        self.context = self.context or _size(page, "max_model_len")
        return count

    async def _counted(self, messages: Sequence[Message]) -> int:
        if self._tokenizer is not None:
            return await asyncio.to_thread(count_with, self._tokenizer, messages)
        if self.counter == "server":
            return await self._retry(partial(self._tokenized, messages))
        return byte_bound(messages)


def _size(entry: Mapping[str, Any], name: str) -> int | None:
    """Returns a positive number of an entry of a list, or of its ``meta``, where llama.cpp has them."""
    meta = entry.get("meta")
    value = entry.get(name, meta.get(name) if isinstance(meta, dict) else None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


BACKENDS.register("openai", OpenAIBackend)
