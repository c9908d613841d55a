"""A small renderer: a board as a picture, drawn with NumPy, 32×32 pixels a cell."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

CELL = 32
"""Pixels of a side of a cell."""

Image = npt.NDArray[np.uint8]

_LIT, _FACE, _SHADE = (248, 249, 251), (196, 202, 211), (138, 146, 158)
_OPEN, _LINE = (226, 229, 234), (186, 192, 201)
_DARK, _CLOTH, _BURNT = (34, 38, 46), (206, 52, 48), (236, 110, 98)
_INK = {
    "1": (38, 84, 196), "2": (34, 122, 54), "3": (206, 52, 48), "4": (74, 44, 140),
    "5": (140, 44, 34), "6": (20, 124, 132), "7": (34, 38, 46), "8": (110, 116, 126),
}  # fmt: skip
_DIGITS = {
    "1": "..#.. .##.. ..#.. ..#.. ..#.. ..#.. .###.",
    "2": ".###. #...# ....# ..##. .#... #.... #####",
    "3": ".###. #...# ....# ..##. ....# #...# .###.",
    "4": "...#. ..##. .#.#. #..#. ##### ...#. ...#.",
    "5": "##### #.... ####. ....# ....# #...# .###.",
    "6": ".###. #.... #.... ####. #...# #...# .###.",
    "7": "##### ....# ...#. ...#. ..#.. ..#.. ..#..",
    "8": ".###. #...# #...# .###. #...# #...# .###.",
}
"""Seven rows of five dots a digit."""


def paint(symbols: str, columns: int) -> Image:
    """Draws a board.

    Args:
        symbols: One character a cell, row by row: ``?`` hidden, ``.`` or ``1`` to ``8``, ``F`` flag, ``*`` mine, ``X``
            revealed mine.
        columns: Cells in a row.

    Returns:
        The picture, shape ``(32 * rows, 32 * columns, 3)``.
    """
    rows = len(symbols) // columns
    tiles = np.stack([_tile(symbol) for symbol in symbols]).reshape(rows, columns, CELL, CELL, 3)
    picture: Any = tiles.swapaxes(1, 2)
    return np.ascontiguousarray(picture.reshape(rows * CELL, columns * CELL, 3))


@cache
def _tile(symbol: str) -> Image:
    y, x = np.mgrid[0:CELL, 0:CELL]
    image = np.empty((CELL, CELL, 3), dtype=np.uint8)
    if symbol in "?F":
        _stone(image, y, x)
    else:
        image[:] = _BURNT if symbol == "X" else _OPEN
        image[(y == 0) | (x == 0)] = _LINE
    if symbol == "F":
        _flag(image, y, x)
    elif symbol in "*X":
        _mine(image, y, x)
    elif symbol in _DIGITS:
        dots = np.array([[dot == "#" for dot in row] for row in _DIGITS[symbol].split()])
        image[6:27, 9:24][np.kron(dots, np.ones((3, 3), dtype=bool))] = _INK[symbol]
    return image


def _stone(image: Image, y: Any, x: Any) -> None:
    """Draws a hidden cell: a raised stone, lit from the upper left."""
    image[:] = _FACE
    image[(y < 3) & (x < CELL - y) | (x < 3) & (y < CELL - x)] = _LIT
    image[(y >= CELL - 3) & (x >= CELL - 1 - y) | (x >= CELL - 3) & (y >= CELL - 1 - x)] = _SHADE


def _flag(image: Image, y: Any, x: Any) -> None:
    image[(y >= 7) & (y < 25) & (x >= 17) & (x < 19)] = _DARK
    image[(y >= 23) & (y < 26) & (x >= 11) & (x < 23)] = _DARK
    image[(x >= 8) & (x < 17) & (np.abs(y - 11.5) <= (x - 7) * 0.55)] = _CLOTH


def _mine(image: Image, y: Any, x: Any) -> None:
    down, right = y - 15.5, x - 15.5
    away = np.hypot(down, right)
    spikes = (np.abs(down) < 1.5) | (np.abs(right) < 1.5) | (np.abs(np.abs(down) - np.abs(right)) < 1.5)
    image[(away < 8) | (spikes & (away < 12))] = _DARK
    image[np.hypot(down + 3, right + 3) < 2] = _LIT
