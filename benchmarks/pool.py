"""Runs numbered tasks in this process, or in several. Who does which task is chance, and must not matter.

Workers take the next number from a shared counter, so that handing out work costs microseconds and slow tasks hold up
nobody. They are spawned, not forked: nothing of the parent's threads or generators comes along. A worker may have many
tasks in flight: it is given the counter, and takes numbers as it likes.
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
from typing import Any, TypeAlias

from mage_envs.errors import MageError

MAX_JOBS = 256
POLL_SECONDS = 0.1

Take: TypeAlias = Callable[[], int | None]
"""Returns the number of the next task, None when there is none left."""
Tell: TypeAlias = Callable[[bool], None]
"""Is told of each finished task whether it went well."""
Worker: TypeAlias = Callable[[Take, Tell], None]
"""Takes and does tasks until there are none left."""
Setup: TypeAlias = Callable[[], Worker]
Tick: TypeAlias = Callable[[int, int], None]


def one_by_one(work: Callable[[int], bool]) -> Worker:
    """Returns the worker that does one task after the other. ``work`` returns whether a task went well."""

    def worker(take: Take, tell: Tell) -> None:
        while (number := take()) is not None:
            tell(work(number))

    return worker


def run_tasks(setup: Setup, count: int, jobs: int, tick: Tick) -> None:
    """Runs tasks ``0..count - 1``, each once.

    Args:
        setup: Makes a worker, in its process. Must pickle if ``jobs > 1``.
        count: Number of tasks.
        jobs: Number of processes; 1 works in this one.
        tick: Is told now and then how many tasks are done, and how many of them did not go well.

    Raises:
        ValueError: ``jobs`` is out of range.
        MageError: A worker was killed.
        Exception: Whatever a task raised; the other workers stop after the tasks that they are at.
        KeyboardInterrupt: Ctrl-C; the workers are stopped at once.
    """
    if not 1 <= jobs <= MAX_JOBS:
        raise ValueError(f"jobs must be in 1..{MAX_JOBS}, got {jobs}")
    if jobs == 1 or count <= 1:
        _run_here(setup, count, tick)
    else:
        _run_spawned(setup, count, min(jobs, count), tick)


def _run_here(setup: Setup, count: int, tick: Tick) -> None:
    numbers = iter(range(count))
    done = bad = 0

    def tell(well: bool) -> None:
        nonlocal done, bad
        done, bad = done + 1, bad + (not well)
        tick(done, bad)

    setup()(lambda: next(numbers, None), tell)


def _run_spawned(setup: Setup, count: int, jobs: int, tick: Tick) -> None:
    context = multiprocessing.get_context("spawn")
    taken, done, bad = (context.Value("q", 0) for _ in range(3))
    stop = context.Value("b", 0, lock=False)
    pool = ProcessPoolExecutor(jobs, context, _start_worker, (stop, taken, done, bad))
    try:
        with _interrupts_held():
            running = [pool.submit(_drain, setup, count) for _ in range(jobs)]
        waiting = set(running)
        while waiting:
            finished, waiting = wait(waiting, POLL_SECONDS, FIRST_EXCEPTION)
            tick(done.value, bad.value)
            for future in finished:
                future.result()
    except BrokenProcessPool as error:
        raise MageError(
            "a worker process was killed, perhaps for want of memory. What was finished is kept: take fewer --jobs "
            "and run with --resume"
        ) from error
    except KeyboardInterrupt:
        stop.value = 1  # Agents may be waiting for long; nothing that is finished is lost.
        raise
    except BaseException:
        with taken.get_lock():
            taken.value = count
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Holds Ctrl-C back while processes start. They inherit that, and are not hit in the middle of their imports."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_shared: list[Any] = []
"""In a worker: the counters that the parent made."""


def _start_worker(stop: Any, *counters: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides.
    threading.Thread(target=_watch_parent, args=(stop,), daemon=True).start()
    _shared[:] = counters


def _watch_parent(stop: Any) -> None:
    """Ends this worker when its parent says so, or was killed: it would wait for ever for the next call."""
    parent = multiprocessing.parent_process()
    while parent is not None and parent.is_alive() and not stop.value:
        parent.join(POLL_SECONDS)
    os._exit(1)


def _drain(setup: Setup, count: int) -> None:
    taken, done, bad = _shared

    def take() -> int | None:
        with taken.get_lock():
            number = int(taken.value)
            taken.value += 1
        return number if number < count else None

    def tell(well: bool) -> None:
        with done.get_lock():
            done.value += 1
            bad.value += not well

    setup()(take, tell)
