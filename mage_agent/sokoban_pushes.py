"""What scripted Sokoban agents see in a view: the room, and the pushes that can be made in it."""

from __future__ import annotations

from typing import NamedTuple

from mage_agent.base import Briefing
from mage_envs.errors import UnsupportedGameError
from mage_envs.worlds import WorldView
from mage_envs.worlds.sokoban import Level, Sokoban, parse_level
from mage_envs.worlds.sokoban.solver import shortest_walk

_FAR = 1_000


class Push(NamedTuple):
    """A push that can be made now.

    Attributes:
        box: Index of the box's cell.
        heading: 0 up, 1 down, 2 left, 3 right.
        moves: The moves that make it: a shortest walk to the box, then the push.
        gain: By how much it lessens the sum of each box's way to its nearest target, counted in pushes of a box that
            is alone in the room; very negative if the box can then get to no target.
    """

    box: int
    heading: int
    moves: tuple[int, ...]
    gain: int


def check_sokoban(briefing: Briefing) -> None:
    """Refuses whatever is not Sokoban.

    Raises:
        UnsupportedGameError: A game, or another world, is played.
    """
    if not isinstance(briefing.world, Sokoban):
        raise UnsupportedGameError(f"this agent plays Sokoban, not {briefing.world.title}")


def seen_level(view: WorldView) -> Level:
    """Returns the room of a view as a level of its own."""
    return parse_level("/".join(view.facts["rows"]))


def pushes(level: Level) -> list[Push]:
    """Returns the pushes that can be made at the start of a level, by box and heading."""
    ways = _ways(level)
    found = []
    for box in sorted(level.boxes):
        for heading, step in enumerate(level.steps):
            ahead, stand = box + step, box - step
            blocked = level.walls | level.boxes
            if ahead in blocked or stand in blocked:
                continue
            walk = _walk(level, stand)
            if walk is not None:
                gain = ways.get(box, _FAR) - ways.get(ahead, _FAR)
                found.append(Push(box, heading, (*walk, heading), gain))
    return found


def _walk(level: Level, end: int) -> list[int] | None:
    try:
        return shortest_walk(level, level.player, end, set(level.boxes))
    except ValueError:
        return None


def _ways(level: Level) -> dict[int, int]:
    """Returns the pushes that a lone box needs from each cell to its nearest target, where it can get to one."""
    ways = dict.fromkeys(level.targets, 0)
    waiting = sorted(level.targets)
    for cell in waiting:
        for step in level.steps:
            before = cell - step
            if before not in ways and before not in level.walls and before - step not in level.walls:
                ways[before] = ways[cell] + 1
                waiting.append(before)
    return ways
