"""Pages of worlds say what docstrings, rules and states say, and their pictures are what is drawn."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from mage_envs.worlds.pages import DOCS, PICTURES, encode_png, picture, played, renewed


def decoded(data: bytes) -> np.ndarray:
    """Reads a PNG of this package: 8 bits a colour, no filter."""
    width, height = struct.unpack(">II", data[16:24])
    length = struct.unpack(">I", data[33:37])[0]
    rows = np.frombuffer(zlib.decompress(data[41 : 41 + length]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


@pytest.mark.parametrize("name", PICTURES)
def test_pages_are_up_to_date(name: str) -> None:
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert "<!-- docstring -->" in page
    assert renewed(page, name) == page, "run python -m mage_envs.worlds.pages"
    stored = decoded((DOCS / "figures" / f"{name}.png").read_bytes())
    assert (stored == picture(PICTURES[name])).all(), "run python -m mage_envs.worlds.pages"


def test_a_png_holds_the_picture(tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    assert (decoded(encode_png(image)) == image).all()


def test_scenes_are_played() -> None:
    first, last = PICTURES["minesweeper"]
    assert not played(first).play.over
    assert played(last).play.lost
