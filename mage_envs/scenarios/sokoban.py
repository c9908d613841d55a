"""Sokoban as MAGE and LaMer play it: one room in every episode of a meta-episode; what is held out is another kind.

Trained on rooms of 6×6 cells with two boxes; one box, three boxes and larger rooms are held out. Splits are by what a
room looks like, so that no room of one split is in another, mirrored or turned.
"""

from __future__ import annotations

from mage_envs.scenarios.base import Scenario, register

ENV_ID = "mage/Sokoban-meta-v0"
UNIT = "1 if solved, else 0"


def _sokoban(name: str, summary: str, **arguments: int | str) -> Scenario:
    """Makes a scenario with all that decides what a room is, defaults included: it is frozen."""
    kind: dict[str, int | str] = {"rows": 6, "columns": 6, "boxes": 2, "max_moves": 21, "moves_per_turn": 3}
    given = {**kind, **arguments}
    return Scenario(f"sokoban/{name}", ENV_ID, summary, UNIT, None, (0,), "replay", tuple(given.items()))


register(
    _sokoban("train", "6x6 rooms, two boxes: rooms to train on", split="train"),
    _sokoban("validation", "6x6 rooms, two boxes: rooms to choose by", split="validation"),
    _sokoban("test", "6x6 rooms, two boxes: rooms that no training sees", split="test"),
    _sokoban("one_box", "held out: one box", split="test", boxes=1),
    _sokoban("three_boxes", "held out: three boxes", split="test", boxes=3),
    _sokoban("large", "held out: 8x8 rooms", split="test", rows=8, columns=8),
)
