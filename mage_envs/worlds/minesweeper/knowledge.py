"""What a player knows of a board, and the constraints that follow from it."""

from __future__ import annotations

from typing import NamedTuple

from mage_envs.worlds.minesweeper.grid import Grid

HIDDEN = -1


class Constraint(NamedTuple):
    """So many of these cells are mines."""

    cells: int
    mines: int


class Knowledge(NamedTuple):
    """The open numbers and the number of mines. Flags are not among it: they are a player's own notes.

    Attributes:
        grid: The cells.
        mines: Mines on the whole board.
        shown: The number on each open cell, −1 on each other.
        mined: Cells that are known to be mines, as a set: of a lost board, or from memory.
        free: Hidden cells that are known to be none, as a set.
    """

    grid: Grid
    mines: int
    shown: tuple[int, ...]
    mined: int = 0
    free: int = 0

    @property
    def hidden(self) -> int:
        """The cells that are not open, as a set."""
        return sum(1 << cell for cell, number in enumerate(self.shown) if number == HIDDEN)

    def constraints(self) -> list[Constraint]:
        """Returns what the open numbers and the known cells say of hidden cells; none says it of no cell."""
        hidden = self.hidden
        found = [
            Constraint(cells, number)
            for number, around in zip(self.shown, self.grid.around, strict=True)
            if number != HIDDEN and (cells := around & hidden)
        ]
        for cells, mines in ((self.mined & hidden, 1), (self.free & hidden, 0)):
            found += [Constraint(1 << cell, mines) for cell in range(self.grid.cells) if cells >> cell & 1]
        return found
