"""How a run tells how far it is, on standard error: a bar for people, JSON lines for machines, or nothing."""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Style: TypeAlias = Literal["bar", "quiet", "json"]

_WHOLE = 10  # A rate from here on is shown without a fraction.


class Teller(Protocol):
    """Is told how far a run is: a context; call it with done, total and errors as often as you like.

    Attributes:
        style: How it tells.
    """

    style: Style

    def __call__(self, done: int, total: int, errors: int = 0) -> None:
        """Takes the numbers."""

    def event(self, name: str, text: str, **facts: Any) -> None:
        """Tells of something that happens once: in words for people, as facts for machines."""

    def __enter__(self) -> Self:
        """Starts."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Ends."""


def make_teller(style: Style, label: str, console: Console) -> Teller:
    """Makes what tells in a style.

    Args:
        style: ``"bar"``, ``"json"`` (a line a second: done, total, errors, rate and time left), or ``"quiet"``.
        label: What is counted.
        console: Where it is written.
    """
    kinds: dict[Style, Callable[[str, Console], Teller]] = {"bar": Bar, "json": JsonLines, "quiet": Quiet}
    return kinds[style](label, console)


class _Shown(ABC):
    """Takes numbers at any rate, and shows them now and then, also while none come: agents may take minutes."""

    seconds: float

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
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
            self.show()
        self._numbers = (done, total, errors)

    def show(self) -> None:
        """Shows the numbers."""
        if self._numbers is not None:
            done = self._numbers[0] - self._first
            self._show(*self._numbers, done / max(self._clock() - self._begun, 1e-9))

    @abstractmethod
    def _show(self, done: int, total: int, errors: int, rate: float) -> None:
        """Shows numbers, and the rate in meta-episodes a second."""

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

    def __init__(self, label: str, console: Console) -> None:
        """Makes the bar.

        Args:
            label: What is counted.
            console: Where it is drawn.
        """
        super().__init__()
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[errors]}", style="red"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        self._console = console
        self._bar = Progress(*columns, console=console, refresh_per_second=5)
        self._task = self._bar.add_task(label, total=None, rate="", errors="")

    def event(self, name: str, text: str, **facts: Any) -> None:
        """Prints the words, if there are any."""
        if text:
            self._console.print(text, markup=False, soft_wrap=True)

    def _show(self, done: int, total: int, errors: int, rate: float) -> None:
        shown = f"{rate:.0f}/s" if rate >= _WHOLE or not rate else f"{rate:.2g}/s"
        failed = f"{errors} errors" if errors else ""
        self._bar.update(self._task, completed=done, total=total, rate=shown, errors=failed)

    def __enter__(self) -> Self:
        """Starts drawing."""
        self._bar.start()
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stops drawing."""
        super().__exit__(kind, error, at)
        self._bar.stop()


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

    def _show(self, done: int, total: int, errors: int, rate: float) -> None:
        left = round((total - done) / rate, 1) if rate else None
        numbers = {"done": done, "total": total, "errors": errors, "rate": round(rate, 3), "left_s": left}
        self.event("progress", "", counts=self._label, **numbers)


class Quiet:
    """Says nothing: errors are told by the command."""

    style: Style = "quiet"

    def __init__(self, label: str, console: Console) -> None:
        """Needs neither."""

    def __call__(self, done: int, total: int, errors: int = 0) -> None:
        """Says nothing."""

    def event(self, name: str, text: str, **facts: Any) -> None:
        """Says nothing."""

    def __enter__(self) -> Self:
        """Does nothing."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Does nothing."""
