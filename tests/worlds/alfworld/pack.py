"""The published games and recorded TextWorld transcripts, which are never part of the project: tests skip without."""

from __future__ import annotations

import gzip
import json
import os
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PACK = Path(os.environ.get("MAGE_ALFWORLD_PACK", Path(__file__).parents[4] / "shared" / "data" / "alfworld"))
ARCHIVE = PACK / "alfworld_valid_2.1.1.tar.xz"

needs_pack = pytest.mark.skipif(
    not ARCHIVE.is_file(), reason=f"the published ALFWorld games are not at {PACK}: set MAGE_ALFWORLD_PACK"
)


class Recorded(NamedTuple):
    """What TextWorld said to a walk in one game: steps of command, feedback, admissible commands, won."""

    game: str
    dialect: str
    steps: list[tuple[str | None, str, list[str], bool]]


@cache
def unpacked(folder: Path) -> Path:
    """Unpacks the games into a folder once; returns what would be ``$ALFWORLD_DATA``."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "alfdata_slim"


def recorded() -> Iterator[Recorded]:
    for file in sorted(PACK.glob("transcripts_*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row: dict[str, Any] = json.loads(line)
                yield Recorded(row["game"], row["dialect"], row["steps"])
