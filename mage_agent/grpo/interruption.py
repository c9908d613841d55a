"""Ctrl-C and SIGTERM end a training run after the rollout that it is at, with a checkpoint; a second one at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_NOTED = b"interrupted: ends with a checkpoint after this rollout; once more ends it at once\n"


@dataclass
class Interruption:
    """Whether the run shall end.

    Attributes:
        signal: The number of the signal that said so; 0: none did.
    """

    signal: int = 0


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Notes signals, as long as this context lasts. Outside of the main thread nothing can be noted."""
    found = Interruption()

    def note(number: int, _: FrameType | None) -> None:
        if found.signal:
            raise KeyboardInterrupt
        found.signal = number
        os.write(2, _NOTED)  # A logger or a console may be in the middle of a line, and is not to be entered twice.

    if threading.current_thread() is not threading.main_thread():
        yield found
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield found
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
