"""How many decisions may be in flight: additive increase, multiplicative decrease, as TCP shares a line.

A server that says that it has too much to do halves the number, and nothing new is sent until the time that it named
(``Retry-After``), or 1 s, 2 s, 4 s … if it named none. Each round of as many good answers raises the number by one
again. Decisions that were sent before the last halving belong to the same overload, and do not halve again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.asking import MAX_TRIES, Call, ask_awaited, failure, pause_seconds
from mage_agent.errors import Overloaded

_log = logging.getLogger(__name__)


class AdaptiveLimit:
    """The number, and when it changes. Is told what happens, and waits for nothing itself.

    Attributes:
        most: The number that is never exceeded.
        limit: How many decisions may be in flight now.
        in_flight: How many are.
        opens: Nothing is sent before this time.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts with all that is allowed.

        Args:
            most: At most so many in flight, at least 1.
            clock: Seconds; only differences count.
        """
        self.most = self.limit = most
        self.in_flight = 0
        self.opens = float("-inf")
        self._clock = clock
        self._halved = float("-inf")
        self._halvings = 0  # Without a good answer in between.
        self._good = 0

    @property
    def free(self) -> bool:
        """Whether one more fits, pauses left aside."""
        return self.in_flight < self.limit

    @property
    def pause(self) -> float:
        """Seconds until anything may be sent; 0 if now."""
        return max(0.0, self.opens - self._clock())

    def sent(self) -> float:
        """Counts one that is sent. Returns when: :meth:`overloaded` wants it."""
        self.in_flight += 1
        return self._clock()

    def answered(self) -> None:
        """Counts a good answer."""
        self.in_flight -= 1
        self._halvings = 0
        if self.limit == self.most:
            return
        self._good += 1
        if self._good >= self.limit:
            self._good = 0
            self.limit += 1
            _log.info("up to %d decisions in flight again", self.limit)

    def failed(self) -> None:
        """Counts an answer that tells nothing of the server: the agent failed, or was too late."""
        self.in_flight -= 1

    def overloaded(self, sent: float, error: Overloaded) -> None:
        """Counts an overload.

        Args:
            sent: What :meth:`sent` returned.
            error: What the agent raised.
        """
        self.in_flight -= 1
        now = self._clock()
        again = sent <= self._halved
        seconds = pause_seconds(error, max(0, self._halvings - again))
        self.opens = max(self.opens, now + seconds)
        if again:
            return
        self._halved, self._good = now, 0
        self._halvings += 1
        self.limit = max(1, self.limit // 2)
        _log.warning("%s: up to %d decisions in flight, none for %g s", error, self.limit, self.opens - now)


class Gate:
    """Asks agents that are awaited, no more of them at a time than the limit says. For one event loop."""

    def __init__(
        self, limit: AdaptiveLimit, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep, tries: int = MAX_TRIES
    ) -> None:
        """Takes the limit, how to wait so many seconds, and how often a decision is asked for."""
        self._limit, self._sleep, self._tries = limit, sleep, tries
        self._changed = asyncio.Condition()

    async def ask(self, call: Call) -> Any:
        """Asks, and asks the same again as long as the server has too much to do, a bounded number of times.

        Raises:
            AgentFailure: The agent failed, or the server had too much to do each time.
        """
        for number in range(1, self._tries + 1):
            sent = await self._turn()
            try:
                answer = await ask_awaited(call)
            except Overloaded as error:
                self._limit.overloaded(sent, error)
                if number == self._tries:
                    raise failure(error) from error
            except BaseException:
                self._limit.failed()
                raise
            else:
                self._limit.answered()
                return answer
            finally:
                await self._tell()
        raise ValueError(f"tries must be at least 1, got {self._tries}")

    async def _turn(self) -> float:
        while True:
            if pause := self._limit.pause:
                await self._sleep(pause)
                continue
            if self._limit.free:
                return self._limit.sent()
            async with self._changed:
                if not self._limit.free:  # It may have become so while this waited for the lock.
                    await self._changed.wait()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify(max(1, self._limit.limit - self._limit.in_flight))
