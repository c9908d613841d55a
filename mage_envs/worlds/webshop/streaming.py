"""Large JSON files, one value at a time: a list, or a dict, of any length in a few megabytes of memory."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from mage_envs.errors import MageError

_CHUNK = 1 << 22
_SPACES = " \t\r\n"
_AFTER_A_VALUE = f"{_SPACES},:]}}"


def stream_list(path: Path) -> Iterator[Any]:
    """Yields the items of a JSON list.

    Raises:
        MageError: The file is no JSON list, or ends too early.
    """
    with _open(path) as file:
        reader = _Reader(path, file, "[")
        while reader.more("]"):
            yield reader.value()


def stream_dict(path: Path) -> Iterator[tuple[str, Any]]:
    """Yields the pairs of a JSON dict; an equal key may come twice.

    Raises:
        MageError: The file is no JSON dict, or ends too early.
    """
    with _open(path) as file:
        reader = _Reader(path, file, "{")
        while reader.more("}"):
            key = reader.value()
            reader.expect(":")
            yield key, reader.value()


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig")
    return path.open(encoding="utf-8-sig")


class _Reader:
    """A window that moves over the text of a file, plain or compressed."""

    def __init__(self, path: Path, file: IO[str], opening: str) -> None:
        self._path, self._file = path, file
        self._text, self._at, self._first = "", 0, True
        self._decode = json.JSONDecoder().raw_decode
        self.expect(opening)

    def more(self, closing: str) -> bool:
        """Whether another value follows; steps over the comma before it."""
        char = self._peek()
        if char == closing:
            self._at += 1
            if self._peek():
                raise self._broken(f"text after the last {closing!r}")
            return False
        if not self._first:
            self.expect(",")
        self._first = False
        return True

    def expect(self, char: str) -> None:
        """Steps over a character."""
        if self._peek() != char:
            raise self._broken(f"{char!r} is missing")
        self._at += 1

    def value(self) -> Any:
        """Reads the next value."""
        self._peek()
        while True:
            try:
                found, end = self._decode(self._text, self._at)
            except RecursionError as error:
                raise self._broken(str(error)) from error
            except json.JSONDecodeError as error:
                if not self._fill():
                    raise self._broken(str(error)) from error
                continue
            if self._text[end : end + 1] in _AFTER_A_VALUE and end < len(self._text):
                self._at = end
                return found
            start = self._at  # A number at the end of the window may go on behind it.
            if not self._fill():
                self._at = end - start
                return found

    def _peek(self) -> str:
        """Steps over white space. Returns the character after it; empty at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACES:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill():
                return ""

    def _fill(self) -> bool:
        try:
            more = self._file.read(_CHUNK)
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise self._broken(str(error)) from error
        self._text, self._at = self._text[self._at :] + more, 0
        return bool(more)

    def _broken(self, what: str) -> MageError:
        return MageError(f"{self._path} cannot be read as JSON ({what}): copy it anew")
