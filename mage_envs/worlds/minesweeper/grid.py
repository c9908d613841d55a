"""The cells of a MineSweeper board: numbers, names, neighbours, symmetries. Sets of cells are the bits of an integer.

Cell ``row * columns + column`` (both from 0) is bit ``1 << cell``; a player calls it ``r1c1`` (both from 1). Integers
as sets make a flood, a count of mines and a comparison a few operations each, on boards of any size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

SMALLEST, LARGEST = 2, 30
"""Rows, and columns, that a board can have."""


@dataclass(frozen=True)
class Grid:
    """A board's shape. Use :func:`grid`, which makes one object a shape.

    Attributes:
        rows: In 2..30.
        columns: In 2..30.
    """

    rows: int
    columns: int

    @cached_property
    def cells(self) -> int:
        """Number of cells."""
        return self.rows * self.columns

    @cached_property
    def all(self) -> int:
        """The set of all cells."""
        return (1 << self.cells) - 1

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The 3 to 8 neighbours of each cell, ascending."""
        return tuple(tuple(bits(around)) for around in self.around)

    @cached_property
    def around(self) -> tuple[int, ...]:
        """The neighbours of each cell, as a set."""
        found = []
        for cell in range(self.cells):
            row, column = divmod(cell, self.columns)
            rows = range(max(row - 1, 0), min(row + 2, self.rows))
            columns = range(max(column - 1, 0), min(column + 2, self.columns))
            found.append(sum(1 << (r * self.columns + c) for r in rows for c in columns) & ~(1 << cell))
        return tuple(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each cell: ``r1c1``, ``r1c2`` and so on."""
        return tuple(f"r{row + 1}c{column + 1}" for row in range(self.rows) for column in range(self.columns))

    @cached_property
    def symmetries(self) -> tuple[tuple[int, ...], ...]:
        """Where each cell goes, for each way to turn or mirror the board onto itself: 4, or 8 of a square."""
        height, width = self.rows - 1, self.columns - 1
        places = [divmod(cell, self.columns) for cell in range(self.cells)]
        ways = [[(abs(up - r), abs(left - c)) for r, c in places] for up in (0, height) for left in (0, width)]
        if height == width:
            ways += [[(c, r) for r, c in way] for way in ways]
        return tuple(tuple(r * self.columns + c for r, c in way) for way in ways)

    def numbers(self, mines: int) -> tuple[int, ...]:
        """Returns how many mines each cell has among its neighbours; 0..8, also of cells that are mines."""
        return tuple((around & mines).bit_count() for around in self.around)

    def canonical(self, *sets: int) -> tuple[int, ...]:
        """Returns the sets on the turned or mirrored board that comes first: equal for boards that are alike."""
        return min(tuple(_moved(cells, way) for cells in sets) for way in self.symmetries)


@lru_cache(maxsize=256)
def grid(rows: int, columns: int) -> Grid:
    """Returns the grid of a shape, one object each.

    Raises:
        ValueError: A side that is not in 2..30.
    """
    for name, value in (("rows", rows), ("columns", columns)):
        if not SMALLEST <= value <= LARGEST:
            raise ValueError(f"{name} must be in {SMALLEST}..{LARGEST}, got {value!r}")
    return Grid(rows, columns)


def bits(cells: int) -> Iterator[int]:
    """Yields the cells of a set, ascending.

    >>> list(bits(0b10110))
    [1, 2, 4]
    """
    while cells:
        lowest = cells & -cells
        yield lowest.bit_length() - 1
        cells ^= lowest


def listed(cells: int) -> tuple[int, ...]:
    """Returns the cells of a set, ascending; faster than :func:`bits` where most of them are asked for.

    >>> listed(0b10110)
    (1, 2, 4)
    """
    return tuple(cell for cell, bit in enumerate(bin(cells)[:1:-1]) if bit == "1")


def _moved(cells: int, way: tuple[int, ...]) -> int:
    return sum(1 << way[cell] for cell in bits(cells))
