"""Files that are whole or not there: atomic replacement, and appends that survive a kill at any moment."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from mage_envs.errors import RecordError

try:
    import fcntl
except ImportError:  # Windows has no flock.
    fcntl = None  # type: ignore[assignment]

FSYNC_SECONDS = 1.0
_TAIL = 1 << 16


def replace_file(path: Path, content: bytes) -> None:
    """Replaces a file in one step: a reader sees the old content or the new, also after a crash.

    Callers hold a lock: two at a time would share the temporary file.

    Args:
        path: The file; its folder must exist.
        content: All that it shall hold.

    Raises:
        RecordError: It cannot be written; the old content stays.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RecordError(f"cannot write {path}: {error.strerror}") from error


class LineFile:
    """A file that any number of processes append lines to.

    One append is one write under a lock, and reaches the operating system before :meth:`append` returns: killing the
    process loses nothing that was appended. The disk is asked to keep it (fsync) at most once a second and in
    :meth:`close`: a power cut loses the last second. A line that a killed process left half written has no line end;
    the next append cuts it off.
    """

    def __init__(self, path: Path) -> None:
        """Opens the file, or makes it.

        Raises:
            RecordError: It cannot be opened.
        """
        self.path = path
        self._synced = time.monotonic()
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise RecordError(f"cannot open {path}: {error.strerror}") from error

    def append(self, line: bytes) -> None:
        """Appends one line.

        Args:
            line: Its content, without the line end.

        Raises:
            RecordError: It cannot be written, for instance because the disk is full; what was there stays.
        """
        with self._locked():
            end = self._cut_torn_line()
            try:
                self._write(line + b"\n")
            except OSError as error:
                os.ftruncate(self._file, end)
                message = f"cannot write {self.path}: {error.strerror}. Nothing is lost: mend it and run with --resume"
                raise RecordError(message) from error
        if time.monotonic() - self._synced > FSYNC_SECONDS:
            os.fsync(self._file)
            self._synced = time.monotonic()

    def close(self) -> None:
        """Asks the disk to keep everything, and closes."""
        os.fsync(self._file)
        os.close(self._file)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if fcntl is None:
            with FileLock(self.path.with_name(f".{self.path.name}.lock")):
                yield
            return
        fcntl.flock(self._file, fcntl.LOCK_EX)  # 2 microseconds; a FileLock costs 110, as much as a hand of Kuhn.
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _write(self, content: bytes) -> None:
        while content:
            content = content[os.write(self._file, content) :]

    def _cut_torn_line(self) -> int:
        end = size = os.fstat(self._file).st_size
        while end > 0:
            start = max(0, end - (1 if end == size else _TAIL))
            os.lseek(self._file, start, os.SEEK_SET)
            found = os.read(self._file, end - start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        if end < size:
            os.ftruncate(self._file, end)
        return end


def _sync_folder(folder: Path) -> None:
    """Asks the disk to keep the folder's entries; where folders cannot be opened (Windows) there is no way to."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
