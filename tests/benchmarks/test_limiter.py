"""How many decisions are in flight: halves, pauses, grows; by a clock of the test, and against a real server."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from benchmarks.asking import AgentFailure, Call, ask, pause_seconds
from benchmarks.limiter import AdaptiveLimit, Gate
from mage_agent.errors import Overloaded
from tests.benchmarks.awaited import Drawing


class Clock:
    """Stands still, except when someone waits."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waited: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def answered(limit: AdaptiveLimit, times: int) -> None:
    for _ in range(times):
        limit.sent()
        limit.answered()


def test_an_overload_halves_and_pauses_as_the_server_said() -> None:
    clock = Clock()
    limit = AdaptiveLimit(64, clock)
    limit.overloaded(limit.sent(), Overloaded(7.0))
    assert (limit.limit, limit.pause, limit.in_flight) == (32, 7.0, 0)
    clock.now += 7.0
    assert limit.pause == 0.0


def test_the_answers_to_one_burst_halve_once_and_the_longest_pause_counts() -> None:
    clock = Clock()
    limit = AdaptiveLimit(64, clock)
    burst = [limit.sent() for _ in range(64)]
    for number, sent in enumerate(burst):
        limit.overloaded(sent, Overloaded(float(number % 10)))
    assert (limit.limit, limit.pause, limit.in_flight) == (32, 9.0, 0)


def test_it_halves_again_for_what_was_sent_after_and_never_below_one() -> None:
    clock = Clock()
    limit = AdaptiveLimit(10, clock)
    found = []
    for _ in range(5):
        clock.now += 1.0
        limit.overloaded(limit.sent(), Overloaded(0.0))
        found.append(limit.limit)
    assert found == [5, 2, 1, 1, 1]


def test_it_grows_by_one_a_round_of_good_answers_up_to_where_it_began() -> None:
    limit = AdaptiveLimit(8, Clock())
    limit.overloaded(limit.sent(), Overloaded(0.0))
    found = []
    for _ in range(5):
        answered(limit, limit.limit)
        found.append(limit.limit)
    assert found == [5, 6, 7, 8, 8]


def test_without_a_word_from_the_server_pauses_double_until_something_works() -> None:
    clock = Clock()
    limit = AdaptiveLimit(64, clock)
    pauses = []
    for _ in range(8):
        limit.overloaded(limit.sent(), Overloaded())
        pauses.append(limit.pause)
        clock.now += limit.pause + 1.0
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    answered(limit, 1)
    limit.overloaded(limit.sent(), Overloaded())
    assert limit.pause == 1.0


def test_a_failure_of_the_agent_changes_nothing() -> None:
    limit = AdaptiveLimit(4, Clock())
    limit.sent()
    limit.failed()
    assert (limit.limit, limit.in_flight, limit.pause) == (4, 0, 0.0)


def test_each_change_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "benchmarks.limiter")
    limit = AdaptiveLimit(4, Clock())
    burst = [limit.sent() for _ in range(4)]
    for sent in burst:
        limit.overloaded(sent, Overloaded(3.0, "429 Too Many Requests"))
    answered(limit, 20)
    assert caplog.messages == [
        "429 Too Many Requests: up to 2 decisions in flight, none for 3 s",
        "up to 3 decisions in flight again",
        "up to 4 decisions in flight again",
    ]


class Served(Drawing):
    """Asks a function that stands for the server."""

    def __init__(self, server: Any) -> None:
        super().__init__("served")
        self.server = server

    async def act(self, observation: Any, info: Any) -> Any:
        return await self.server()


def ask_all(gate: Gate, server: Any, count: int) -> list[Any]:
    async def go() -> list[Any]:
        calls = (gate.ask(Call(Served(server), "act", (None, {}))) for _ in range(count))
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(go())


def test_the_gate_obeys_and_asks_the_same_again() -> None:
    clock = Clock()
    limit = AdaptiveLimit(16, clock)
    sent_at: list[float] = []

    async def server() -> int:
        arrived = clock.now
        sent_at.append(arrived)
        await asyncio.sleep(0)
        if arrived < 130.0:
            raise Overloaded(130.0 - arrived)
        return 1

    assert ask_all(Gate(limit, clock.sleep), server, 40) == [1] * 40
    assert set(sent_at[:16]) == {100.0}
    assert min(sent_at[16:]) >= 130.0  # Nothing was sent before the time that the server named.
    assert len(sent_at) == 16 + 40
    assert limit.in_flight == 0


def test_the_gate_gives_up_after_a_bounded_number_of_tries() -> None:
    tries = 0

    async def server() -> int:
        nonlocal tries
        tries += 1
        raise Overloaded(None, "503")

    clock = Clock()
    (error,) = ask_all(Gate(AdaptiveLimit(4, clock), clock.sleep, tries=5), server, 1)
    assert isinstance(error, AgentFailure)
    assert str(error).startswith("Overloaded: 503")
    assert tries == 5
    assert clock.waited == [1.0, 2.0, 4.0, 8.0]


def test_agents_that_answer_at_once_are_asked_again_too() -> None:
    class Agent(Drawing):
        tries = 0

        def act(self, observation: Any, info: Any) -> int:
            self.tries += 1
            if self.tries < 4:
                raise Overloaded(None if self.tries < 3 else 9.0)
            return 5

    waited: list[float] = []
    assert ask(Call(Agent("x"), "act", (None, {})), pause=waited.append) == 5
    assert waited == [1.0, 2.0, 9.0]
    with pytest.raises(AgentFailure, match="Overloaded"):
        ask(Call(Agent("x"), "act", (None, {})), tries=3, pause=waited.append)


def test_a_pause_is_never_negative() -> None:
    assert pause_seconds(Overloaded(-5.0), 0) == 0.0


class Handler(BaseHTTPRequestHandler):
    """Takes four at a time; tells all others to come back."""

    room = threading.Semaphore(4)
    refused = served = 0
    lock = threading.Lock()

    def do_GET(self) -> None:
        if not self.room.acquire(blocking=False):
            with self.lock:
                Handler.refused += 1
            self.send_response(429)
            self.send_header("Retry-After", "0.02")
            self.end_headers()
            return
        try:
            threading.Event().wait(0.005)
            with self.lock:
                Handler.served += 1
            self.send_response(200)
            self.send_header("Content-Length", "1")
            self.end_headers()
            self.wfile.write(b"7")
        finally:
            self.room.release()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[tuple[str, int]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield "127.0.0.1", http.server_port
        http.shutdown()
        thread.join()


def test_a_server_with_little_room_serves_everyone_in_the_end(server: tuple[str, int]) -> None:
    async def get() -> int:
        reader, writer = await asyncio.open_connection(*server)
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        await writer.wait_closed()
        if b" 429 " in head.splitlines()[0]:
            raise Overloaded(float(head.split(b"Retry-After: ")[1].split(b"\r\n")[0]), "429")
        return int(body)

    limit = AdaptiveLimit(32)
    assert ask_all(Gate(limit, tries=50), get, 200) == [7] * 200
    assert Handler.served == 200
    assert 0 < Handler.refused < 150  # It backs off: most requests are not refused.
    assert limit.limit < 32
