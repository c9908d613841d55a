"""Loops that make small rooms: carve a floor, choose targets, and find how far every state is from being solved.

Cells of the floor are numbered from 0, row by row; ``near[cell, heading]`` is the neighbour of a cell, −1 for a wall.
Headings are 0 up, 1 down, 2 left, 3 right, so that ``heading ^ 1`` is the way back. A state is one number: the cells of
the boxes, ascending, then the player's, as digits of base ``n``. All random numbers are given.
"""

from __future__ import annotations

import numpy as np

from mage_envs.worlds.compiling import compiled
from mage_envs.worlds.sokoban.arrays import NUMBERS_A_STEP, Array

DOWN_BY, RIGHT_BY = (-1, 1, 0, 0), (0, 0, -1, 1)

_TURN = 0.35


@compiled
def carve(u: Array, rows: int, columns: int, steps: int, floor: Array) -> None:
    """Carves a floor by a walk that turns now and then and takes rooms of up to two by two cells with it.

    Args:
        u: Uniform numbers, shape at least ``(3 + NUMBERS_A_STEP * steps,)``.
        rows: Rows of the room, walls around it included.
        columns: Its columns.
        steps: Length of the walk.
        floor: Is filled with 1 for floor and 0 for wall; shape ``(rows, columns)``.
    """
    floor[:] = 0
    row, column, heading = 1 + int(u[0] * (rows - 2)), 1 + int(u[1] * (columns - 2)), int(u[2] * 4)
    for step in range(steps):
        first = 3 + NUMBERS_A_STEP * step
        turn, way, shape = u[first], u[first + 1], int(u[first + 2] * 4)
        if turn < _TURN:
            heading = int(way * 4)
        down, right = row + DOWN_BY[heading], column + RIGHT_BY[heading]
        if 0 < down < rows - 1 and 0 < right < columns - 1:
            row, column = down, right
        else:
            heading ^= 1
        for i in range(row, min(row + 1 + shape // 2, rows - 1)):
            for j in range(column, min(column + 1 + shape % 2, columns - 1)):
                floor[i, j] = 1


@compiled
def connect(floor: Array, cells: Array, near: Array) -> int:
    """Numbers the floor.

    Args:
        floor: 1 for floor, 0 for wall, walls all around; shape ``(rows, columns)``.
        cells: Is filled with the flat index of each cell of the floor.
        near: Is filled with the neighbours; shape ``(cells, 4)``.

    Returns:
        The number of cells.
    """
    rows, columns = floor.shape
    number = np.full((rows, columns), -1, dtype=np.int64)
    count = 0
    for i in range(rows):
        for j in range(columns):
            if floor[i, j]:
                number[i, j] = count
                cells[count] = i * columns + j
                count += 1
    for cell in range(count):
        i, j = cells[cell] // columns, cells[cell] % columns
        for heading in range(4):
            near[cell, heading] = number[i + DOWN_BY[heading], j + RIGHT_BY[heading]]
    return count


@compiled
def choose(u: Array, n: int, chosen: Array) -> None:
    """Chooses different numbers in 0..n-1, ascending; each set is as likely as any other.

    Args:
        u: A uniform number for each.
        n: How many there are to choose from.
        chosen: Is filled.
    """
    for i in range(chosen.shape[0]):
        value, place = int(u[i] * (n - i)), 0
        while place < i and chosen[place] <= value:
            value += 1
            place += 1
        for later in range(i, place, -1):
            chosen[later] = chosen[later - 1]
        chosen[place] = value


@compiled
def packed(at: Array, box: int, cell: int, player: int, n: int) -> int:
    """Returns the number of a state in which one box has moved.

    Args:
        at: Cells of the boxes, ascending.
        box: Which of them has moved; −1 for none.
        cell: Where to.
        player: The player's cell.
        n: Number of cells.
    """
    key, waiting = 0, box >= 0
    for b in range(at.shape[0]):
        if b == box:
            continue
        if waiting and cell < at[b]:
            key = key * n + cell
            waiting = False
        key = key * n + at[b]
    if waiting:
        key = key * n + cell
    return key * n + player


@compiled
def unpack(state: int, n: int, at: Array) -> int:
    """Fills in the cells of the boxes of a state. Returns the player's cell."""
    rest = state // n
    for b in range(at.shape[0] - 1, -1, -1):
        at[b] = rest % n
        rest //= n
    return state % n


@compiled
def backwards(near: Array, state: int, at: Array, before: Array) -> int:
    """Finds the states from which one move leads to a state.

    Args:
        near: Neighbours, shape ``(n, 4)``.
        state: The state.
        at: Room for the cells of the boxes.
        before: Is filled with rows of such a state and whether the move is a push; shape ``(8, 2)``.

    Returns:
        The number of rows.
    """
    n, count = near.shape[0], 0
    player = unpack(state, n, at)
    for heading in range(4):
        behind, front = near[player, heading ^ 1], near[player, heading]
        free, box = behind >= 0, -1
        for b in range(at.shape[0]):
            if at[b] == behind:
                free = False
            elif at[b] == front:
                box = b
        if not free:
            continue
        before[count, 0], before[count, 1] = state - player + behind, 0
        count += 1
        if box >= 0:
            before[count, 0], before[count, 1] = packed(at, box, player, behind, n), 1
            count += 1
    return count


@compiled
def sweep(near: Array, targets: Array, walk: int, limit: int, stop: int, far: Array) -> int:
    """Finds how far states are from being solved, by playing backwards from all solved ones, breadth first.

    Args:
        near: Neighbours, shape ``(n, 4)``.
        targets: Cells, ascending.
        walk: What a move without a push costs: 1 to count moves, 0 to count pushes.
        limit: States further away are left out.
        stop: State at which it is enough; −1 for none.
        far: Is filled with the distance of each state, −1 if it is further than the limit; shape
            ``(n ** (boxes + 1),)``.

    Returns:
        The distance of the farthest state that was found.
    """
    n = near.shape[0]
    far[:] = -1
    now, later = np.empty(2 * far.shape[0], dtype=np.int64), np.empty(2 * far.shape[0], dtype=np.int64)
    at, before = np.empty(targets.shape[0], dtype=np.int64), np.empty((8, 2), dtype=np.int64)
    size, level, farthest = 0, 0, 0
    for cell in range(n):
        if not np.any(targets == cell):
            now[size] = packed(targets, -1, 0, cell, n)
            far[now[size]] = 0
            size += 1
    while size > 0 and level < limit and (stop < 0 or far[stop] < 0 or far[stop] > level):
        i, ahead, farthest = 0, 0, level
        while i < size:
            state = now[i]
            i += 1
            if far[state] < level:  # Found again with fewer pushes.
                continue
            for k in range(backwards(near, state, at, before)):
                found, cost = before[k, 0], level + max(walk, before[k, 1])
                if 0 <= far[found] <= cost:
                    continue
                far[found] = cost
                if cost > level:
                    later[ahead] = found
                    ahead += 1
                else:
                    now[size] = found
                    size += 1
        now, later, size = later, now, ahead
        level += 1
    return level if size > 0 else farthest


@compiled
def pick(u: float, far: Array, low: int, high: int) -> int:
    """Returns one of the states whose distance is in ``low..high``, each as likely; −1 if there is none."""
    count = 0
    for state in range(far.shape[0]):
        count += low <= far[state] <= high
    left = int(u * count)
    for state in range(far.shape[0]):
        if low <= far[state] <= high:
            if left == 0:
                return state
            left -= 1
    return -1
