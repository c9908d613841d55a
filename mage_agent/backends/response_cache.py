"""A backend that remembers: the same draw of the same prompt, from the same model asked in the same way, is not sent.

Failures are never remembered. A key is the SHA-256 of everything that decides a reply, the draw included; so another
meta-episode never gets this one's reply, but a run that is played again does, and costs nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from mage_agent.backends.base import Backend, Completion, Message, Request
from mage_agent.backends.response_store import VERSION, ResponseStore
from mage_agent.model_settings import ModelSettings

_log = logging.getLogger(__name__)


class CachedBackend:
    """Answers from the store what it has, and lets another backend answer the rest.

    The file is used in one thread beside the event loop, which must not wait for another process that writes.

    Attributes:
        model: As the other backend says; so are ``revision``, ``context`` and ``counter``.
        hits: How many replies came from the store.
    """

    def __init__(self, backend: Backend, settings: ModelSettings, folder: Path) -> None:
        """Opens nothing yet.

        Args:
            backend: Who answers what is not in the store.
            settings: How that was made.
            folder: Where the store is.
        """
        self.hits = 0
        self._backend, self._settings, self._folder = backend, settings, folder
        self._store: ResponseStore | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._tell()

    async def open(self) -> None:
        """Opens the backend, and the store.

        Raises:
            BackendError: One of them cannot be opened.
        """
        await self._backend.open()
        self._tell()
        if self._store is None:
            self._store, self._thread = ResponseStore(self._folder), ThreadPoolExecutor(1, "response cache")
            if not self.revision:
                _log.info("the revision of %s is unknown: its kept replies may be an older model's", self.model)

    async def complete(self, request: Request) -> Completion:
        """Returns the reply that is in the store, else asks and keeps it.

        Raises:
            Overloaded: The server has too much to do.
            BackendError: There is no reply, or the store is damaged.
        """
        if self._store is None:
            await self.open()
        store, thread, loop = self._store, self._thread, asyncio.get_running_loop()
        assert store is not None
        key = self.key(request)
        found = await loop.run_in_executor(thread, store.get, key)
        if found is not None:
            self.hits += 1
            return found
        completion = await self._backend.complete(request)
        await loop.run_in_executor(thread, store.put, key, completion)
        return completion

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """Counts the tokens of a prompt."""
        return await self._backend.count_tokens(messages)

    async def close(self) -> None:
        """Closes both."""
        store, thread, self._store, self._thread = self._store, self._thread, None, None
        if store is not None and thread is not None:
            _log.info("%s: %d replies from %s", self.model, self.hits, store.path)
            await asyncio.get_running_loop().run_in_executor(thread, store.close)
            thread.shutdown(wait=False)  # It has nothing left to do.
        await self._backend.close()

    def key(self, request: Request) -> str:
        """Returns the key of a request: 64 hexadecimal digits, from which nothing can be read."""
        url = getattr(self._backend, "base_url", "")
        sampling = {**asdict(self._settings.sampling), "extra": dict(self._settings.sampling.extra)}
        decides = {
            "version": VERSION,
            "backend": self._settings.backend,
            "model": self.model,
            "revision": self.revision,
            "base_url": url,
            "sampling": sampling,
            "messages": request.messages,
            "draw": request.draw,
        }
        if not url and self._settings.tokenizer:  # Of a server it only counts.
            decides["tokenizer"] = self._settings.tokenizer
        content = json.dumps(decides, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(content.encode()).hexdigest()

    def _tell(self) -> None:
        backend = self._backend
        self.model, self.revision = backend.model, backend.revision
        self.context, self.counter = backend.context, backend.counter


def cached(backend: Backend, settings: ModelSettings) -> Backend:
    """Lets a backend remember if the settings say where; else returns it as it is."""
    return backend if settings.cache is None else CachedBackend(backend, settings, settings.cache)
