"""Runs numbered tasks in this process, or in several. Who does which task is chance, and must not matter.

Workers take the next number from a shared counter, so that handing out work costs microseconds and slow tasks hold up
nobody. They are spawned, not forked: nothing of the parent's threads or generators comes along. A worker may have many
tasks in flight: it is given the counter, and takes numbers as it likes.

What is told of progress may raise, which ends the work: nothing new is taken, a worker that is at one task ends it, and
one that has many in flight lets go of them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from mage_envs.errors import MageError

MAX_JOBS = 256
POLL_SECONDS = 0.1

_RUN, _GIVE_WAY, _END = range(3)
"""What workers are told: go on; let go of what is in flight, and end; end at once."""


class Tally(NamedTuple):
    """How far work is, or by how much it went on.

    Attributes:
        done: Number of tasks that are done.
        bad: How many of them did not go well.
        cost: What was spent, in US dollars, also on tasks that are not done.
        recorded: What of it is in the records of tasks that are done.
        calls: Calls of models that were made.
        tokens: Tokens that these read and wrote, as far as they are known.
    """

    done: int = 0
    bad: int = 0
    cost: float = 0.0
    recorded: float = 0.0
    calls: int = 0
    tokens: int = 0

    def plus(self, more: Tally) -> Tally:
        """Adds what came since."""
        return Tally._make(one + other for one, other in zip(self, more, strict=True))


DONE = Tally(done=1)
"""A task that is done, went well and cost nothing."""


Take: TypeAlias = Callable[[], int | None]
"""Returns the number of the next task, None when there is none left."""
Tell: TypeAlias = Callable[[Tally], None]
"""Is told by how much the work went on: a finished task, or money spent on the way."""
GiveWay: TypeAlias = Callable[[], bool]
"""Whether the worker shall let go of what is in flight, and end."""
Worker: TypeAlias = Callable[[Take, Tell, GiveWay], None]
"""Takes and does tasks until there are none left."""
Setup: TypeAlias = Callable[[], Worker]
Tick: TypeAlias = Callable[[Tally], None]


def one_by_one(work: Callable[[int], Tally], end: Callable[[], None] = lambda: None) -> Worker:
    """Returns the worker that does one task after the other.

    Args:
        work: Does a task. Returns how it ended.
        end: Is called at the end, whatever the end is.
    """

    def worker(take: Take, tell: Tell, _give_way: GiveWay) -> None:
        try:
            while (number := take()) is not None:
                tell(work(number))
        finally:
            end()

    return worker


def run_tasks(setup: Setup, count: int, jobs: int, tick: Tick) -> None:
    """Runs tasks ``0..count - 1``, each once.

    Args:
        setup: Makes a worker, in its process. Must pickle if ``jobs > 1``.
        count: Number of tasks.
        jobs: Number of processes; 1 works in this one.
        tick: Is told now and then how far the work is. What it raises ends the work.

    Raises:
        ValueError: ``jobs`` is out of range.
        MageError: A worker was killed.
        Exception: Whatever a task or ``tick`` raised; the other workers end.
        KeyboardInterrupt: Ctrl-C, or a SIGTERM that was made one; the workers are stopped at once.
    """
    if not 1 <= jobs <= MAX_JOBS:
        raise ValueError(f"jobs must be in 1..{MAX_JOBS}, got {jobs}")
    if jobs == 1 or count <= 1:
        _run_here(setup, count, tick)
    else:
        _run_spawned(setup, count, min(jobs, count), tick)


def _run_here(setup: Setup, count: int, tick: Tick) -> None:
    numbers = iter(range(count))
    tally = Tally()

    def tell(more: Tally) -> None:
        nonlocal tally
        tally = tally.plus(more)
        tick(tally)

    setup()(lambda: next(numbers, None), tell, lambda: False)


def _run_spawned(setup: Setup, count: int, jobs: int, tick: Tick) -> None:
    context = multiprocessing.get_context("spawn")
    taken = context.Value("q", 0)
    sums = context.Array("d", len(Tally._fields))
    order = context.Value("b", _RUN, lock=False)
    pool = ProcessPoolExecutor(jobs, context, _start_worker, (order, taken, sums))
    try:
        with _interrupts_held():
            running = [pool.submit(_drain, setup, count) for _ in range(jobs)]
        waiting = set(running)
        while waiting:
            finished, waiting = wait(waiting, POLL_SECONDS, FIRST_EXCEPTION)
            tick(_tally(sums))
            for future in finished:
                future.result()
    except BrokenProcessPool as error:
        order.value = _END  # The pool sends SIGTERM to the others, which they ignore.
        raise MageError(
            "a worker process was killed, perhaps for want of memory. What was finished is kept: take fewer --jobs "
            "and run with --resume"
        ) from error
    except KeyboardInterrupt:
        order.value = _END  # Agents may be waiting for long; nothing that is finished is lost.
        raise
    except BaseException:
        with taken.get_lock():
            taken.value = count
        order.value = _GIVE_WAY
        raise
    finally:
        _shut(pool, order)


def _tally(sums: Any) -> Tally:
    done, bad, cost, recorded, calls, tokens = sums[:]
    return Tally(int(done), int(bad), cost, recorded, int(calls), int(tokens))


def _shut(pool: ProcessPoolExecutor, order: Any) -> None:
    """Waits until the workers have ended; a Ctrl-C ends them at once."""
    try:
        pool.shutdown(wait=True, cancel_futures=True)
    except KeyboardInterrupt:
        order.value = _END
        raise


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Holds Ctrl-C and SIGTERM back while processes start, which inherit that: neither hits them amid their imports."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_shared: list[Any] = []
"""In a worker: the order and the counters that the parent made."""


def _start_worker(order: Any, *counters: Any) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # They may reach the whole group; the parent decides.
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_watch_parent, args=(order,), daemon=True).start()
    _shared[:] = (order, *counters)


def _watch_parent(order: Any) -> None:
    """Ends this worker when its parent says so, or was killed: it would wait for ever for the next call."""
    parent = multiprocessing.parent_process()
    while parent is not None and parent.is_alive() and order.value != _END:
        parent.join(POLL_SECONDS)
    os._exit(1)


def _drain(setup: Setup, count: int) -> None:
    order, taken, sums = _shared

    def take() -> int | None:
        with taken.get_lock():
            number = int(taken.value)
            taken.value += 1
        return number if number < count else None

    def tell(more: Tally) -> None:
        with sums.get_lock():
            for place, number in enumerate(more):
                sums[place] += number

    setup()(take, tell, lambda: order.value != _RUN)
