"""Workers that play tasks of a plan: agents that wait for a server, many meta-episodes in flight in one event loop.

The environments step in one thread beside the loop. So a slow opponent holds the loop up for no longer than Python
takes to switch threads (5 ms), or, where it computes in compiled code that keeps Python's lock (OpenSpiel's searches),
for one move; a hop to the thread and back costs about 50 microseconds. Environments in processes of their own would
cost a pickled view for each decision. Where opponents need more than one processor, more processes run a loop each
(``--jobs``).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from benchmarks.asking import AgentFailure, Call, OutOfTime, close_awaited, run_loop
from benchmarks.attempt_log import log_from_worker
from benchmarks.limiter import AdaptiveLimit, Gate
from benchmarks.plan import Task
from benchmarks.players import Sink, Table, advance, log_failure, with_book
from benchmarks.pool import POLL_SECONDS, GiveWay, Take, Tell, Worker
from benchmarks.spending import Meter
from mage_agent.base import Agent

MAX_CONCURRENCY = 10_000

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class LoopSetup:
    """Makes a worker for agents that are awaited. Pickles.

    Attributes:
        table: What to play.
        concurrency: How many meta-episodes are in flight.
    """

    table: Table
    concurrency: int

    def __call__(self) -> Worker:
        """Opens the files."""
        sink = self.table.sink()
        log_from_worker(self.table.log)

        def worker(take: Take, tell: Tell, give_way: GiveWay) -> None:
            run_loop(_Loop(self.table, sink, self.concurrency).run(take, tell, give_way))

        return worker


class _Loop:
    """What one event loop plays with."""

    def __init__(self, table: Table, sink: Sink, concurrency: int) -> None:
        self._table, self._sink, self._concurrency = table, sink, concurrency
        self._agents: _Spares[Agent] = _Spares(concurrency)
        self._envs: _Spares[Any] = _Spares(concurrency)
        self._gate = Gate(AdaptiveLimit(concurrency))
        self._closing: list[Agent] = []

    async def run(self, take: Take, tell: Tell, give_way: GiveWay) -> None:
        """Plays until there are no tasks left, or it shall give way; what is in flight is then cancelled."""
        try:
            with ThreadPoolExecutor(1, "environments") as thread:  # Ends what it is at: no record is half written.
                self._thread = thread
                await self._all(take, tell, give_way)
        finally:
            await asyncio.gather(*map(close_awaited, self._closing))

    async def _all(self, take: Take, tell: Tell, give_way: GiveWay) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                seats = [group.create_task(self._seat(take, tell)) for _ in range(self._concurrency)]
                watch = group.create_task(_until(give_way))
                await asyncio.wait(seats)
                watch.cancel()
        except BaseExceptionGroup as group_error:
            error = group_error.exceptions[0]  # A bug, or that the run is stopped; one is enough to look into.
            if not isinstance(error, _GiveWay):
                raise error from None

    async def _seat(self, take: Take, tell: Tell) -> None:
        while (number := take()) is not None:
            await self._play(self._table.tasks[number], tell)

    async def _play(self, task: Task, tell: Tell) -> None:
        name, entry = task
        table, loop = self._table, asyncio.get_running_loop()
        deadline = float("inf") if table.time_limit is None else loop.time() + table.time_limit
        agent = self._agents.take(name) or self._make(name)
        place = (entry.scenario, agent.interface)
        env = self._envs.take(place) or await self._beside(table.env, *place)
        book, meter, meta_episode = table.book(task), Meter(), table.playing(env, agent, entry)
        found = await self._beside(advance, meta_episode)
        while isinstance(found, Call):
            try:
                answer = await self._ask(with_book(found, book), deadline)
            except AgentFailure as error:
                log_failure(found, error)
                if found.method != "begin":  # It would tell of the meta-episode before.
                    _tell_spent(tell, meter, found.agent)
                found = await self._beside(advance, meta_episode, None, error)
            else:
                if found.method == "begin":
                    meter.begin()
                _tell_spent(tell, meter, found.agent)
                found = await self._beside(advance, meta_episode, answer)
        await self._beside(self._sink, found.line(), b"" if book is None else book.frame())
        if found.status != "timeout":  # It was cancelled anywhere: nobody knows what state it is in.
            self._agents.give(name, agent)
        self._envs.give(place, env)
        tell(meter.end(found))

    def _make(self, name: str) -> Agent:
        agent = self._table.factory(name)
        if hasattr(agent, "close"):  # It may share what it closes with others: so at the end, all of them.
            self._closing.append(agent)
        return agent

    async def _ask(self, call: Call, deadline: float) -> Any:
        """Asks an agent.

        Raises:
            OutOfTime: The deadline passed before it answered.
            AgentFailure: It failed.
        """
        seconds = self._table.time_limit
        if seconds is None:
            return await self._gate.ask(call)
        try:
            async with asyncio.timeout_at(deadline):
                return await self._gate.ask(call)
        except TimeoutError as error:  # Not the agent's own: the gate makes that a failure.
            raise OutOfTime(seconds) from error

    async def _beside(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function in the environments' thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)


def _tell_spent(tell: Tell, meter: Meter, agent: Agent) -> None:
    if any(spent := meter.read(agent)):
        tell(spent)


class _GiveWay(Exception):  # noqa: N818 - nothing is wrong
    """The run is stopped."""


async def _until(give_way: GiveWay) -> None:
    """Waits until this loop shall give way.

    Raises:
        _GiveWay: It shall.
    """
    while not give_way():
        await asyncio.sleep(POLL_SECONDS)
    raise _GiveWay


class _Spares(Generic[Thing]):
    """Things that nobody uses now, by what they are for; the oldest kinds go first when there are too many."""

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0
        self._kinds: OrderedDict[Hashable, list[Thing]] = OrderedDict()

    def take(self, kind: Hashable) -> Thing | None:
        """Takes a spare thing, if there is one."""
        if kind not in self._kinds:
            return None
        thing = self._kinds[kind].pop()
        self._forget(kind)
        return thing

    def give(self, kind: Hashable, thing: Thing) -> None:
        """Gives one back."""
        self._kinds.setdefault(kind, []).append(thing)
        self._kinds.move_to_end(kind)
        self._count += 1
        if self._count > self._most:
            oldest = next(iter(self._kinds))
            self._kinds[oldest].pop()
            self._forget(oldest)

    def _forget(self, kind: Hashable) -> None:
        self._count -= 1
        if not self._kinds[kind]:
            del self._kinds[kind]
