"""Levels: walls, targets, boxes and a player, in the standard text format XSB.

``#`` wall, ``@`` player, ``+`` player on a target, ``$`` box, ``*`` box on a target, ``.`` target, space floor (``-``
and ``_`` are read, too). A level that is one line has ``/`` between its rows. What the player could never get to, the
boxes away, is wall.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mage_envs.errors import LevelError
from mage_envs.worlds.sokoban.arrays import Array

WALL, FLOOR, TARGET, BOX, BOX_ON_TARGET, PLAYER, PLAYER_ON_TARGET = SYMBOLS = "# .$*@+"
HEADINGS = ("up", "down", "left", "right")
MAX_ROWS, MAX_COLUMNS = 40, 60

_READ = str.maketrans("-_", "  ")


class Optimum(NamedTuple):
    """The proven length of a level's solutions.

    Attributes:
        moves: The fewest moves that solve it, pushes included.
        pushes: The fewest pushes that solve it, however long the way.
    """

    moves: int
    pushes: int


class Floor(NamedTuple):
    """The floor of a level as the compiled loops want it.

    Attributes:
        cells: Index of each cell, ``row * columns + column``, ascending; shape ``(n,)``.
        near: Numbers of its neighbours up, down, left, right, −1 for a wall; shape ``(n, 4)``.
        number: From index to number.
    """

    cells: Array
    near: Array
    number: dict[int, int]

    def numbers(self, indices: Iterable[int]) -> Array:
        """Returns the numbers of cells given by their indices, ascending."""
        return np.array(sorted(self.number[index] for index in indices), dtype=np.int64)


@dataclass(frozen=True)
class Level:
    """A level. Two are equal if they are the same picture.

    Attributes:
        rows: The level in XSB, one text a row, all of the same length.
        optimum: Its proven length, if it is known.
    """

    rows: tuple[str, ...]
    optimum: Optimum | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        """The level in one line."""
        return "/".join(self.rows)

    @cached_property
    def picture(self) -> str:
        """All cells one after the other; a cell's place in it is its index."""
        return "".join(self.rows)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.rows[0])

    @cached_property
    def walls(self) -> frozenset[int]:
        """Indices of the walls."""
        return self._where(WALL)

    @cached_property
    def targets(self) -> frozenset[int]:
        """Indices of the targets."""
        return self._where(TARGET, BOX_ON_TARGET, PLAYER_ON_TARGET)

    @cached_property
    def boxes(self) -> frozenset[int]:
        """Indices of the boxes."""
        return self._where(BOX, BOX_ON_TARGET)

    @property
    def player(self) -> int:
        """Index of the player."""
        return next(iter(self._where(PLAYER, PLAYER_ON_TARGET)))

    @cached_property
    def steps(self) -> tuple[int, int, int, int]:
        """What a move up, down, left or right adds to an index."""
        return (-self.columns, self.columns, -1, 1)

    @cached_property
    def floor(self) -> Floor:
        """The floor as arrays."""
        cells = [index for index, symbol in enumerate(self.picture) if symbol != WALL]
        number = {index: i for i, index in enumerate(cells)}
        near = [[number.get(index + step, -1) for step in self.steps] for index in cells]
        return Floor(np.array(cells, dtype=np.int64), np.array(near, dtype=np.int64), number)

    def show(self, player: int, boxes: frozenset[int]) -> tuple[str, ...]:
        """Returns the rows with the player and the boxes elsewhere."""
        drawn = [WALL if i in self.walls else TARGET if i in self.targets else FLOOR for i in range(len(self.picture))]
        for box in boxes:
            drawn[box] = BOX_ON_TARGET if box in self.targets else BOX
        drawn[player] = PLAYER_ON_TARGET if player in self.targets else PLAYER
        text = "".join(drawn)
        return tuple(text[start : start + self.columns] for start in range(0, len(text), self.columns))

    def place(self, index: int) -> str:
        """Names a cell: rows and columns are counted from 1."""
        return f"row {index // self.columns + 1}, column {index % self.columns + 1}"

    def _where(self, *symbols: str) -> frozenset[int]:
        return frozenset(index for index, symbol in enumerate(self.picture) if symbol in symbols)


class Loaded(NamedTuple):
    """A level of a file.

    Attributes:
        level: The level.
        line: Number of its first line, from 1.
        deadlocks: Why it cannot be solved, as far as a look at the start shows it; empty if nothing is wrong.
    """

    level: Level
    line: int
    deadlocks: tuple[str, ...]


def load_levels(path: str | Path) -> tuple[Loaded, ...]:
    """Reads a file of levels: XSB collections and Boxoban's files.

    Rows of a level stand together; any other line (a title, a comment, a blank one) comes between levels.

    Args:
        path: The file.

    Returns:
        Its levels, with the deadlocks that they start with.

    Raises:
        LevelError: There is no such file or no level in it, or a level is none; the message names the line.
    """
    from mage_envs.worlds.sokoban.deadlocks import deadlocks

    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()  # Windows' editors begin with a mark.
    except (OSError, ValueError) as error:
        raise LevelError(f"cannot read levels from {str(path)!r}: {error}") from error
    found: list[Loaded] = []
    for first, rows in _blocks(lines):
        try:
            level = make_level(rows)
        except LevelError as error:
            raise LevelError(f"{path}, line {first}: {error}") from error
        found.append(Loaded(level, first, deadlocks(level)))
    if not found:
        raise LevelError(f"{str(path)!r} holds no level: rows of # @ + $ * . and spaces")
    return tuple(found)


def parse_level(text: str) -> Level:
    """Reads one level, its rows separated by ``/`` or line breaks.

    Raises:
        LevelError: It is none.
    """
    return make_level(text.replace("/", "\n").split("\n"))


def make_level(rows: Iterable[str]) -> Level:
    """Makes a level of rows of text.

    Raises:
        LevelError: An unknown symbol, not one player, other than one target a box, a gap in the wall around the player,
            nothing to solve, or a level that is too large.
    """
    lines = [row.rstrip("\r\n").translate(_READ) for row in rows]
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    width = max((len(line) for line in lines), default=0)
    grid = "".join(line.ljust(width) for line in lines)
    if not 3 <= len(lines) <= MAX_ROWS or not 3 <= width <= MAX_COLUMNS:
        raise LevelError(
            f"a level has 3..{MAX_ROWS} rows and 3..{MAX_COLUMNS} columns, this one {len(lines)} and {width}"
        )
    unknown = sorted(set(grid) - set(SYMBOLS))
    if unknown:
        raise LevelError(f"unknown symbol {unknown[0]!r}: a level is written with # @ + $ * . and spaces")
    inside = _inside(grid, width)
    grid = "".join(symbol if index in inside else WALL for index, symbol in enumerate(grid))
    level = Level(tuple(grid[start : start + width] for start in range(0, len(grid), width)))
    if len(level.boxes) != len(level.targets) or not level.boxes:
        raise LevelError(f"a level has as many targets as boxes, this one {len(level.targets)} and {len(level.boxes)}")
    if level.boxes == level.targets:
        raise LevelError("all boxes are on targets: there is nothing to solve")
    return level


def _inside(grid: str, width: int) -> set[int]:
    """Returns the indices of the cells that the player could get to if there were no boxes."""
    players = [index for index, symbol in enumerate(grid) if symbol in (PLAYER, PLAYER_ON_TARGET)]
    if len(players) != 1:
        raise LevelError(f"a level has one player (@ or +), this one {len(players)}")
    inside, waiting = set(players), players
    while waiting:
        index = waiting.pop()
        row, column = divmod(index, width)
        if row in (0, len(grid) // width - 1) or column in (0, width - 1):
            raise LevelError(f"the wall around the player has a gap at row {row + 1}, column {column + 1}")
        beside = {index - width, index + width, index - 1, index + 1} - inside
        new = [cell for cell in beside if grid[cell] != WALL]
        inside.update(new)
        waiting.extend(new)
    return inside


def _blocks(lines: Iterable[str]) -> Iterable[tuple[int, list[str]]]:
    """Yields the rows of each level with the number of the first line."""
    rows: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        text = line.rstrip().translate(_READ)
        if WALL in text and set(text) <= set(SYMBOLS):
            rows.append(text)
        elif rows:
            yield number - len(rows), rows
            rows = []
