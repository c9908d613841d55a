"""Many rooms at once: symbols and planes as arrays, of which a move changes three cells at most."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mage_envs.worlds.base import World
from mage_envs.worlds.compiling import compiled
from mage_envs.worlds.sokoban.arrays import Array
from mage_envs.worlds.sokoban.levels import SYMBOLS

_KEPT = 100_000
"""When the starts of so many rooms are kept, all are forgotten."""

_NUMBER = {symbol: number for number, symbol in enumerate(SYMBOLS)}
_WALL, _FLOOR, _TARGET, _BOX, _BOX_ON_TARGET, _PLAYER, _PLAYER_ON_TARGET = range(len(SYMBOLS))


class SokobanBatch:
    """Sessions of one :class:`~mage_envs.worlds.sokoban.Sokoban`; see :class:`~mage_envs.worlds.base.WorldBatch`."""

    def __init__(self, world: Any, count: int) -> None:
        """Makes the arrays.

        Args:
            world: The world.
            count: Number of sessions.
        """
        assert isinstance(world, World)
        assert world.box is not None
        planes, rows, columns = world.box.shape
        self._world, cells = world, rows * columns
        self.observations = np.zeros((count, planes, rows, columns), dtype=np.float32)
        self.mask = np.ones((count, 4), dtype=np.int8)
        self._symbols = np.zeros((count, cells), dtype=np.int8)
        self._player, self._off_target = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self._steps = np.array([-columns, columns, -1, 1], dtype=np.int64)
        self._starts: dict[int, int] = {}
        self._table = np.zeros((64, cells), dtype=np.int8)
        world_pays: Any = world
        self._shaped = bool(world_pays.shaped)

    @property
    def _planes(self) -> Array:
        """The observations with all cells in a row: a view that is made anew, since a pickled one would be a copy."""
        return self.observations.reshape(*self.observations.shape[:2], -1)

    def start(self, rows: npt.NDArray[np.int64], instances: npt.NDArray[np.int64]) -> None:
        """Starts rooms by their numbers."""
        if len(self._starts) >= _KEPT:  # Not in between: places that were already looked up would get other rooms.
            self._starts.clear()
        places = np.array([self._place(instance) for instance in instances.tolist()], dtype=np.int64)
        restart(rows, places, self._table, self._symbols, self._planes, self._player, self._off_target)

    def step(
        self, rows: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int8]]:
        """Plays a move in each of some rooms."""
        from mage_envs.worlds.sokoban.world import BOX_REWARD, SOLVED_REWARD, STEP_COST

        rewards, outcomes = np.empty(len(rows), dtype=np.float64), np.empty(len(rows), dtype=np.int8)
        pays = (STEP_COST, BOX_REWARD, SOLVED_REWARD) if self._shaped else (0.0, 0.0, 1.0)
        arrays = (self._steps, self._symbols, self._planes, self._player, self._off_target)
        move(rows, actions, *pays, *arrays, rewards, outcomes)
        return rewards, outcomes

    def _place(self, instance: int) -> int:
        """Returns the row of the table that holds the start of a room."""
        place = self._starts.get(instance)
        if place is None:
            place = self._starts[instance] = len(self._starts)
            if place == len(self._table):
                self._table = np.concatenate([self._table, np.zeros_like(self._table)])
            picture = self._world.start(instance).level.picture
            self._table[place] = [_NUMBER[symbol] for symbol in picture]
        return place


@compiled
def restart(
    rows: Array, places: Array, table: Array, symbols: Array, planes: Array, player: Array, off_target: Array
) -> None:
    """Puts starts of a table into sessions.

    Args:
        rows: The sessions.
        places: The row of the table for each.
        table: Symbols of starts.
        symbols: Symbols of sessions; shape ``(count, cells)``. These and the following are changed.
        planes: 1 where a symbol is; shape ``(count, symbols, cells)``.
        player: Indices of the players' cells.
        off_target: Numbers of boxes off target.
    """
    for k in range(len(rows)):
        i = rows[k]
        off_target[i] = 0
        planes[i] = 0.0
        for cell in range(symbols.shape[1]):
            symbol = table[places[k], cell]
            symbols[i, cell] = symbol
            planes[i, symbol, cell] = 1.0
            off_target[i] += symbol == _BOX
            if symbol >= _PLAYER:
                player[i] = cell


@compiled
def put(i: int, cell: int, symbol: int, symbols: Array, planes: Array) -> None:
    """Puts a symbol into a cell of a session."""
    planes[i, symbols[i, cell], cell] = 0.0
    planes[i, symbol, cell] = 1.0
    symbols[i, cell] = symbol


@compiled
def move(
    rows: Array,
    actions: Array,
    cost: float,
    box_pays: float,
    solved_pays: float,
    steps: Array,
    symbols: Array,
    planes: Array,
    player: Array,
    off_target: Array,
    rewards: Array,
    outcomes: Array,
) -> None:
    """Plays a move in each of some sessions.

    Args:
        rows: The sessions.
        actions: Headings 0..3.
        cost: What a move pays.
        box_pays: What a box that gets on a target pays, and costs when it gets off.
        solved_pays: What the solved room pays.
        steps: What each heading adds to an index.
        symbols: As for :func:`restart`; so are the three that follow.
        planes: See there.
        player: See there.
        off_target: See there.
        rewards: Is filled.
        outcomes: Is filled with 1 for a solved room, else 0.
    """
    for k in range(len(rows)):
        i, step = rows[k], steps[actions[k]]
        here = player[i]
        cell = here + step
        there, on = symbols[i, cell], 0
        goes = there in (_FLOOR, _TARGET)
        if there in (_BOX, _BOX_ON_TARGET):
            beyond = symbols[i, cell + step]
            goes = beyond in (_FLOOR, _TARGET)
            if goes:
                put(i, cell + step, _BOX if beyond == _FLOOR else _BOX_ON_TARGET, symbols, planes)
                there = _FLOOR if there == _BOX else _TARGET
                on = int(beyond == _TARGET) - int(there == _TARGET)
                off_target[i] -= on
        if goes:
            put(i, cell, _PLAYER if there == _FLOOR else _PLAYER_ON_TARGET, symbols, planes)
            put(i, here, _FLOOR if symbols[i, here] == _PLAYER else _TARGET, symbols, planes)
            player[i] = cell
        solved = off_target[i] == 0
        rewards[k] = cost + box_pays * on + solved_pays * solved
        outcomes[k] = solved
