"""One board being played: what lies where, what is open, what is flagged. Pure: every action gives a new state.

Revealing a cell without mines around it opens its neighbours too, and so on: the flood of the classic game. It is won
when every safe cell is open, and lost when a mine is. Flags are notes: they decide nothing, but a flagged cell cannot
be revealed until the flag is taken away.
"""

from __future__ import annotations

from typing import NamedTuple

from mage_envs.worlds.minesweeper.grid import Grid, bits


class Board(NamedTuple):
    """Where the mines are.

    Attributes:
        grid: The cells.
        mines: The cells with a mine, as a set.
        numbers: Mines among the neighbours of each cell.
        zeros: The cells without a mine and without mines around, as a set.
    """

    grid: Grid
    mines: int
    numbers: tuple[int, ...]
    zeros: int

    @classmethod
    def of(cls, grid: Grid, mines: int) -> Board:
        """Makes the board from its mines."""
        numbers = grid.numbers(mines)
        zeros = sum(1 << cell for cell, number in enumerate(numbers) if not number) & ~mines
        return cls(grid, mines, numbers, zeros)

    @property
    def safe(self) -> int:
        """The cells without a mine, as a set."""
        return self.grid.all & ~self.mines

    def flood(self, cell: int) -> int:
        """Returns the cells that open when a cell is revealed: itself, and all that its zeros reach."""
        opened = front = 1 << cell
        while zeros := front & self.zeros:
            reached = 0
            for zero in bits(zeros):
                reached |= self.grid.around[zero]
            front = reached & ~opened
            opened |= front
        return opened


class Play(NamedTuple):
    """A board in play.

    Attributes:
        board: The board.
        opened: The open cells, as a set.
        flags: The flagged cells, as a set; no open cell is flagged.
    """

    board: Board
    opened: int = 0
    flags: int = 0

    @property
    def lost(self) -> bool:
        """Whether a mine is open."""
        return bool(self.opened & self.board.mines)

    @property
    def won(self) -> bool:
        """Whether every safe cell, and no mine, is open."""
        return self.opened == self.board.safe

    @property
    def over(self) -> bool:
        """Whether the game is won or lost."""
        return self.won or self.lost

    @property
    def hidden(self) -> int:
        """The cells that are not open, as a set."""
        return self.board.grid.all & ~self.opened

    def reveal(self, cell: int) -> Play:
        """Opens a hidden cell without a flag, and what its flood reaches; flags in the flood are taken away."""
        opened = self.opened | self.board.flood(cell)
        return Play(self.board, opened, self.flags & ~opened)

    def flag(self, cell: int) -> Play:
        """Puts a flag on a hidden cell, or takes it away."""
        return Play(self.board, self.opened, self.flags ^ (1 << cell))

    def shown(self) -> tuple[int, ...]:
        """Returns the number on each open cell, −1 for cells that are not open; a mine counts as not open."""
        seen = self.opened & ~self.board.mines
        return tuple(number if seen >> cell & 1 else -1 for cell, number in enumerate(self.board.numbers))
