"""How a run tells how far it is, on standard error: a bar or lines for people, JSON for machines, or nothing."""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

Style: TypeAlias = Literal["bar", "quiet", "json"]

_WHOLE = 10  # A rate from here on is shown without a fraction.


class Counts(Protocol):
    """What the calls of models came to, as :class:`benchmarks.pool.Tally` says it."""

    @property
    def calls(self) -> int:
        """Number of calls."""

    @property
    def tokens(self) -> int:
        """Tokens read and written, as far as they are known."""


class Teller(Protocol):
    """Is told how far a run is: a context; call it with done, total and errors as often as you like.

    Attributes:
        style: How it tells.
    """

    style: Style

    def __call__(self, done: int, total: int, errors: int = 0) -> None:
        """Takes the numbers."""

    def count(self, tally: Counts) -> None:
        """Takes what the calls of models came to so far, in this attempt."""

    def event(self, name: str, text: str, **facts: Any) -> None:
        """Tells of something that happens once: in words for people, as facts for machines."""

    def __enter__(self) -> Self:
        """Starts."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Ends."""


def make_teller(style: Style, label: str, console: Console) -> Teller:
    """Makes what tells in a style.

    Args:
        style: ``"bar"`` (off a terminal a plain line now and then), ``"json"`` (a line a second: done, total, errors,
            rate and time left), or ``"quiet"``.
        label: What is counted.
        console: Where it is written.
    """
    bar = Bar if console.is_terminal else PlainLines
    kinds: dict[Style, Callable[[str, Console], Teller]] = {"bar": bar, "json": JsonLines, "quiet": Quiet}
    return kinds[style](label, console)


class Now(NamedTuple):
    """Where a run stands.

    Attributes:
        done: Meta-episodes that are done, those of earlier attempts included.
        total: Of how many.
        errors: How many of them have no score.
        rate: Meta-episodes a second since this attempt began: so it falls while nothing ends.
        seconds: Since this attempt began.
        calls: Calls of models in this attempt.
        tokens: Tokens that these read and wrote.
    """

    done: int
    total: int
    errors: int
    rate: float
    seconds: float
    calls: int
    tokens: int

    @property
    def left(self) -> float | None:
        """Seconds that are left at this rate; None if nothing tells."""
        return (self.total - self.done) / self.rate if self.rate else None

    @property
    def pace(self) -> str:
        """The rate in words."""
        return f"{self.rate:.0f}/s" if self.rate >= _WHOLE or not self.rate else f"{self.rate:.2g}/s"

    @property
    def failed(self) -> str:
        """The errors in words; empty if there are none."""
        return f"{self.errors} errors" if self.errors else ""

    @property
    def time_left(self) -> str:
        """The time that is left, in words."""
        return "?" if self.left is None else hours(self.left)

    @property
    def asked(self) -> str:
        """The calls in words; empty if there are none."""
        tokens = f", {self.tokens:,} tokens" if self.tokens else ""
        return f"{self.calls:,} calls{tokens}" if self.calls else ""


def hours(seconds: float) -> str:
    """Writes a time.

    >>> hours(59.7), hours(3601), hours(90_000)
    ('0:01:00', '1:00:01', '1 day, 1:00:00')
    """
    return str(timedelta(seconds=round(seconds)))


class _Shown(ABC):
    """Takes numbers at any rate, and shows them now and then, also while none come: agents may take minutes."""

    seconds: float
    shows_start = True

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls = self._tokens = 0
        self._clock = clock
        self._numbers: tuple[int, int, int] | None = None
        self._first, self._begun = 0, clock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_showing, daemon=True)

    def __call__(self, done: int, total: int, errors: int = 0) -> None:
        """Takes the numbers."""
        if self._numbers is None:  # What was there before this attempt is no part of its rate.
            self._first, self._begun = done, self._clock()
            self._numbers = (done, total, errors)
            if self.shows_start:
                self.show()
        self._numbers = (done, total, errors)

    def count(self, tally: Counts) -> None:
        """Takes the numbers of calls."""
        self._calls, self._tokens = tally.calls, tally.tokens

    def show(self) -> None:
        """Shows the numbers."""
        if self._numbers is not None:
            seconds = self._clock() - self._begun
            rate = (self._numbers[0] - self._first) / max(seconds, 1e-9)
            self._show(Now(*self._numbers, rate, seconds, self._calls, self._tokens))

    @abstractmethod
    def _show(self, now: Now) -> None:
        """Shows where the run stands."""

    def _keep_showing(self) -> None:
        while not self._over.wait(self.seconds):
            self.show()

    def __enter__(self) -> Self:
        """Starts showing."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Shows the last numbers."""
        self._over.set()
        self._thread.join()
        self.show()


class Bar(_Shown):
    """A progress bar with rate, errors and time left."""

    style: Style = "bar"
    seconds = 0.1

    def __init__(self, label: str, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Makes the bar.

        Args:
            label: What is counted.
            console: Where it is drawn.
            clock: Seconds; only differences count.
        """
        super().__init__(clock)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"),
            TextColumn("{task.fields[failed]}", style="red"),
            TimeElapsedColumn(),
            TextColumn("left {task.fields[time_left]}"),
        )
        self._console = console
        self._bar = Progress(*columns, console=console, refresh_per_second=5)
        self._task = self._bar.add_task(label, total=None, pace="", failed="", time_left="?")

    def event(self, name: str, text: str, **facts: Any) -> None:
        """Prints the words, if there are any."""
        _say(self._console, text)

    def _show(self, now: Now) -> None:
        words: dict[str, Any] = {"pace": now.pace, "failed": now.failed, "time_left": now.time_left}
        self._bar.update(self._task, completed=now.done, total=now.total, **words)

    def __enter__(self) -> Self:
        """Starts drawing."""
        self._bar.start()
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stops drawing."""
        super().__exit__(kind, error, at)
        self._bar.stop()


class PlainLines(_Shown):
    """A plain line now and then: for logs and pipes, in which a bar would be one line at the end."""

    style: Style = "bar"
    seconds = 30.0
    shows_start = False

    def __init__(self, label: str, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Takes what is counted, where to write, and a clock."""
        super().__init__(clock)
        self._label, self._console = label, console

    def event(self, name: str, text: str, **facts: Any) -> None:
        """Prints the words, if there are any."""
        _say(self._console, text)

    def _show(self, now: Now) -> None:
        told = (f"{now.done}/{now.total}", now.failed, now.pace, now.asked)
        times = f"{hours(now.seconds)} so far, left {now.time_left}"
        _say(self._console, f"{self._label} {', '.join([*filter(None, told), times])}")


class JsonLines(_Shown):
    """One JSON object a line, each with ``event``: for machines that read along."""

    style: Style = "json"
    seconds = 1.0

    def __init__(self, label: str, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Takes what is counted, where to write, and a clock."""
        super().__init__(clock)
        self._label, self._console = label, console

    def event(self, name: str, text: str, **facts: Any) -> None:
        """Writes the facts."""
        self._console.file.write(json.dumps({"event": name, **facts}) + "\n")
        self._console.file.flush()

    def _show(self, now: Now) -> None:
        numbers = {"done": now.done, "total": now.total, "errors": now.errors, "rate": round(now.rate, 3)}
        left = None if now.left is None else round(now.left, 1)
        self.event("progress", "", counts=self._label, **numbers, left_s=left, calls=now.calls, tokens=now.tokens)


class Quiet:
    """Says nothing: errors are told by the command."""

    style: Style = "quiet"

    def __init__(self, label: str, console: Console) -> None:
        """Needs neither."""

    def __call__(self, done: int, total: int, errors: int = 0) -> None:
        """Says nothing."""

    def count(self, tally: Counts) -> None:
        """Says nothing."""

    def event(self, name: str, text: str, **facts: Any) -> None:
        """Says nothing."""

    def __enter__(self) -> Self:
        """Does nothing."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Does nothing."""


def _say(console: Console, text: str) -> None:
    if text:
        console.print(text, markup=False, soft_wrap=True)
        console.file.flush()
