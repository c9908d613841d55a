"""The exact solver: the fewest moves and the fewest pushes of a level, with the moves.

Checked against exhaustive backward play in every room of 6×6 cells with two boxes that a test draws.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from mage_envs.errors import LevelError
from mage_envs.worlds.sokoban.arrays import Array
from mage_envs.worlds.sokoban.levels import HEADINGS, Level

MAX_NODES = 4_000_000
"""Nodes that a search may know before it gives up: about 300 MB."""

_LONGEST = 4_000


class Solution(NamedTuple):
    """A cheapest solution.

    Attributes:
        moves: Headings 0..3 (up, down, left, right), from the start to the end.
        pushes: How many of them push a box.
        expanded: Positions that the search looked into.
    """

    moves: tuple[int, ...]
    pushes: int
    expanded: int

    @property
    def names(self) -> tuple[str, ...]:
        """The moves in words."""
        return tuple(HEADINGS[heading] for heading in self.moves)


def solve(
    level: Level,
    fewest: Literal["moves", "pushes"] = "moves",
    *,
    player: int | None = None,
    boxes: frozenset[int] | None = None,
    max_nodes: int = MAX_NODES,
) -> Solution | None:
    """Finds a cheapest solution.

    Args:
        level: The level: at most 128 cells of floor and 8 boxes.
        fewest: What to count.
        player: Index of the player's cell; None: where the level starts.
        boxes: Indices of the boxes; None: where the level starts.
        max_nodes: Gives up when it knows so many positions.

    Returns:
        The solution; None if there is proof that there is none.

    Raises:
        LevelError: The level is too large, or the search gave up.
    """
    from mage_envs.worlds.sokoban import search

    at, stand = (level.boxes if boxes is None else boxes), (level.player if player is None else player)
    floor = level.floor
    if len(floor.cells) > search.MAX_CELLS or len(at) > search.MAX_BOXES:
        raise LevelError(
            f"the solver takes up to {search.MAX_CELLS} cells of floor and {search.MAX_BOXES} boxes, this level has "
            f"{len(floor.cells)} and {len(at)}"
        )
    cost, expanded, pushes = search.search(
        floor.near,
        floor.number[stand],
        floor.numbers(at),
        floor.numbers(level.targets),
        int(fewest == "moves"),
        _LONGEST,
        max_nodes,
    )
    if cost == search.GAVE_UP:
        raise LevelError(f"no proof within {max_nodes} positions: raise max_nodes")
    if cost == search.UNSOLVABLE:
        return None
    return Solution(_walked(level, stand, at, pushes), len(pushes), int(expanded))


def _walked(level: Level, player: int, boxes: frozenset[int], pushes: Array) -> tuple[int, ...]:
    """Turns pushes into moves, by a shortest walk to each."""
    moves: list[int] = []
    cells, at = level.floor.cells, set(boxes)
    for push in pushes:
        box, heading = int(cells[push // 4]), int(push % 4)
        step = level.steps[heading]
        moves += [*shortest_walk(level, player, box - step, at), heading]
        at.remove(box)
        at.add(box + step)
        player = box
    return tuple(moves)


def shortest_walk(level: Level, start: int, end: int, boxes: set[int]) -> list[int]:
    """Returns the headings of a shortest walk between two cells around the boxes.

    Raises:
        ValueError: There is no way.
    """
    came: dict[int, tuple[int, int]] = {start: (-1, -1)}
    waiting = [start]
    for cell in waiting:
        for heading, step in enumerate(level.steps):
            beside = cell + step
            if beside not in came and beside not in level.walls and beside not in boxes:
                came[beside] = (cell, heading)
                waiting.append(beside)
    if end not in came:
        raise ValueError(f"there is no way from {level.place(start)} to {level.place(end)}")
    walk: list[int] = []
    while end != start:
        end, heading = came[end]
        walk.append(heading)
    return walk[::-1]
