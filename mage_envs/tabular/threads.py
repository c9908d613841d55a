"""Work that is done side by side by compiled code, which needs no lock of Python: threads that are started once.

A thread that waits takes 50 to 100 µs to wake up. Until then this one works alone, so its share is larger, and small
batches it steps alone.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import TypeAlias

Task: TypeAlias = Callable[[], None]

SHARE = 2_048
"""Environments that another thread should have at least: they take about 80 µs."""

AHEAD = 2_000
"""Environments that this thread steps while the others wake up."""


def shares(count: int) -> list[slice]:
    """Splits a batch among the processors. The last share is this thread's, and larger."""
    number = max(1, min(_processors(), 1 + (count - AHEAD) // SHARE))
    others = (count - AHEAD) // number if number > 1 else 0
    ends = [others * part for part in range(number)]
    return [slice(begin, end) for begin, end in itertools.pairwise([*ends, count])]


def side_by_side(tasks: Sequence[Task]) -> None:
    """Runs tasks at once, the last one in this thread, and waits for all of them.

    Raises:
        Exception: What the first of them that failed raised, when all have ended.
    """
    running: list[Future[None]] = [_pool().submit(task) for task in tasks[:-1]]
    try:
        tasks[-1]()
    finally:
        for future in running:
            future.result()


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, _processors() - 1), thread_name_prefix="mage-batch")


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # Threads do not come along.
