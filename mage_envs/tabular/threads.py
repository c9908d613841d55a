"""Work that is done side by side by compiled code, which needs no lock of Python: threads that are started once.

Handing a share to a waiting thread costs about 20 µs, so that small batches are better off alone.
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
"""Environments that a thread should have at least: they take about 100 µs."""


def shares(count: int) -> list[slice]:
    """Splits a batch into as many even shares as there are processors, each of at least ``SHARE`` environments."""
    number = max(1, min(_processors(), count // SHARE))
    ends = [count * part // number for part in range(number + 1)]
    return [slice(begin, end) for begin, end in itertools.pairwise(ends)]


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
