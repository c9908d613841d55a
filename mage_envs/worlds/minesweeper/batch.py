"""Many boards at once: what each cell shows, as arrays, of which a reveal changes what it opens and nothing else.

Boards come from the same numbers as single ones (:mod:`.layout`); a test plays both side by side.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mage_envs.games.chance import splitmix64
from mage_envs.worlds.compiling import compiled
from mage_envs.worlds.minesweeper.board import Play
from mage_envs.worlds.minesweeper.grid import Grid, bits
from mage_envs.worlds.minesweeper.layout import Setting, lay_out, spare

_KEPT = 100_000
"""Boards with a given cell whose start is kept."""

_FLAG, _ZERO, _MINE = 1, 2, 11
"""Planes: 0 hidden, 1 flag, 2 to 10 the numbers 0 to 8, 11 mine."""

Array = npt.NDArray[Any]


class MineSweeperBatch:
    """Boards of one setting; see :class:`~mage_envs.worlds.base.WorldBatch`."""

    def __init__(self, setting: Setting, board: Grid, planes: int, count: int) -> None:
        """Makes the arrays.

        Args:
            setting: What boards there are.
            board: Their cells.
            planes: Planes of an observation.
            count: Number of boards.
        """
        self._setting, cells = setting, board.cells
        self.observations = np.zeros((count, planes, board.rows, board.columns), dtype=np.float32)
        self.mask = np.zeros((count, 2 * cells), dtype=np.int8)
        self._near = np.full((cells, 8), -1, dtype=np.int64)
        for cell, near in enumerate(board.neighbours):
            self._near[cell, : len(near)] = near
        self._shows, self._numbers = np.zeros((count, cells), dtype=np.int8), np.zeros((count, cells), dtype=np.int8)
        self._mined = np.zeros((count, cells), dtype=np.bool_)
        self._left = np.zeros(count, dtype=np.int64)
        # Where mines go that must not lie where the first revealed cell is; −1: it is known, or moves none.
        self._order = np.full((count, max(spare(setting), 1)), -1, dtype=np.int64)
        self._around = setting.first_click == "zero"

    @property
    def _planes(self) -> Array:
        """The observations with all cells in a row: a view that is made anew, since a pickled one would be a copy."""
        return self.observations.reshape(*self.observations.shape[:2], -1)

    def start(self, rows: npt.NDArray[np.int64], instances: npt.NDArray[np.int64]) -> None:
        """Starts boards by their numbers."""
        opened = np.zeros((len(rows), self._mined.shape[1]), dtype=np.bool_)
        mined = opened.copy()
        if self._setting.first_click == "given":
            for row, instance in enumerate(instances.tolist()):
                play: Play = _given(self._setting, instance)
                mined[row, list(bits(play.board.mines))] = True
                opened[row, list(bits(play.opened))] = True
        else:
            mines = self._setting.mines
            order = _orders(instances, self._mined.shape[1], mines + spare(self._setting))
            np.put_along_axis(mined, order[:, :mines], True, axis=1)
            self._order[rows, : order.shape[1] - mines] = order[:, mines:]
        begin(
            rows,
            mined,
            opened,
            self._near,
            self._planes,
            self.mask,
            self._shows,
            self._numbers,
            self._mined,
            self._left,
        )

    def step(
        self, rows: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int8]]:
        """Reveals a cell, or puts a flag on one or takes it away, on each of some boards."""
        outcomes = np.zeros(len(rows), dtype=np.int8)
        stack = np.empty(self._mined.shape[1], dtype=np.int64)
        boards = (self._planes, self.mask, self._shows, self._numbers, self._mined, self._left)
        play(rows, actions, self._order, self._around, self._near, stack, *boards, outcomes)
        return (outcomes == 1).astype(np.float64), outcomes


@lru_cache(maxsize=_KEPT)
def _given(setting: Setting, instance: int) -> Play:
    return lay_out(setting, instance).play


def _orders(instances: npt.NDArray[np.int64], cells: int, count: int) -> npt.NDArray[np.int64]:
    """Returns the first cells of each instance's random order, as :mod:`.layout` draws them, one instance a row."""
    count = min(count, cells)
    left = np.tile(np.arange(cells), (len(instances), 1))
    rows = np.arange(len(instances))
    seeds = instances.astype(np.uint64)
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    for index in range(count):
        words: Any = splitmix64(seeds, np.full(len(rows), index, dtype=np.uint64))
        size = np.uint64(cells - index)
        place = index + (((words >> half) * size + ((words & low) * size >> half)) >> half).astype(np.int64)
        chosen = left[rows, place]
        left[rows, place] = left[:, index]
        left[:, index] = chosen
    return left[:, :count]


@compiled
def put(i: int, cell: int, plane: int, planes: Array, shows: Array) -> None:
    """Lets a cell of a board show something else."""
    planes[i, shows[i, cell], cell] = 0.0
    planes[i, plane, cell] = 1.0
    shows[i, cell] = plane


@compiled
def count_mines(i: int, near: Array, numbers: Array, mined: Array) -> None:
    """Counts the mines around each cell of a board."""
    numbers[i] = 0
    for cell in range(mined.shape[1]):
        if mined[i, cell]:
            for other in near[cell]:
                if other >= 0:
                    numbers[i, other] += 1


@compiled
def begin(
    rows: Array,
    mines: Array,
    opened: Array,
    near: Array,
    planes: Array,
    mask: Array,
    shows: Array,
    numbers: Array,
    mined: Array,
    left: Array,
) -> None:
    """Puts starts into boards.

    Args:
        rows: The boards.
        mines: Where each has its mines.
        opened: What is open on each.
        near: The neighbours of each cell, −1 where there are fewer than 8.
        planes: One-hot planes; shape ``(count, planes, cells)``. These and the following are changed.
        mask: What can be played; shape ``(count, 2 * cells)``.
        shows: The plane of each cell.
        numbers: Mines around each cell.
        mined: Where the mines are.
        left: Safe cells that are not open.
    """
    cells = mined.shape[1]
    for k in range(len(rows)):
        i = rows[k]
        planes[i] = 0.0
        mask[i] = 1
        left[i] = 0
        for cell in range(cells):
            mined[i, cell] = mines[k, cell]
        count_mines(i, near, numbers, mined)
        for cell in range(cells):
            plane = 0
            if opened[k, cell]:
                plane = _ZERO + numbers[i, cell]
                mask[i, cell] = 0
                mask[i, cells + cell] = 0
            elif not mined[i, cell]:
                left[i] += 1
            shows[i, cell] = plane
            planes[i, plane, cell] = 1.0


@compiled
def settle(i: int, first: int, around: bool, order: Array, near: Array, numbers: Array, mined: Array) -> None:
    """Moves the mines that must not lie where the first revealed cell of a board is."""
    barred = near[first]
    homeless = int(mined[i, first])
    mined[i, first] = False
    if around:
        for other in barred:
            if other >= 0 and mined[i, other]:
                homeless += 1
                mined[i, other] = False
    for index in range(order.shape[1]):
        cell = order[i, index]
        free = cell >= 0 and cell != first
        if around:
            for other in barred:
                free = free and cell != other
        if free and homeless > 0:
            mined[i, cell] = True
            homeless -= 1
        order[i, index] = -1
    count_mines(i, near, numbers, mined)


@compiled
def flood(
    i: int, first: int, near: Array, stack: Array, planes: Array, mask: Array, shows: Array, numbers: Array, left: Array
) -> None:
    """Opens a safe cell of a board, and what its zeros reach."""
    cells = shows.shape[1]
    stack[0], size = first, 1
    put(i, first, _ZERO + numbers[i, first], planes, shows)
    while size > 0:
        size -= 1
        cell = stack[size]
        mask[i, cell] = 0
        mask[i, cells + cell] = 0
        left[i] -= 1
        if numbers[i, cell] == 0:
            for other in near[cell]:
                if other >= 0 and shows[i, other] < _ZERO:
                    put(i, other, _ZERO + numbers[i, other], planes, shows)
                    stack[size] = other
                    size += 1


@compiled
def play(
    rows: Array,
    actions: Array,
    order: Array,
    around: bool,
    near: Array,
    stack: Array,
    planes: Array,
    mask: Array,
    shows: Array,
    numbers: Array,
    mined: Array,
    left: Array,
    outcomes: Array,
) -> None:
    """Plays an action on each of some boards.

    Args:
        rows: The boards.
        actions: A cell to reveal it, a cell plus the number of cells for its flag.
        order: Of each board, where mines go that must not lie where the first cell is; −1 if none moves any more.
        around: Whether the first cell has no mine around either.
        near: As for :func:`begin`; so are those that follow ``stack``.
        stack: Room for cells.
        planes: See there.
        mask: See there.
        shows: See there.
        numbers: See there.
        mined: See there.
        left: See there.
        outcomes: Is filled: 1 won, −1 lost, 0 goes on.
    """
    cells = mined.shape[1]
    for k in range(len(rows)):
        i, cell = rows[k], actions[k]
        outcomes[k] = 0
        if cell >= cells:
            cell -= cells
            flagged = shows[i, cell] == _FLAG
            put(i, cell, 0 if flagged else _FLAG, planes, shows)
            mask[i, cell] = 1 if flagged else 0
            continue
        if order[i, 0] >= 0:
            settle(i, cell, around, order, near, numbers, mined)
        if mined[i, cell]:
            outcomes[k] = -1
        else:
            flood(i, cell, near, stack, planes, mask, shows, numbers, left)
            outcomes[k] = left[i] == 0
        if outcomes[k] != 0:
            for other in range(cells):
                if mined[i, other] and shows[i, other] != _FLAG:
                    put(i, other, _MINE, planes, shows)
