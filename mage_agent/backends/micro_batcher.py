"""Many requests at once, one worker thread: the requests that wait are answered together, in batches.

While one batch is computed the next one gathers. Nothing here knows of a model: ``generate`` turns a list of items into
a list of as many results, in a thread of its own, and the event loop stays free.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from mage_agent.backends.base import BackendError

LOGGER = logging.getLogger(__name__)

LULL = 0.002
"""Seconds without a new request after which a batch starts: one that finishes lets many agents ask again at once."""

SPREAD = 2.0
"""Prompts in one batch differ in length by this factor at most, so that little is computed for padding."""

SHORT = 128
"""Prompts up to this length go together in any case."""

Item = TypeVar("Item")
Result = TypeVar("Result")

Unwanted: TypeAlias = Callable[[], bool]
"""Whether nobody waits for any result of a batch any more, so that it may stop. May be asked in any thread."""


@dataclass(eq=False)
class _Waiting(Generic[Item, Result]):
    """A request, until its future is done.

    Attributes:
        item: What is asked.
        length: Length of its prompt.
        future: Where the result goes.
        gone: Set when nobody waits for it any more; the worker thread looks at it.
    """

    item: Item
    length: int
    future: asyncio.Future[Result]
    gone: threading.Event = field(default_factory=threading.Event)


class MicroBatcher(Generic[Item, Result]):
    """Gathers requests into batches. One object serves one event loop.

    A request whose waiter was cancelled is dropped; others in its batch are answered. Each batch starts with the
    request that has waited longest, so that none waits for ever.
    """

    def __init__(
        self,
        generate: Callable[[Sequence[Item], Unwanted], Sequence[Result]],
        batch: int,
        length: Callable[[Item], int],
    ) -> None:
        """Starts nothing yet.

        Args:
            generate: Computes the results of a batch, in order; called in one worker thread, one batch after the other.
                It raises :class:`MemoryError` if the batch is too large.
            batch: Most requests in a batch, at least 1.
            length: Length of an item's prompt.

        Raises:
            ValueError: ``batch`` is below 1.
        """
        if batch < 1:
            raise ValueError(f"a batch holds at least 1 request, not {batch}")
        self.batch = batch
        self._generate, self._length = generate, length
        self._queue: list[_Waiting[Item, Result]] = []
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="micro-batcher")
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def submit(self, item: Item) -> Result:
        """Returns the result for an item.

        Raises:
            BackendError: Its batch failed, or the batcher is closed.
        """
        if self._closed:
            raise BackendError("the model was closed: make a new backend")
        loop = asyncio.get_running_loop()
        waiting: _Waiting[Item, Result] = _Waiting(item, self._length(item), loop.create_future())
        self._queue.append(waiting)
        if self._task is None:
            self._task = loop.create_task(self._serve())
        try:
            return await waiting.future
        finally:
            waiting.gone.set()

    async def close(self) -> None:
        """Refuses what waits and what comes, stops the batch that is computed, and ends the worker. Twice is fine."""
        self._closed = True
        _fail(self._queue, BackendError("the model was closed before it answered"))
        self._queue.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await asyncio.to_thread(self._worker.shutdown)

    async def _serve(self) -> None:
        """Answers batch after batch until nobody waits."""
        running: list[_Waiting[Item, Result]] = []
        try:
            while await self._lull():
                running = self._take()
                await self._answer(running)
        finally:  # Also if it was cancelled or broke down: nobody may wait for ever.
            self._task = None
            left = [*running, *self._queue]
            _fail(left, BackendError("the model was closed before it answered"))
            for waiting in left:
                waiting.gone.set()
            self._queue.clear()

    async def _lull(self) -> bool:
        """Waits until no more requests come, or a batch is full. Returns whether there is any."""
        seen = 0
        while seen < len(self._queue) < self.batch:
            seen = len(self._queue)
            await asyncio.sleep(LULL)
        self._queue = [waiting for waiting in self._queue if not waiting.future.done()]
        return bool(self._queue)

    def _take(self) -> list[_Waiting[Item, Result]]:
        """Takes the oldest request out of the queue, and with it those that are nearest to it in length."""
        oldest = self._queue[0]
        chosen: list[_Waiting[Item, Result]] = []
        low = high = oldest.length
        for waiting in sorted(self._queue, key=lambda waiting: abs(waiting.length - oldest.length)):  # Stable.
            new_low, new_high = min(low, waiting.length), max(high, waiting.length)
            if len(chosen) < self.batch and new_high <= max(SHORT, SPREAD * new_low):
                chosen.append(waiting)
                low, high = new_low, new_high
        taken = set(map(id, chosen))
        self._queue = [waiting for waiting in self._queue if id(waiting) not in taken]
        return chosen

    async def _answer(self, chosen: Sequence[_Waiting[Item, Result]]) -> None:
        """Computes a batch; one that is too large for the memory is tried once more, in two halves."""
        try:
            await self._compute(chosen)
        except MemoryError:
            self.batch = max(1, len(chosen) // 2)
            LOGGER.warning("a batch of %d ran out of memory; from now on at most %d", len(chosen), self.batch)
            middle = (len(chosen) + 1) // 2
            for half in filter(None, (chosen[:middle], chosen[middle:])):
                try:
                    await self._compute(half)
                except MemoryError as error:
                    _fail(half, _failure(error))

    async def _compute(self, chosen: Sequence[_Waiting[Item, Result]]) -> None:
        """Computes a batch and delivers what came of it, an error as well.

        Raises:
            MemoryError: It is too large.
        """
        items = [waiting.item for waiting in chosen]
        loop = asyncio.get_running_loop()

        def unwanted() -> bool:
            return all(waiting.gone.is_set() for waiting in chosen)

        try:
            results = await loop.run_in_executor(self._worker, self._generate, items, unwanted)
            if len(results) != len(items):
                raise ValueError(f"{len(results)} results for {len(items)} requests")
        except MemoryError:
            raise
        except Exception as error:  # Whatever a library raises, it reaches those who asked.
            LOGGER.debug("a batch failed", exc_info=True)
            _fail(chosen, _failure(error))
            return
        for waiting, result in zip(chosen, results, strict=True):
            if not waiting.future.done():
                waiting.future.set_result(result)


def _failure(error: Exception) -> BackendError:
    """Returns what those who asked are told: an error of its own for each, with one cause."""
    told = error if isinstance(error, BackendError) else BackendError(f"{type(error).__name__}: {error}")
    told.__cause__ = error if told is not error else error.__cause__
    return told


def _fail(waiting: Sequence[_Waiting[Item, Result]], error: BackendError) -> None:
    """Gives each waiter an error of its own: one object raised in many places would gather their tracebacks."""
    for one in waiting:
        if not one.future.done():
            own = BackendError(*error.args)
            own.__cause__ = error.__cause__
            one.future.set_exception(own)
