"""The wall limit of a meta-episode whose agent answers at once: a timer that interrupts the agent.

On Unix, in the main thread of a process (so in workers, too), a signal interrupts Python code and waiting system
calls, again and again until the agent has given way. What it cannot interrupt is a call into compiled code that never
returns to Python. Elsewhere (Windows, other threads) the clock is looked at between decisions only. The environment
and the opponent are never interrupted: half a step would leave them in no state.
"""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any

from benchmarks.asking import Call, Interrupt, OutOfTime, ask

_AGAIN_SECONDS = 0.1


class TimeLimit:
    """A limit for one meta-episode: a context that begins with it."""

    def __init__(self, seconds: float | None) -> None:
        """Takes the limit in seconds; None: no limit."""
        self.seconds = seconds
        self._deadline = float("inf")
        self._asking = self._timed = False
        self._before: Any = None

    def ask(self, call: Call) -> Any:
        """Calls a method of an agent; see :func:`benchmarks.asking.ask`.

        Raises:
            OutOfTime: The limit has passed, or passes in the meantime.
            AgentFailure: The agent failed.
        """
        if self.seconds is None:
            return ask(call)
        if time.monotonic() >= self._deadline:
            raise OutOfTime(self.seconds)
        try:
            self._asking = True
            answer = ask(call)
            self._asking = False
        except Interrupt as error:
            self._asking = False
            raise OutOfTime(self.seconds) from error
        except BaseException:
            self._asking = False
            raise
        return answer

    def __enter__(self) -> TimeLimit:
        """Starts the timer."""
        if self.seconds is None:
            return self
        self._deadline = time.monotonic() + self.seconds
        self._timed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if self._timed:
            self._before = signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, self.seconds, _AGAIN_SECONDS)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stops the timer."""
        if self._timed:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self._asking:
            raise Interrupt
