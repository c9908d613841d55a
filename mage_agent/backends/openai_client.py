"""The official OpenAI client, held so that every failure is a :class:`Fault` and no failure carries a secret."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from mage_agent.backends.base import BackendError
from mage_agent.backends.chat_reply import NotAReplyError
from mage_agent.backends.endpoint import HOSTED, Endpoint
from mage_agent.backends.http_faults import http_fault
from mage_agent.backends.retrying import Fault
from mage_agent.model_settings import ModelSettings

if TYPE_CHECKING:
    import openai

PAGE_SECONDS = 10.0
"""Deadline for a page that a server need not have."""


class Client:
    """Sends requests, one try each. One object serves one event loop at a time.

    Attributes:
        endpoint: Where to.
        met: How many requests were sent, and what faults they met.
    """

    def __init__(self, settings: ModelSettings) -> None:
        """Reads the environment; connects to nothing.

        Raises:
            BackendError: The base URL is none.
        """
        try:
            self.endpoint = Endpoint(settings)
        except ValueError as error:
            raise BackendError(str(error)) from error
        self.met: Counter[str] = Counter()
        self._settings = settings
        self._client: openai.AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def chat(self, fields: Mapping[str, Any]) -> Any:
        """Asks for a chat completion.

        Args:
            fields: Of the request's body.

        Returns:
            The body of the answer, whatever JSON it is.

        Raises:
            Fault: There is none.
            BackendError: There is no client, or no key.
        """
        # Not chat.completions.create: to check each message against its types costs as much as all the rest.
        post = self._connected().post
        return await self._sent(partial(post, "/chat/completions", cast_to=object, body=fields), self._settings.timeout)

    async def page(self, url: str, body: Mapping[str, Any] | None = None) -> Any:
        """Gets a page of JSON; with a body, posts it.

        Raises:
            Fault: There is no such page, or it is not JSON.
            BackendError: There is no client, or no key.
        """
        client = self._connected()
        # A connection that is not kept: these pages are asked for before a run too, in loops that end soon.
        options: Any = {"headers": {"Connection": "close"}}
        if body is None:
            return await self._sent(partial(client.get, url, cast_to=object, options=options), PAGE_SECONDS)
        return await self._sent(partial(client.post, url, cast_to=object, body=body, options=options), PAGE_SECONDS)

    async def close(self) -> None:
        """Closes the connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    def _connected(self) -> openai.AsyncOpenAI:
        """Returns the client of the running loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = self._new_client(), loop
        return self._client

    def _new_client(self) -> openai.AsyncOpenAI:
        try:
            import openai
        except ImportError as error:
            raise BackendError("the backend openai needs its client: pip install 'mage-envs[openai]'") from error
        if self.endpoint.url.startswith(HOSTED) and not self.endpoint.has_key:
            raise BackendError(
                f"no key: set the environment variable {self.endpoint.key_variable}, or give the base URL of a server"
            )
        limits = type(openai.DEFAULT_CONNECTION_LIMITS)(max_connections=None, max_keepalive_connections=None)
        return openai.AsyncOpenAI(
            api_key=self.endpoint.key,
            base_url=self.endpoint.url,
            default_headers=self.endpoint.headers,
            max_retries=0,
            timeout=self._settings.timeout,
            http_client=openai.DefaultAsyncHttpxClient(limits=limits),  # The harness limits what is in flight.
        )

    async def _sent(self, send: Callable[[], Awaitable[Any]], seconds: float) -> Any:
        """Makes one try.

        Raises:
            Fault: It failed. Its cause and context are empty: other errors quote bodies, headers and addresses, and
                with them keys, and a log of the failure would print them.
        """
        import openai

        self.met["sent"] += 1
        try:
            async with asyncio.timeout(seconds):
                return await send()
        except openai.APIStatusError as error:
            fault = self.http_fault(error.status_code, error.response.headers, error.response.text)
        except (TimeoutError, openai.APITimeoutError):
            self.met["timeout"] += 1
            fault = Fault(f"{self.endpoint.url}: no whole answer within {seconds:g} s", "passing")
        except openai.APIConnectionError as error:
            self.met["connection"] += 1
            cause = error.__cause__ or error
            said = self.endpoint.scrubbed(str(cause) or type(cause).__name__).rstrip(".")
            fault = Fault(f"{self.endpoint.url}: {said}. Does the server run, and is its address right?", "passing")
        except (openai.APIError, json.JSONDecodeError, UnicodeDecodeError, RecursionError):
            fault = self.no_reply(NotAReplyError("the answer is not JSON"))
        raise fault

    def http_fault(self, status: int, headers: Mapping[str, str], content: str) -> Fault:
        """Counts an answer that is no reply, and says what it means."""
        self.met[str(status)] += 1
        limits = f"{self._settings.sampling.max_tokens} tokens of reply"
        return http_fault(status, headers, content, self.endpoint, model=self._settings.model, limits=limits)

    def no_reply(self, error: NotAReplyError) -> Fault:
        """Counts an answer that came with status 200 and is no reply; some servers put an error into those."""
        inner = error.body.get("error")
        code = inner.get("code") if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping) and isinstance(code, int) and code >= 400:
            return self.http_fault(code, {}, str(inner.get("message", "")))
        self.met["no reply"] += 1
        said = f": {self.endpoint.scrubbed(str(inner))[:200]}" if inner else ""
        return Fault(f"{self.endpoint.url}: {error}{said}", "passing")
