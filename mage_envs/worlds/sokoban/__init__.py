"""Sokoban: rooms with proven shortest solutions, levels in XSB, an exact solver. See :mod:`.world`."""

from __future__ import annotations

from mage_envs.worlds.sokoban.levels import Level, Loaded, Optimum, load_levels, parse_level
from mage_envs.worlds.sokoban.rooms import RoomKind, make_room
from mage_envs.worlds.sokoban.solver import Solution, solve
from mage_envs.worlds.sokoban.world import Room, Sokoban, split_of

__all__ = [
    "Level", "Loaded", "Optimum", "Room", "RoomKind", "Sokoban", "Solution", "load_levels", "make_room", "parse_level",
    "solve", "split_of",
]  # fmt: skip
