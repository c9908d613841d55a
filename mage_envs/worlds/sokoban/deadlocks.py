"""Deadlocks that a look at the boxes shows: each found one is certain, not all are found."""

from __future__ import annotations

import numpy as np

from mage_envs.worlds.sokoban.levels import Level


def deadlocks(level: Level, boxes: frozenset[int] | None = None) -> tuple[str, ...]:
    """Returns why a level cannot be solved any more.

    Args:
        level: The level.
        boxes: Where the boxes are; None: where they start.

    Returns:
        One sentence a deadlock: boxes on cells from which no lone box gets to a target, boxes that can never move
        again off target, or more boxes than can be given a target each. Empty if none of this is so.
    """
    from mage_envs.worlds.sokoban import search

    at = level.boxes if boxes is None else boxes
    floor = level.floor
    cells, targets = floor.numbers(at), floor.numbers(level.targets)
    alone = search.pushes_alone(floor.near, targets)
    occupied, goal = (np.isin(np.arange(len(floor.near)), where).astype(np.int64) for where in (cells, targets))
    found = []
    for cell in cells:
        where = level.place(int(floor.cells[cell]))
        if alone[:, cell].min() >= search.FAR:
            found.append(f"the box at {where} can be pushed to no target")
        elif search.frozen(floor.near, int(cell), occupied, goal):
            found.append(f"the box at {where} can never move again, and a box beside it or it is off target")
    if not found and len(cells) <= search.MAX_BOXES:
        room = np.empty(1 << len(cells), dtype=np.int64)
        if search.assigned(cells, alone, room) >= search.FAR:
            found.append("the boxes cannot all get a target: several can only be pushed to the same one")
    return tuple(found)
