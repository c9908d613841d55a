"""How a run tells how far it is, on standard error: a bar for people, JSON lines for machines, or nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Style: TypeAlias = Literal["bar", "quiet", "json"]

_SECONDS = {"bar": 0.1, "json": 1.0}


class Teller(Protocol):
    """Is told how far a run is: a context; call it with done, total and errors as often as you like."""

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


class Pace:
    """How fast it goes, from the first number that was told."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts the clock."""
        self._clock = clock
        self.begun = self._shown = clock()
        self._first: int | None = None

    def due(self, done: int, total: int, seconds: float) -> bool:
        """Whether to tell now: at the start, at the end, and in between so often."""
        now = self._clock()
        if self._first is not None and 0 < done < total and now - self._shown < seconds:
            return False
        self._first = done if self._first is None else self._first
        self._shown = now
        return True

    def rate(self, done: int) -> float:
        """Returns how many a second."""
        return (done - (self._first or 0)) / max(self._clock() - self.begun, 1e-9)


class Bar:
    """A progress bar with rate, errors and time left."""

    def __init__(self, label: str, console: Console) -> None:
        """Makes the bar.

        Args:
            label: What is counted.
            console: Where it is drawn.
        """
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
        self._pace = Pace()

    def __call__(self, done: int, total: int, errors: int = 0) -> None:
        """Moves the bar, at most ten times a second."""
        if self._pace.due(done, total, _SECONDS["bar"]):
            rate = self._pace.rate(done)
            shown = f"{rate:.0f}/s" if rate >= 10 or not rate else f"{rate:.2g}/s"
            failed = f"{errors} errors" if errors else ""
            self._bar.update(self._task, completed=done, total=total, rate=shown, errors=failed)

    def event(self, name: str, text: str, **facts: Any) -> None:
        """Prints the words."""
        self._console.print(text, markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        """Starts drawing."""
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stops drawing."""
        self._bar.stop()


class JsonLines:
    """One JSON object a line, each with ``event``: for machines that read along."""

    def __init__(self, label: str, console: Console) -> None:
        """Takes what is counted, and where to write."""
        self._label, self._console = label, console
        self._pace = Pace()

    def __call__(self, done: int, total: int, errors: int = 0) -> None:
        """Writes a line, at most one a second."""
        if self._pace.due(done, total, _SECONDS["json"]):
            rate = self._pace.rate(done)
            left = round((total - done) / rate, 1) if rate else None
            numbers = {"done": done, "total": total, "errors": errors, "rate": round(rate, 3), "left_s": left}
            self._write({"event": "progress", "counts": self._label, **numbers})

    def event(self, name: str, text: str, **facts: Any) -> None:
        """Writes the facts."""
        self._write({"event": name, **facts})

    def _write(self, line: dict[str, Any]) -> None:
        self._console.file.write(json.dumps(line) + "\n")
        self._console.file.flush()

    def __enter__(self) -> Self:
        """Does nothing."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Does nothing."""


class Quiet:
    """Says nothing: errors are told by the command."""

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
