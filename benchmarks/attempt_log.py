"""``logs/attempt-1.log``: what happened in one attempt at a run, with the time of day. Not part of its results."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mage_envs.errors import RecordError

LOGS = "logs"
_ROOMS = ("benchmarks", "mage_agent", "mage_envs")
_FORMAT = "%(asctime)s %(levelname)-7s %(process)d %(message)s"


@contextmanager
def attempt_log(run: Path) -> Iterator[Path]:
    """Writes what MAGE logs into the next file of a run's folder of logs.

    Args:
        run: The run directory, which the caller has locked.

    Yields:
        Path of the file.

    Raises:
        RecordError: It cannot be written.
    """
    folder = run / LOGS
    try:
        folder.mkdir(exist_ok=True)
        numbers = [int(path.stem.removeprefix("attempt-")) for path in folder.glob("attempt-*.log")]
        path = folder / f"attempt-{max(numbers, default=0) + 1}.log"
        handler = _attach(path)
    except (OSError, ValueError) as error:
        raise RecordError(f"cannot write logs in {folder}: {error}") from error
    try:
        yield path
    finally:
        for room in _ROOMS:
            logging.getLogger(room).removeHandler(handler)
        handler.close()


def log_from_worker(path: Path | None) -> None:
    """Lets a worker process write to its parent's log. In the parent it does nothing."""
    if path is not None and multiprocessing.parent_process() is not None:
        _attach(path)


def _attach(path: Path) -> logging.Handler:
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")  # Appends, line by line.
    handler.setFormatter(logging.Formatter(_FORMAT))
    for room in _ROOMS:
        logger = logging.getLogger(room)
        logger.addHandler(handler)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.INFO)
    return handler
