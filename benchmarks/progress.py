"""The progress bar: rate, errors and time left, on standard error."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_SECONDS = 0.1


class Bar:
    """Shows how far a run is. A context; call it with done, total and errors as often as you like."""

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
        self._bar = Progress(*columns, console=console, refresh_per_second=5)
        self._task = self._bar.add_task(label, total=None, rate="", errors="")
        self._begun = self._shown = time.monotonic()
        self._first: int | None = None

    def __call__(self, done: int, total: int, errors: int = 0) -> None:
        """Moves the bar, at most ten times a second."""
        now = time.monotonic()
        if now - self._shown < _SECONDS and 0 < done < total and self._first is not None:
            return
        self._first = done if self._first is None else self._first
        self._shown = now
        rate = f"{(done - self._first) / max(now - self._begun, 1e-9):.0f}/s"
        shown = f"{errors} errors" if errors else ""
        self._bar.update(self._task, completed=done, total=total, rate=rate, errors=shown)

    def __enter__(self) -> Bar:
        """Starts drawing."""
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stops drawing."""
        self._bar.stop()
