"""Files that are whole or not there: atomic replacement, and appends that survive a kill at any moment."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
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


def replace_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Replaces a file in one step: a reader sees the old content or the new, also after a crash.

    Callers hold a lock: two at a time would share the temporary file.

    Args:
        path: The file; its folder must exist.
        content: All that it shall hold, whole or in pieces that are made as they are written.

    Raises:
        RecordError: It cannot be written; the old content stays.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.writelines((content,) if isinstance(content, bytes) else content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RecordError(f"cannot write {path}: {error.strerror}") from error


class AppendFile(ABC):
    """A file that any number of processes append to, entry by entry.

    One append is one write under a lock, and reaches the operating system before :meth:`append` returns: killing the
    process loses nothing that was appended. The disk is asked to keep it (fsync) at most once a second and in
    :meth:`close`: a power cut loses the last second. An entry that a killed process left half written is cut off by
    the next append.
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

    def append(self, entry: bytes) -> None:
        """Appends one entry.

        Raises:
            RecordError: It cannot be written, for instance because the disk is full; what was there stays.
        """
        with self._locked():
            size = os.fstat(self._file).st_size
            end = self._whole(size)
            if end < size:
                os.ftruncate(self._file, end)
            try:
                self._write(self._framed(entry))
            except OSError as error:
                os.ftruncate(self._file, end)
                message = f"cannot write {self.path}: {error.strerror}. Nothing is lost: mend it and run with --resume"
                raise RecordError(message) from error
        if time.monotonic() - self._synced > FSYNC_SECONDS:
            os.fsync(self._file)
            self._synced = time.monotonic()

    @abstractmethod
    def _framed(self, entry: bytes) -> bytes:
        """Returns an entry with what marks its ends."""

    @abstractmethod
    def _whole(self, size: int) -> int:
        """Returns where the last whole entry ends in the file, which has so many bytes."""

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


class LineFile(AppendFile):
    """A file of lines. An entry is a line without its end; one that is half written has none."""

    def _framed(self, entry: bytes) -> bytes:
        return entry + b"\n"

    def _whole(self, size: int) -> int:
        end = size
        while end > 0:
            start = max(0, end - (1 if end == size else _TAIL))
            os.lseek(self._file, start, os.SEEK_SET)
            found = os.read(self._file, end - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
        return 0


def _sync_folder(folder: Path) -> None:
    """Asks the disk to keep the folder's entries; where folders cannot be opened (Windows) there is no way to."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
