"""An OpenAI-compatible server on the loopback interface that fails on demand: what a client must survive, as data.

It answers by a script and knows no model. Each fault is drawn from the seed, the request and how often that very
request was sent before, so that a run meets the same faults in whatever order its requests arrive.

By hand: ``python -m mage_agent.backends.fault_server --rate 0.2 --latency 0.2``; then ask ``http://127.0.0.1:PORT/v1``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from mage_agent.backends.base import Message
from mage_agent.backends.fake import listed_actions
from mage_agent.backends.injected_faults import FAULTS, REFUSALS, TRANSIENT, Chooser, at_rate, never

SLOW_BYTE = 0.02
"""Seconds between two pieces of a slow answer: no wait for the next piece is long, all of them together are."""

Json: TypeAlias = dict[str, Any]


class Raw(NamedTuple):
    """An answer that a script wants sent as it is."""

    status: int
    body: bytes
    headers: Mapping[str, str] = {}


Script: TypeAlias = Callable[[list[Json]], "str | Json | Raw"]
"""From the messages of a request to the content of the reply, to the whole ``message``, or to a raw answer."""

_REASONS = {200: "OK", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
            503: "Service Unavailable"}  # fmt: skip


@dataclass
class Seen:
    """A request that came.

    Attributes:
        path: Its path.
        body: Its JSON body; empty if there was none.
        authorization: The header of that name; empty if there was none.
        fault: What it met; None: an answer.
        left: Whether the client went before it had a whole answer.
    """

    path: str
    body: Json
    authorization: str
    fault: str | None = None
    left: bool = False


def first_legal(messages: list[Json]) -> str:
    """Answers with the first legal action that the last message lists; with a remark if it lists none."""
    names = listed_actions([Message(message["role"], message["content"]) for message in messages])
    return f"I take the first. <action>{names[0]}</action>" if names else "<remark>It plays as before.</remark>"


@dataclass
class FaultServer:
    """The server, in a thread of its own with its own event loop. A context manager; :attr:`url` is the base URL.

    Attributes:
        script: What it answers.
        faults: What goes wrong, for chat completions and counts of tokens.
        latency: Seconds that a reply takes.
        retry_after: Seconds that it asks refused clients to wait.
        models: What ``/v1/models`` lists, entries as JSON; None: there is no such page.
        tokenize: Whether there is ``/tokenize`` as vLLM has it. A token is a word.
        port: Where it listens; 0: on any free port.
        seen: Every request that came.
    """

    script: Script = first_legal
    faults: Chooser = never
    latency: float = 0.0
    retry_after: float = 1.0
    models: Sequence[Json] | None = ({"id": "scripted", "object": "model", "max_model_len": 8192},)
    tokenize: bool = False
    port: int = 0
    seen: list[Seen] = field(default_factory=list)

    def __enter__(self) -> FaultServer:
        """Starts it."""
        self._before: Counter[bytes] = Counter()
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), name="fault server", daemon=True)
        self._thread.start()
        started.wait()
        return self

    def __exit__(self, *error: object) -> None:
        """Stops it, with all connections."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def counts(self) -> Counter[str]:
        """How often each fault was met, ``none`` included; chat completions only."""
        return Counter(seen.fault or "none" for seen in self.seen if seen.path.endswith("/chat/completions"))

    def _run(self, started: threading.Event) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(started))

    async def _serve(self, started: threading.Event) -> None:
        self._over = asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._over.wait()
        server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # The client went, or the server stops.
        finally:
            self._open.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Reads a request and answers it. Returns whether the connection can take another."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.casefold(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        seen = Seen(head[0].split()[1], json.loads(content or b"{}"), headers.get("authorization", ""))
        self.seen.append(seen)
        if seen.path.endswith(("/chat/completions", "/tokenize")):
            seen.fault = self.faults(content, self._before[content])
            self._before[content] += 1
        try:
            return await self._answer(seen, reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            seen.left = True
            raise

    async def _answer(self, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if seen.fault in REFUSALS:
            status, more = REFUSALS[seen.fault]
            await _send(writer, _json(status, _error(f"injected {seen.fault}"), more(self.retry_after)))
        elif seen.fault == "reset":
            _reset(writer)
            return False
        elif seen.fault == "hang":
            seen.left = not await reader.read(1)
            return False
        else:
            answer = self._page(seen)
            if seen.path.endswith("/chat/completions"):
                await asyncio.sleep(self.latency)
            if seen.fault == "cut":
                answer = answer._replace(headers={**answer.headers, "Content-Length": str(len(answer.body) + 1)})
            await _send(writer, answer, slow=seen.fault == "slow")
        return seen.fault != "cut"

    def _page(self, seen: Seen) -> Raw:
        """Returns the answer of a page that works."""
        path = seen.path.partition("?")[0]
        if path.endswith("/chat/completions"):
            return self._reply(seen)
        if path == "/v1/models" and self.models is not None:
            return _json(200, {"object": "list", "data": list(self.models)})
        if path == "/tokenize" and self.tokenize:
            count = _words(seen.body["messages"])
            return _json(200, {"count": count, "max_model_len": 8192, "tokens": list(range(count))})
        return _json(404, _error(f"there is no {path}"))

    def _reply(self, seen: Seen) -> Raw:
        said = self.script(seen.body["messages"])
        if isinstance(said, Raw):
            return said
        message = said if isinstance(said, dict) else {"role": "assistant", "content": said}
        odd: dict[str | None, Json] = {
            "empty": {"content": ""},
            "null": {"content": None},
            "null-reasoning": {"content": None, "reasoning_content": "I think and think."},
        }
        message = message | odd.get(seen.fault, {})
        usage = {"prompt_tokens": _words(seen.body["messages"]), "completion_tokens": _words([message])}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = _json(200, {"id": "chat-1", "object": "chat.completion", "created": 0, "model": seen.body.get("model"),
                             "choices": [choice], "usage": usage})  # fmt: skip
        return answer._replace(body=answer.body[: len(answer.body) // 2]) if seen.fault == "half" else answer


def _words(messages: list[Json]) -> int:
    return sum(len(str(message.get("content") or "").split()) for message in messages)


def _error(message: str) -> Json:
    return {"error": {"message": message, "type": "injected", "param": None, "code": None}}


def _json(status: int, content: Json, headers: Mapping[str, str] | None = None) -> Raw:
    return Raw(status, json.dumps(content).encode(), {"Content-Type": "application/json", **(headers or {})})


async def _send(writer: asyncio.StreamWriter, answer: Raw, slow: bool = False) -> None:
    headers = {"Content-Length": str(len(answer.body)), **answer.headers}
    lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Scripted')}"]
    head = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""])
    content = head.encode("latin-1") + answer.body
    if not slow:
        writer.write(content)
        await writer.drain()
        return
    for place in range(len(content)):
        writer.write(content[place : place + 1])
        await writer.drain()
        await asyncio.sleep(SLOW_BYTE)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Breaks a connection off: lingering for no time sends a reset instead of a farewell."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def main() -> None:
    """Serves until it is interrupted, and prints its base URL first."""
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible server that fails on demand.")
    parser.add_argument("--port", type=int, default=0, help="where to listen; 0: any free port")
    parser.add_argument("--rate", type=float, default=0.0, help="share of requests that meet a fault, from 0 to 1")
    parser.add_argument("--seed", type=int, default=0, help="which requests do")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that a reply takes")
    parser.add_argument("--kinds", default=",".join(TRANSIENT), help=f"the faults, of {', '.join(FAULTS)}")
    chosen = parser.parse_args()
    kinds = tuple(chosen.kinds.split(","))
    if unknown := set(kinds) - set(FAULTS):
        parser.error(f"unknown fault {min(unknown)!r}; known: {', '.join(FAULTS)}")
    faults = at_rate(chosen.rate, chosen.seed, kinds) if chosen.rate else never
    with FaultServer(faults=faults, latency=chosen.latency, port=chosen.port) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            sys.stderr.write(f"{dict(server.counts)}\n")


if __name__ == "__main__":
    main()
