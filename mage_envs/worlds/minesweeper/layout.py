"""Where the mines of an instance lie: a pure function of its number, the same on any machine.

Mines are the first cells of a random order of all cells, drawn with the SplitMix64 stream of the instance
(:mod:`mage_envs.games.chance`). What the first revealed cell may be is a setting:

- ``"risky"``: anything. The instance is one board.
- ``"safe"``: no mine. A mine that is there lies on the next cell of the order instead, so that all other placements
  stay equally likely, and an instance is the same board for all first cells that have no mine.
- ``"zero"``: no mine, and none around; the same for up to nine cells.
- ``"given"``: the board begins with a cell open that has no mine around, and with what that opens. Never all of it.

A replayed instance so has its mines on the same cells, but for those which the first cell moves: who reveals the same
cell first gets the same board to the letter.

A board *without guesses* is one on which a player who reveals only cells that are proven to be safe, opens all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

from mage_envs.errors import MageError
from mage_envs.games.chance import splitmix64
from mage_envs.worlds.minesweeper.board import Board, Play
from mage_envs.worlds.minesweeper.grid import LARGEST, SMALLEST, Grid, bits, grid
from mage_envs.worlds.minesweeper.knowledge import Knowledge
from mage_envs.worlds.minesweeper.probabilities import mine_odds

FirstClick: TypeAlias = Literal["risky", "safe", "zero", "given"]

MAX_DRAWS = 2_000
"""Boards that are drawn for an instance whose board must not be solved at the start, or must need no guess."""

_ASKED = {True: "logic alone solves", False: "is not solved at the start"}


class LayoutError(MageError, ValueError):
    """A setting for which no board was found."""


@dataclass(frozen=True)
class Setting:
    """What boards there are.

    Attributes:
        rows: In 2..30.
        columns: In 2..30.
        mines: At least 1; at most one less than there are cells, or than 9 cells less where the first is a zero.
        first_click: What the first revealed cell may be; see the module.
        no_guess: Whether logic alone solves every board; needs ``first_click="given"``.
    """

    rows: int = 6
    columns: int = 6
    mines: int = 3
    first_click: FirstClick = "risky"
    no_guess: bool = False

    def __post_init__(self) -> None:
        """Checks the values.

        Raises:
            ValueError: One out of range, or no guesses without a given cell.
        """
        for name, value in (("rows", self.rows), ("columns", self.columns)):
            _check(name, value, SMALLEST, LARGEST)
        if self.first_click not in get_args(FirstClick):
            raise ValueError(f"first_click must be one of {get_args(FirstClick)}, got {self.first_click!r}")
        if self.no_guess not in (True, False):
            raise ValueError(f"no_guess must be true or false, got {self.no_guess!r}")
        if self.no_guess and self.first_click != "given":
            raise ValueError("no_guess=true needs a cell to begin with: set first_click='given'")
        around = min(self.rows, 3) * min(self.columns, 3) if self.first_click in ("zero", "given") else 1
        if self.rows * self.columns <= around:
            raise ValueError(
                f"first_click={self.first_click!r} needs more than {around} cells: set more rows or columns"
            )
        _check("mines", self.mines, 1, self.rows * self.columns - around)


class Layout(NamedTuple):
    """An instance, laid out.

    Attributes:
        play: The board at the start.
        order: Cells that a mine under the first revealed cell goes to, the first free one first; empty if none moves.
    """

    play: Play
    order: tuple[int, ...] = ()


def lay_out(setting: Setting, instance: int) -> Layout:
    """Returns the start of an instance.

    Args:
        setting: What boards there are.
        instance: Its number, at least 0.

    Raises:
        LayoutError: None of ``MAX_DRAWS`` boards is as the setting asks.
    """
    board = grid(setting.rows, setting.columns)
    if setting.first_click != "given":
        order = tuple(_order(board.all, instance, setting.mines + spare(setting)))
        play = Play(Board.of(board, _set(order[: setting.mines])))
        return Layout(play, order[setting.mines :])
    for draw in range(MAX_DRAWS):
        play = _given(setting, board, splitmix64(instance, draw))
        if not play.won and (not setting.no_guess or needs_no_guess(play)):
            return Layout(play)
    raise LayoutError(
        f"no board of {setting.rows}×{setting.columns} with {setting.mines} mines that {_ASKED[setting.no_guess]} in "
        f"{MAX_DRAWS} draws: set fewer mines"
    )


def forbidden(setting: Setting, board: Grid, first: int) -> int:
    """Returns the cells that have no mine if this one is revealed first, as a set."""
    if setting.first_click == "risky":
        return 0
    return 1 << first if setting.first_click == "safe" else 1 << first | board.around[first]


def moved(setting: Setting, layout: Layout, first: int) -> Board:
    """Returns the board after the first revealed cell is known: mines that must not lie there have moved."""
    board = layout.play.board
    barred = forbidden(setting, board.grid, first)
    homeless = (board.mines & barred).bit_count()
    if not homeless:
        return board
    free = [cell for cell in layout.order if not barred >> cell & 1]
    return Board.of(board.grid, board.mines & ~barred | _set(tuple(free[:homeless])))


def spare(setting: Setting) -> int:
    """Returns how many cells of the order are needed beyond the mines: for those that the first cell moves."""
    return {"risky": 0, "safe": 1, "zero": 9, "given": 0}[setting.first_click]


def needs_no_guess(play: Play) -> bool:
    """Whether a player who reveals only cells that are proven to be safe opens all of them."""
    board = play.board
    while not play.won:
        safe = mine_odds(Knowledge(board.grid, board.mines.bit_count(), play.shown())).safe
        if not safe:
            return False
        for cell in bits(safe):
            if not play.opened >> cell & 1:
                play = play.reveal(cell)
    return True


def _given(setting: Setting, board: Grid, seed: int) -> Play:
    """Draws a cell to begin with, then mines elsewhere."""
    start = next(_order(board.all, seed, 1))
    allowed = board.all & ~forbidden(setting, board, start)
    mines = _set(tuple(_order(allowed, splitmix64(seed, 0), setting.mines)))
    return Play(Board.of(board, mines)).reveal(start)


def _order(cells: int, seed: int, count: int) -> Iterator[int]:
    """Yields the first ``count`` cells of a random order; fewer if there are fewer (Fisher and Yates)."""
    left = list(bits(cells))
    for index in range(min(count, len(left))):
        place = index + (splitmix64(seed, index) * (len(left) - index) >> 64)
        left[index], left[place] = left[place], left[index]
        yield left[index]


def _set(cells: tuple[int, ...]) -> int:
    return sum(1 << cell for cell in cells)


def _check(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer in {low}..{high}, got {value!r}")
