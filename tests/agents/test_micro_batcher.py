"""Batches lose, double and cross nothing, whoever comes, goes or fails. No model: ``generate`` is a fake."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
from collections.abc import Awaitable, Callable, Sequence

import pytest

from mage_agent.backends.base import BackendError
from mage_agent.backends.micro_batcher import SHORT, SPREAD, MicroBatcher, Unwanted


class Echo:
    """Answers each item by itself, and keeps the batches that it saw."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.batches: list[list[int]] = []
        self.seconds = seconds
        self.threads: set[int] = set()

    def __call__(self, items: Sequence[int], unwanted: Unwanted) -> list[str]:
        self.batches.append(list(items))
        self.threads.add(threading.get_ident())
        time.sleep(self.seconds)
        return [f"reply to {item}" for item in items]


def batcher(
    generate: Callable[[Sequence[int], Unwanted], Sequence[str]], batch: int = 8, length: Callable[[int], int] = int
) -> MicroBatcher[int, str]:
    return MicroBatcher(generate, batch, length)


def alike(item: int) -> int:
    return 1


async def closing(made: MicroBatcher[int, str], *work: Awaitable[str]) -> list[str | BaseException]:
    """Awaits all work, closes, and returns results and errors."""
    try:
        return list(await asyncio.gather(*work, return_exceptions=True))
    finally:
        await made.close()


def test_requests_of_one_moment_share_a_batch() -> None:
    async def main() -> None:
        echo = Echo()
        made = batcher(echo, 8, alike)
        replies = await closing(made, *(made.submit(item) for item in range(20)))
        assert replies == [f"reply to {item}" for item in range(20)]
        assert [len(batch) for batch in echo.batches] == [8, 8, 4]
        assert len(echo.threads) == 1
        assert threading.get_ident() not in echo.threads

    asyncio.run(main())


def test_the_next_batch_gathers_while_one_is_computed() -> None:
    async def main() -> None:
        started, go_on = threading.Event(), threading.Event()
        batches = []

        def slow(items: Sequence[int], unwanted: Unwanted) -> list[str]:
            batches.append(list(items))
            started.set()
            assert go_on.wait(10)
            return list(map(str, items))

        made = batcher(slow, 8, alike)
        first = asyncio.create_task(made.submit(0))
        await asyncio.to_thread(started.wait, 10)
        others = [asyncio.create_task(made.submit(item)) for item in range(1, 6)]
        await asyncio.sleep(0)
        go_on.set()
        assert await closing(made, first, *others) == list("012345")
        assert batches == [[0], [1, 2, 3, 4, 5]]

    asyncio.run(main())


def test_prompts_of_like_length_go_together() -> None:
    async def main() -> None:
        echo = Echo()
        made = batcher(echo, 4)
        lengths = [1000, 10, 900, 1100, 4000, 20, 950, 2500, 990]
        assert await closing(made, *map(made.submit, lengths)) == [f"reply to {length}" for length in lengths]
        # The oldest with its three nearest; then the oldest of what is left, and so on.
        assert echo.batches == [[1000, 990, 950, 900], [10, 20], [1100], [4000, 2500]]

    asyncio.run(main())


@pytest.mark.parametrize("seed", range(6))
def test_no_reply_is_lost_doubled_or_crossed(seed: int) -> None:
    """Random arrivals, lengths, batches, failures and cancellations."""
    rng = random.Random(seed)

    async def main() -> None:
        asked: list[int] = []

        def generate(items: Sequence[int], unwanted: Unwanted) -> list[str]:
            asked.extend(items)
            lengths = [item % 5000 for item in items]
            assert max(lengths) <= max(SHORT, SPREAD * min(lengths))
            time.sleep(rng.random() * 0.003)
            if any(item % 41 == 0 for item in items):
                raise RuntimeError("41 divides it")
            return [f"reply to {item}" for item in items]

        made = batcher(generate, rng.randint(1, 16), lambda item: item % 5000)

        async def ask(item: int, patience: float | None) -> str:
            await asyncio.sleep(rng.random() * 0.05)
            return await asyncio.wait_for(made.submit(item), patience)

        items = rng.sample(range(100_000), 200)
        patience = [rng.random() * 0.02 if rng.random() < 0.3 else None for _ in items]
        replies = await closing(made, *map(ask, items, patience))
        for item, limit, reply in zip(items, patience, replies, strict=True):
            if isinstance(reply, str):
                assert reply == f"reply to {item}"
            elif isinstance(reply, TimeoutError):
                assert limit is not None
            else:
                assert isinstance(reply, BackendError)
                assert "RuntimeError: 41 divides it" in str(reply)
        assert len(asked) == len(set(asked))
        assert set(asked) >= {item for item, limit in zip(items, patience, strict=True) if limit is None}
        assert sum(isinstance(reply, str) for reply in replies) > 50

    asyncio.run(main())


def test_a_request_that_nobody_waits_for_is_never_computed() -> None:
    async def main() -> None:
        echo = Echo()
        made = batcher(echo, 8, alike)
        gone, stays = (asyncio.create_task(made.submit(item)) for item in (1, 2))
        await asyncio.sleep(0)
        gone.cancel()
        assert await closing(made, stays) == ["reply to 2"]
        assert echo.batches == [[2]]

    asyncio.run(main())


def test_a_batch_stops_once_nobody_waits() -> None:
    async def main() -> None:
        started, stopped = threading.Event(), threading.Event()

        def endless(items: Sequence[int], unwanted: Unwanted) -> list[str]:
            started.set()
            while not unwanted():
                time.sleep(0.001)
            stopped.set()
            return list(map(str, items))

        made = batcher(endless, 8, alike)
        tasks = [asyncio.create_task(made.submit(item)) for item in range(3)]
        await asyncio.to_thread(started.wait, 10)
        for task in tasks[:2]:
            task.cancel()
        await asyncio.sleep(0.02)
        assert not stopped.is_set()
        tasks[2].cancel()
        assert await asyncio.to_thread(stopped.wait, 10)
        await closing(made)

    asyncio.run(main())


def test_an_error_reaches_all_of_its_batch_and_nobody_else() -> None:
    async def main() -> None:
        def fails_once(items: Sequence[int], unwanted: Unwanted) -> list[str]:
            if 0 in items:
                raise ValueError("no such token")
            return list(map(str, items))

        made = batcher(fails_once, 3, alike)
        replies = await closing(made, *map(made.submit, range(5)))
        assert replies[3:] == ["3", "4"]
        errors = replies[:3]
        assert [type(error) for error in errors] == [BackendError] * 3
        assert len(set(map(id, errors))) == 3
        assert isinstance(errors[0], BackendError)
        assert str(errors[0]) == "ValueError: no such token"
        assert isinstance(errors[0].__cause__, ValueError)

    asyncio.run(main())


def test_a_wrong_number_of_results_is_an_error() -> None:
    async def main() -> None:
        made = batcher(lambda items, unwanted: ["only one"], 8, alike)
        replies = await closing(made, made.submit(1), made.submit(2))
        assert [str(reply) for reply in replies] == ["ValueError: 1 results for 2 requests"] * 2

    asyncio.run(main())


def test_out_of_memory_halves_the_batch_once(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        sizes = []

        def small(items: Sequence[int], unwanted: Unwanted) -> list[str]:
            sizes.append(len(items))
            if len(items) > 4 or 9 in items:
                raise MemoryError("too large")
            return list(map(str, items))

        made = batcher(small, 8, alike)
        replies = await closing(made, *map(made.submit, range(10)))
        assert replies[:8] == list("01234567")
        assert [str(reply) for reply in replies[8:]] == ["8", "MemoryError: too large"]
        assert sizes == [8, 4, 4, 2, 1, 1]

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert "a batch of 8 ran out of memory; from now on at most 4" in caplog.text


def test_closing_refuses_what_waits_and_what_comes() -> None:
    async def main() -> None:
        started = threading.Event()

        def endless(items: Sequence[int], unwanted: Unwanted) -> list[str]:
            started.set()
            while not unwanted():
                time.sleep(0.001)
            return list(map(str, items))

        made = batcher(endless, 1, alike)
        tasks = [asyncio.create_task(made.submit(item)) for item in range(3)]
        await asyncio.to_thread(started.wait, 10)
        await made.close()
        replies = await asyncio.gather(*tasks, return_exceptions=True)
        assert [str(reply) for reply in replies] == ["the model was closed before it answered"] * 3
        assert {type(reply) for reply in replies} == {BackendError}
        with pytest.raises(BackendError, match="make a new backend"):
            await made.submit(4)
        await made.close()

    asyncio.run(main())


def test_a_loop_that_ends_takes_its_waiters_along() -> None:
    tasks = []

    async def main() -> None:
        tasks.append(asyncio.create_task(batcher(Echo(0.05), 8, alike).submit(1)))
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert tasks[0].cancelled()


def test_a_batch_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        batcher(Echo(), 0)
