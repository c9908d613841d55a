"""The pages of the worlds, ``docs/<name>.md``: what docstrings, rules and states say, and pictures.

``python -m mage_envs.worlds.pages`` writes what stands between ``<!-- docstring -->`` or ``<!-- rules -->`` and
``<!-- end -->`` in a page, and the pictures of :data:`PICTURES`. Other words are written by hand.
"""

from __future__ import annotations

import inspect
import re
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mage_envs.worlds import WORLDS, State, World, load_world

DOCS = Path(__file__).parents[2] / "docs"

_BLOCK = re.compile(r"(<!-- (docstring|rules) -->\n).*?(<!-- end -->)", re.DOTALL)
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class Scene(NamedTuple):
    """What a picture shows: a state of a world.

    Attributes:
        world: Spec of the world.
        instance: The instance.
        answers: What was answered in it, one after the other.
    """

    world: str
    instance: int
    answers: tuple[str, ...]


PICTURES: dict[str, tuple[Scene, ...]] = {
    "sokoban": (Scene("sokoban", 8, ()),),
    "minesweeper": (
        Scene("minesweeper(mines=6)", 2970, ("reveal r1c1", "flag r3c6")),
        Scene("minesweeper(mines=6)", 2970, ("reveal r1c1", "flag r3c6", "reveal r5c1", "reveal r4c4")),
    ),
}
"""By the name of a world: scenes that its picture shows side by side."""


def docstring(world: type[World]) -> str:
    """Returns the docstring of a world as Markdown, its arguments as a table with their defaults."""
    before, rest = (inspect.getdoc(world) or "").replace("``", "`").split("Args:\n", 1)
    told, _, after = rest.partition("\n\n")
    found = re.findall(r"^    (\w+): (.*?)(?=^    \w|\Z)", told, re.MULTILINE | re.DOTALL)
    said = {name: " ".join(text.split()) for name, text in found}
    lines = ["| argument | default | meaning |", "|---|---|---|"]
    for parameter in inspect.signature(world).parameters.values():
        lines.append(f"| `{parameter.name}` | `{parameter.default!r}` | {said[parameter.name]} |")
    return f"{before}" + "\n".join(lines) + f"\n\n{after}\n"


def shown(scene: Scene) -> str:
    """Returns the rules of a world and what an agent reads in a scene, as two blocks of Markdown."""
    world = load_world(scene.world)
    text = world.describe(world.facts(played(scene)))
    return f"```\n{world.rules}\n```\n\n```\n{text}\n```\n"


def played(scene: Scene) -> State:
    """Returns the state of a scene."""
    world = load_world(scene.world)
    state = world.start(scene.instance)
    for answer in scene.answers:
        state = world.step(state, world.read(state, answer)).state
    return state


def renewed(page: str, name: str) -> str:
    """Returns a world's page with its blocks rendered anew; rules only where a picture has a scene for them."""

    def block(found: re.Match[str]) -> str:
        if found[2] == "docstring":
            return f"{found[1]}{docstring(WORLDS.get(name))}{found[3]}"
        return f"{found[1]}{shown(PICTURES[name][0])}{found[3]}" if name in PICTURES else found[0]

    return _BLOCK.sub(block, page)


def picture(scenes: tuple[Scene, ...], gap: int = 16) -> npt.NDArray[np.uint8]:
    """Returns scenes side by side on white, shape (height, width, 3)."""
    drawn = []
    for scene in scenes:
        world = load_world(scene.world)
        drawn.append(world.picture(world.facts(played(scene))))
    height, width = max(each.shape[0] for each in drawn), sum(each.shape[1] for each in drawn) + gap * (len(drawn) - 1)
    canvas = np.full((height, width, 3), 255, dtype=np.uint8)
    left = 0
    for each in drawn:
        canvas[: each.shape[0], left : left + each.shape[1]] = each
        left += each.shape[1] + gap
    return canvas


def encode_png(image: npt.NDArray[np.uint8]) -> bytes:
    """Returns a picture as a PNG file, 8 bits a colour, no filter.

    Args:
        image: Shape (height, width, 3).
    """
    height, width, _ = image.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def main() -> None:
    """Writes the blocks and pictures of all pages that there are."""
    for name in WORLDS:
        page = DOCS / f"{name}.md"
        if page.exists():
            page.write_text(renewed(page.read_text(encoding="utf-8"), name), encoding="utf-8")
        if name in PICTURES:
            (DOCS / "figures" / f"{name}.png").write_bytes(encode_png(picture(PICTURES[name])))


if __name__ == "__main__":
    main()
