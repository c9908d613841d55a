"""Rooms by reverse play: a floor is carved, targets are chosen, and play runs backwards from the solved room.

Where the states of a room are few, backward play visits all of them, breadth first, so that the start is drawn from
those of a wanted distance and its shortest solution is proven by the way. Where they are many, boxes are pulled about
at random, and A* proves the length afterwards. An attempt that gives too little is followed by another, a few times;
then the best one is taken. Every number comes from the instance's SplitMix64 stream: equal ids, equal rooms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mage_envs.games.chance import chance_uniforms
from mage_envs.worlds.sokoban.arrays import NUMBERS_A_STEP, Array
from mage_envs.worlds.sokoban.levels import Level, Optimum

MIN_SIDE, MAX_SIDE = 5, 12
MAX_BOXES = 5
MAX_MOVES = 200

ATTEMPTS = 12
"""Floors that are tried before the best one is taken."""

FEW_STATES = 400_000
"""Rooms with at most so many states are swept, others are wandered."""

NODES = 1_000_000
"""A wandered room whose proof takes more positions than this is not used."""

_BLOCK = 4_096  # Numbers of a stream that one attempt may take for one purpose.
_WANDERS = 4
_ENOUGH = 5  # Moves a box: a room with as many is taken at once.
_SPARE = 3


class RoomKind(NamedTuple):
    """What kind of room to make.

    Attributes:
        rows: Rows, walls included, 5..12.
        columns: Columns, walls included, 5..12.
        boxes: Boxes, 1..5.
        max_moves: Longest solution in moves, 1..200.
    """

    rows: int
    columns: int
    boxes: int
    max_moves: int


class _Found(NamedTuple):
    """A room that an attempt found; all cells are numbers of the floor. Without pushes, they are not proven yet."""

    moves: int
    pushes: int | None
    near: Array
    cells: Array
    targets: Array
    boxes: Array
    player: int


def make_room(instance: int, kind: RoomKind) -> Level:
    """Makes the room of an instance.

    Args:
        instance: In 0..2**53 - 1.
        kind: What kind of room.

    Returns:
        A level with its optimum: never solved, and solved within ``kind.max_moves`` moves.
    """
    best: _Found | None = None
    enough = min(kind.max_moves, _ENOUGH * kind.boxes)
    for attempt in range(ATTEMPTS):
        found = _attempt(instance, attempt, kind)
        if found is not None and (best is None or found.moves > best.moves):
            best = found
        if best is not None and best.moves >= enough:
            break
    chosen = _plain(kind) if best is None else best
    return _level(kind, chosen, Optimum(chosen.moves, _fewest_pushes(chosen, kind.max_moves)))


def _attempt(instance: int, attempt: int, kind: RoomKind) -> _Found | None:
    """Makes one room; None if there is nothing in it to do."""
    from mage_envs.worlds.sokoban import carving

    rows, columns, boxes, max_moves = kind
    steps = 2 * (rows + columns)
    carved = 3 + NUMBERS_A_STEP * steps
    u = _numbers(instance, 2 * attempt, carved + boxes + 1)
    floor = np.empty((rows, columns), dtype=np.int64)
    cells, near = np.empty(rows * columns, dtype=np.int64), np.empty((rows * columns, 4), dtype=np.int64)
    carving.carve(u, rows, columns, steps, floor)
    n = carving.connect(floor, cells, near)
    if n < boxes + _SPARE:
        return None
    targets = np.empty(boxes, dtype=np.int64)
    carving.choose(u[carved:], n, targets)
    if n ** (boxes + 1) <= FEW_STATES:
        return _swept(u[-1], cells[:n], near[:n], targets, max_moves)
    more = _numbers(instance, 2 * attempt + 1, 2 + _WANDERS * 2 * max_moves)
    return _wandered(more, cells[:n], near[:n], targets, max_moves)


def _numbers(instance: int, block: int, count: int) -> Array:
    """Returns the first numbers of a block of an instance's stream."""
    return chance_uniforms(np.array([instance]), np.arange(block * _BLOCK, block * _BLOCK + count))


def _swept(u: float, cells: Array, near: Array, targets: Array, max_moves: int) -> _Found | None:
    """Draws the start from the farther half of the distances that there are."""
    from mage_envs.worlds.sokoban import carving

    n, boxes = len(cells), len(targets)
    far = np.empty(n ** (boxes + 1), dtype=np.int16)
    farthest = carving.sweep(near, targets, 1, max_moves, -1, far)
    if farthest == 0:
        return None
    state = carving.pick(u, far, (farthest + 1) // 2, farthest)
    at = np.empty(boxes, dtype=np.int64)
    player = carving.unpack(state, n, at)
    return _Found(int(far[state]), None, near, cells, targets, at, player)


def _fewest_pushes(found: _Found, max_moves: int) -> int:
    """Returns the fewest pushes that solve a room, by playing backwards if they are not proven yet."""
    from mage_envs.worlds.sokoban import carving

    if found.pushes is not None:
        return found.pushes
    n = len(found.cells)
    far = np.empty(n ** (len(found.boxes) + 1), dtype=np.int16)
    state = carving.packed(found.boxes, -1, 0, found.player, n)
    carving.sweep(found.near, found.targets, 0, max_moves, state, far)
    return int(far[state])


def _wandered(u: Array, cells: Array, near: Array, targets: Array, max_moves: int) -> _Found | None:
    """Wanders a few times and takes the longest room."""
    from mage_envs.worlds.sokoban import search, wandering

    free = np.setdiff1d(np.arange(len(cells)), targets)
    start = int(free[int(u[0] * len(free))])
    best: _Found | None = None
    for number in range(_WANDERS):
        at = targets.copy()
        first = 2 + 2 * max_moves * number
        player = wandering.wander(u[first : first + 2 * max_moves], near, start, max_moves, at)
        at.sort()
        moves, _, _ = search.search(near, player, at, targets, 1, max_moves, NODES)
        if moves > (0 if best is None else best.moves):
            pushes, _, _ = search.search(near, player, at, targets, 0, max_moves, NODES)
            if pushes > 0:
                best = _Found(int(moves), int(pushes), near, cells, targets, at, player)
    return best


def _plain(kind: RoomKind) -> _Found:
    """Returns the room that is left if no attempt found one: open, all targets at its top, one box pulled down.

    A box below its target, and the player below the box, is one push from being solved. Where the box stands in the
    last row of targets, the player has room for it below, since five boxes fill less than two rows of three.
    """
    rows, columns, boxes, _ = kind
    inner = columns - 2
    cells = np.array([row * columns + column for row in range(1, rows - 1) for column in range(1, columns - 1)])
    targets = np.arange(boxes)
    box = max(0, boxes - inner)
    moved = box + inner
    at = np.sort(np.append(np.delete(targets, box), moved))
    nothing = np.empty((0, 4), dtype=np.int64)
    return _Found(1, 1, nothing, cells, targets, at, moved + inner)


def _level(kind: RoomKind, found: _Found, optimum: Optimum) -> Level:
    picture: list[Any] = ["#"] * (kind.rows * kind.columns)
    index = found.cells.tolist()
    targets, boxes = set(found.targets.tolist()), set(found.boxes.tolist())
    for cell, place in enumerate(index):
        target = cell in targets
        if cell == found.player:
            picture[place] = "+" if target else "@"
        elif cell in boxes:
            picture[place] = "*" if target else "$"
        else:
            picture[place] = "." if target else " "
    rows = ("".join(picture[start : start + kind.columns]) for start in range(0, len(picture), kind.columns))
    return Level(tuple(rows), optimum)
