"""How much of the time and memory of a run is the harness's own.

Run: ``python -m benchmarks.perf.runner [waiting] [overhead] [memory]``; all three by default, about a minute.

- ``waiting``: 512 meta-episodes of an agent that asks a local server which takes 500 ms, 64 of them in flight, against
  the time that 64 seats need if nothing but the server took time. Goal: at most 1.15 times as long.
- ``overhead``: wall time per decision when agents answer at once, games and opponents included. Goal: below 1 ms.
- ``memory``: peak of a process that plays 1,000 or 10,000 meta-episodes with 10 kB of text each and computes the row.
  Goal: flat.
"""

from __future__ import annotations

import asyncio
import heapq
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.plan import Plan, make_plan
from benchmarks.rows import run_rows
from benchmarks.run_directory import RunDirectory
from benchmarks.runner import Scheduling, run
from benchmarks.suites.base import Part, Protocol, Suite
from mage_agent.base import Agent, Briefing
from mage_envs.scenarios import SCENARIOS

LATENCY, MANY, IN_FLIGHT = 0.5, 512, 64
SIZES = (1_000, 10_000)
TEXT = "I have seen this opponent before. " * 60


class AtOnce:
    """Plays the first legal action."""

    oracle, interface = False, "array"

    def __init__(self, name: str) -> None:
        """Takes its name."""
        self.name = name

    def begin(self, briefing: Briefing) -> Any:
        """Has nothing to forget."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """Plays."""
        return info["view"].legal[0]

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """Learns nothing."""
        return 0


class Awaited(AtOnce):
    """The same as a coroutine."""

    async def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """Plays."""
        return info["view"].legal[0]


class Client(AtOnce):
    """Asks a server before each answer, over one connection."""

    def __init__(self, name: str, port: int) -> None:
        """Takes the server's port."""
        super().__init__(name)
        self._port = port
        self._connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """Plays."""
        await self._ask()
        return info["view"].legal[0]

    async def reflect(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """Asks as well."""
        await self._ask()
        return 0

    async def _ask(self) -> None:
        if self._connection is None:
            self._connection = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._connection
        writer.write(b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")


class Talker(AtOnce):
    """Talks much."""

    interface = "text"

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """Plays."""
        return f"{TEXT}<action>{info['legal_actions'][0]}</action>"

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """Talks."""
        return TEXT


def _plan(kind: Any, size: int) -> Plan:
    suite = Suite("perf", 1, "", (Part(SCENARIOS.get("kuhn/train"), size, ("x",)),), Protocol())
    return make_plan(suite, factory=kind)


def _play(plan: Plan, folder: str, how: Scheduling) -> tuple[RunDirectory, float]:
    begun = time.perf_counter()
    directory = run(plan, Path(folder) / "run", lambda done, total, errors: None, how=how)
    return directory, time.perf_counter() - begun


def _decisions(directory: RunDirectory) -> list[int]:
    return [
        sum(len(episode.actions) + (episode.reflection is not None) for episode in record.episodes)
        for record in directory.stream()
    ]


def _ideal(durations: list[float], seats: int) -> float:
    """Returns when the last meta-episode ends if each free seat takes the next one at once."""
    ends = [0.0] * seats
    for duration in durations:
        heapq.heapreplace(ends, ends[0] + duration)
    return max(ends)


def waiting() -> None:
    """Measures what waiting for a server costs beyond the server's time."""
    context = multiprocessing.get_context("spawn")
    ports: Any = context.Queue()
    server = context.Process(target=_serve, args=(ports,), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as folder:
        plan = _plan(partial(_client, port=ports.get()), MANY)
        directory, seconds = _play(plan, folder, Scheduling(concurrency=IN_FLIGHT))
        ideal = _ideal([LATENCY * count for count in _decisions(directory)], IN_FLIGHT)
    server.kill()
    _say(f"waiting: {MANY} meta-episodes, {IN_FLIGHT} in flight, {LATENCY * 1000:g} ms: {seconds:.2f} s,"
         f" ideal {ideal:.2f} s, ratio {seconds / ideal:.3f}")  # fmt: skip


def _client(name: str, port: int) -> Agent:
    return Client(name, port)


def _serve(ports: Any) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            try:
                await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            await asyncio.sleep(LATENCY)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        ports.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


def overhead() -> None:
    """Measures a decision when agents take no time."""
    for kind in (AtOnce, Awaited):
        with tempfile.TemporaryDirectory() as folder:
            directory, seconds = _play(_plan(kind, 2_000), folder, Scheduling(concurrency=IN_FLIGHT))
            count = sum(_decisions(directory))
        _say(f"overhead: {kind.__name__}: {seconds / count * 1e6:.0f} microseconds per decision")


def memory() -> None:
    """Measures the peak of memory by the number of meta-episodes."""
    context = multiprocessing.get_context("spawn")
    for kind in (Talker, AtOnce):
        for size in SIZES:
            peaks: Any = context.Queue()
            process = context.Process(target=_peak, args=(kind, size, peaks))
            process.start()
            played, counted = peaks.get()
            process.join()
            _say(f"memory: {kind.__name__}: {size:6d} meta-episodes: {played:.0f} MB played, {counted:.0f} MB with row")


def _peak(kind: Any, size: int, peaks: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plan = _plan(kind, size)
        directory, _ = _play(plan, folder, Scheduling())
        played = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        run_rows(directory, plan.panel, directory.stream(), verified=False)
        peaks.put((played, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    for name in sys.argv[1:] or ("waiting", "overhead", "memory"):
        {"waiting": waiting, "overhead": overhead, "memory": memory}[name]()
