"""SIGTERM ends a run as Ctrl-C does: schedulers and ``timeout`` send it before they kill."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes: 128 and the number of the signal."""


@contextmanager
def terminable() -> Iterator[Callable[[], int]]:
    """Makes a SIGTERM to this process a Ctrl-C, as long as this context lasts; event loops have their way with either.

    Yields:
        What returns the exit code of an interrupted command, when it is asked.
    """
    code = INTERRUPTED

    def end(*_: int | FrameType | None) -> None:
        nonlocal code
        code = TERMINATED
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)
        else:  # Shells let what they start in the background ignore Ctrl-C.
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield lambda: code
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield lambda: code
    finally:
        signal.signal(signal.SIGTERM, before)
