"""``calls.jsonl.zst``: what agents sent to their models and what came back, raw, for those who want to look into it.

One Zstandard frame a meta-episode, of JSON lines. Before each stands a skippable frame, which every decompressor
passes over, with the length of the frame that follows: so a torn end is found without decompressing, and is cut off.
``zstd -dc calls.jsonl.zst`` prints the file; its format is RFC 8878, with skippable frames in section 3.1.2.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import zstandard

from benchmarks.files import AppendFile
from benchmarks.records import Key
from mage_envs.errors import RecordError

CALLS = "calls.jsonl.zst"

_MARK = struct.Struct("<III")
_MAGIC, _PAYLOAD = 0x184D2A5E, 4

Calls: TypeAlias = list[dict[str, Any]]


class CallBook:
    """Collects the calls of one meta-episode."""

    def __init__(self, key: Key) -> None:
        """Takes what names the record that the calls belong to."""
        self._key = key._asdict()
        self._lines: list[bytes] = []

    def record(self, call: Mapping[str, Any]) -> None:
        """Keeps one call: it is a ``Briefing``'s ``record_call``.

        Raises:
            TypeError: It holds what is no JSON value.
            ValueError: It holds an infinite or undefined number.
        """
        line = {**self._key, "call": len(self._lines), **call}
        self._lines.append(json.dumps(line, allow_nan=False).encode() + b"\n")

    def frame(self) -> bytes:
        """Returns the calls compressed; empty if there were none."""
        content = b"".join(self._lines)
        return zstandard.ZstdCompressor(write_checksum=True).compress(content) if content else b""


class CallFile(AppendFile):
    """The file. An entry is a frame."""

    def __init__(self, path: Path) -> None:
        """Opens the file, or makes it."""
        super().__init__(path)
        self._end = 0

    def _framed(self, entry: bytes) -> bytes:
        return _MARK.pack(_MAGIC, _PAYLOAD, len(entry)) + entry

    def _whole(self, size: int) -> int:
        for start, length in _marks(self._file, self._end, size, self.path):
            self._end = start + length
        return self._end


def read_calls(path: Path) -> Iterator[tuple[Key, Calls]]:
    """Reads a file of calls, meta-episode by meta-episode, also of a run that was killed or is going on.

    Args:
        path: The file; a missing one has no calls.

    Yields:
        What names the record, and its calls. If a meta-episode was played again the later calls belong to its record.

    Raises:
        RecordError: The file is damaged; what stands before the damage was yielded.
    """
    for frame in read_frames(path):
        try:
            lines = zstandard.ZstdDecompressor().decompress(frame).splitlines()
            calls = [json.loads(line) for line in lines]
            yield Key(*(calls[0][name] for name in Key._fields)), calls
        except (zstandard.ZstdError, ValueError, LookupError, TypeError) as error:
            raise RecordError(f"{path} is damaged: {error}. The records do not need it: delete it") from error


def read_frames(path: Path) -> Iterator[bytes]:
    """Reads the frames of a file of calls as they are; a torn last one is left out."""
    if not path.exists():
        return
    with path.open("rb", buffering=0) as stream:  # Marks are read behind its back: a buffer would be of another place.
        for start, length in _marks(stream.fileno(), 0, os.fstat(stream.fileno()).st_size, path):
            stream.seek(start)
            yield stream.read(length)


def _marks(file: int, start: int, size: int, path: Path) -> Iterator[tuple[int, int]]:
    """Yields where each whole frame starts, and its length, from the end of a whole frame on."""
    while start + _MARK.size <= size:
        os.lseek(file, start, os.SEEK_SET)
        magic, payload, length = _MARK.unpack(os.read(file, _MARK.size))
        if (magic, payload) != (_MAGIC, _PAYLOAD):
            raise RecordError(f"{path} is damaged at byte {start}. The records do not need it: delete it")
        start += _MARK.size
        if start + length > size:
            return
        yield start, length
        start += length
