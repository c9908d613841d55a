"""A small renderer: a room as a picture, drawn with NumPy, 32×32 pixels a cell."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mage_envs.worlds.sokoban.levels import (
    BOX,
    BOX_ON_TARGET,
    FLOOR,
    PLAYER,
    PLAYER_ON_TARGET,
    SYMBOLS,
    TARGET,
    WALL,
)

CELL = 32
"""Pixels of a side of a cell."""

Image = npt.NDArray[np.uint8]
_Mask = npt.NDArray[np.bool_]

_STONE, _MORTAR = (92, 101, 116), (66, 73, 86)
_GROUND, _LINE = (240, 236, 226), (226, 220, 206)
_MARK = (214, 69, 65)
_WOOD, _EDGE, _DONE, _DONE_EDGE = (201, 142, 74), (128, 84, 38), (98, 160, 92), (52, 102, 52)
_SKIN, _COAT, _DARK = (246, 205, 160), (47, 106, 181), (38, 43, 52)


def paint(rows: tuple[str, ...]) -> Image:
    """Draws a room.

    Args:
        rows: The room in XSB.

    Returns:
        The picture, shape ``(32 * rows, 32 * columns, 3)``.
    """
    tiles = np.stack([_tile(symbol) for symbol in SYMBOLS])
    symbols = np.array([[SYMBOLS.index(symbol) for symbol in row] for row in rows])
    picture: Any = tiles[symbols].swapaxes(1, 2)
    return np.ascontiguousarray(picture.reshape(len(rows) * CELL, len(rows[0]) * CELL, 3))


@cache
def _tile(symbol: str) -> Image:
    y, x = np.mgrid[0:CELL, 0:CELL]
    image = np.empty((CELL, CELL, 3), dtype=np.uint8)
    image[:] = _GROUND
    if symbol == WALL:
        return _wall(image, y, x)
    image[(y == 0) | (x == 0)] = _LINE
    if symbol in (TARGET, PLAYER_ON_TARGET, BOX_ON_TARGET):
        ring = np.hypot(y - 15.5, x - 15.5)
        image[(ring < 11) & (ring > 8)] = _MARK
        image[ring < 4] = _MARK
    if symbol in (BOX, BOX_ON_TARGET):
        _box(image, y, x, done=symbol == BOX_ON_TARGET)
    if symbol in (PLAYER, PLAYER_ON_TARGET):
        _player(image, y, x)
    assert symbol in SYMBOLS or symbol == FLOOR
    return image


def _wall(image: Image, y: Any, x: Any) -> Image:
    """Draws two courses of bricks a tile, each half a brick aside from the one above."""
    image[:] = _STONE
    course = y // 8
    image[(y % 8 == 7) | ((x + 8 * (course % 2)) % 16 == 15)] = _MORTAR
    return image


def _box(image: Image, y: Any, x: Any, *, done: bool) -> None:
    wood, edge = (_DONE, _DONE_EDGE) if done else (_WOOD, _EDGE)
    inside: _Mask = (y >= 4) & (y < 28) & (x >= 4) & (x < 28)
    frame = inside & ((y < 7) | (y >= 25) | (x < 7) | (x >= 25))
    cross = inside & ((np.abs(y - x) < 2) | (np.abs(y + x - 31) < 2))
    image[inside] = wood
    image[frame | cross] = edge


def _player(image: Image, y: Any, x: Any) -> None:
    image[((y - 24.0) / 9) ** 2 + ((x - 15.5) / 9) ** 2 < 1] = _COAT
    image[(y >= 29)] = np.where((image[y >= 29] == _COAT).all(-1, keepdims=True), _DARK, image[y >= 29])
    image[np.hypot(y - 11, x - 15.5) < 7] = _SKIN
    image[(np.hypot(y - 11, x - 15.5) < 7) & (y < 8)] = _DARK
    image[(np.abs(y - 11) < 1.5) & (np.abs(np.abs(x - 15.5) - 3) < 1)] = _DARK
