"""Runs numbered tasks in this process, or in several. Who does which task is chance, and must not matter.

Workers take the next number from a shared counter, so that handing out work costs microseconds and slow tasks hold up
nobody. They are spawned, not forked: nothing of the parent's threads or generators comes along.
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

Work: TypeAlias = Callable[[int], bool]
Setup: TypeAlias = Callable[[], Work]
Tick: TypeAlias = Callable[[int, int], None]


def run_tasks(setup: Setup, count: int, jobs: int, tick: Tick) -> None:
    """Runs tasks ``0..count - 1``, each once.

    Args:
        setup: Makes a worker: a function from a task's number to whether it went well. Must pickle if ``jobs > 1``.
        count: Number of tasks.
        jobs: Number of processes; 1 works in this one.
        tick: Is told now and then how many tasks are done, and how many of them did not go well.

    Raises:
        ValueError: ``jobs`` is out of range.
        MageError: A worker was killed.
        Exception: Whatever a task raised; the other workers stop after the task that they are at.
    """
    if not 1 <= jobs <= MAX_JOBS:
        raise ValueError(f"jobs must be in 1..{MAX_JOBS}, got {jobs}")
    if jobs == 1 or count <= 1:
        _run_here(setup, count, tick)
    else:
        _run_spawned(setup, count, min(jobs, count), tick)


def _run_here(setup: Setup, count: int, tick: Tick) -> None:
    work, bad = setup(), 0
    for number in range(count):
        bad += not work(number)
        tick(number + 1, bad)


def _run_spawned(setup: Setup, count: int, jobs: int, tick: Tick) -> None:
    context = multiprocessing.get_context("spawn")
    taken, done, bad = (context.Value("q", 0) for _ in range(3))
    pool = ProcessPoolExecutor(jobs, context, _start_worker, (taken, done, bad))
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
    finally:
        with taken.get_lock():
            taken.value = count
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


def _start_worker(*counters: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides.
    threading.Thread(target=_die_with_parent, daemon=True).start()
    _shared[:] = counters


def _die_with_parent() -> None:
    """Ends this worker when its parent was killed: it would wait for ever for the next call."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _drain(setup: Setup, count: int) -> None:
    taken, done, bad = _shared
    work = setup()
    while True:
        with taken.get_lock():
            number = taken.value
            taken.value += 1
        if number >= count:
            return
        well = work(number)
        with done.get_lock():
            done.value += 1
            bad.value += not well
