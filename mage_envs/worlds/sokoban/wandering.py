"""A loop that plays backwards at random, for rooms with too many states to look at them all."""

from __future__ import annotations

import numpy as np

from mage_envs.worlds.compiling import compiled
from mage_envs.worlds.sokoban.arrays import Array
from mage_envs.worlds.sokoban.search import flood

_SAME_BOX = 0.5


@compiled
def wander(u: Array, near: Array, player: int, budget: int, at: Array) -> int:
    """Pulls boxes about at random, each pull by a shortest walk, until it would take more moves than the budget.

    Undoing all of it solves the room, so that the budget bounds the length of its shortest solution.

    Args:
        u: Two uniform numbers for each move of the budget.
        near: Neighbours, shape ``(n, 4)``.
        player: The player's cell.
        budget: Moves.
        at: Cells of the boxes; is changed.

    Returns:
        The player's cell at the end.
    """
    n, boxes, left, last, pulls = near.shape[0], at.shape[0], budget, -1, 0
    occupied, far, queue = np.zeros(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for cell in at:
        occupied[cell] = 1
    ways = np.empty((4 * boxes, 3), dtype=np.int64)
    while True:
        flood(near, player, occupied, far, queue)
        count, same = 0, 0
        for b in range(boxes):
            for heading in range(4):
                stand = near[at[b], heading]
                if stand < 0 or far[stand] < 0 or far[stand] + 1 > left:
                    continue
                end = near[stand, heading]
                if end < 0 or occupied[end]:
                    continue
                if b == last:  # Those of the box that was pulled last come first.
                    ways[count], ways[same] = ways[same].copy(), np.array([b, stand, end])
                    same += 1
                else:
                    ways[count] = np.array([b, stand, end])
                count += 1
        if count == 0:
            return player
        among = same if same > 0 and u[2 * pulls] < _SAME_BOX else count
        b, stand, end = ways[int(u[2 * pulls + 1] * among)]
        pulls += 1
        left -= far[stand] + 1
        occupied[at[b]], occupied[stand] = 0, 1
        at[b], player, last = stand, end, b
