"""Writes households as ``game.tw-pddl`` files, which TextWorld loads and in which it can be won."""

from __future__ import annotations

import json
from pathlib import Path

from mage_envs.worlds.alfworld.game import check_dialect
from mage_envs.worlds.alfworld.layout import Expression, Layout
from mage_envs.worlds.alfworld.pddl_logic import domain, grammar

_RECEPTACLE_TYPES = ("SinkBasinType", "MicrowaveType", "FridgeType")
_THING_TYPES = ("KnifeType", "ButterKnifeType")
"""Types that the domain itself names: a problem must declare them even where the house has none."""


def write_game(layout: Layout, path: str | Path, dialect: str = "0.4") -> None:
    """Writes a file that :meth:`~mage_envs.worlds.alfworld.Game.from_file` and TextWorld read.

    Args:
        layout: The household.
        path: The file; its name should be ``game.tw-pddl``, by which ALFWorld finds games.
        dialect: In which TextWorld plays it.

    Raises:
        ValueError: There is no such dialect.
    """
    known = check_dialect(dialect)
    held = {
        "pddl_domain": domain(known),
        "grammar": grammar(known, layout.task),
        "pddl_problem": problem(layout),
        "solvable": True,
    }
    Path(path).write_text(json.dumps(held), encoding="utf-8")


def problem(layout: Layout) -> str:
    """Returns the problem part of a file."""
    facts = layout.facts
    contained = facts.get("canContain", [])
    receptacle_types = {row[1] for row in facts.get("receptacleType", [])} | {row[0] for row in contained}
    thing_types = {row[1] for row in facts.get("objectType", [])} | {row[1] for row in contained}
    kinds = {
        "agent": [row[0] for row in facts["atLocation"]],
        "object": layout.things,
        "receptacle": layout.receptacles,
        "location": layout.locations,
        "rtype": sorted(receptacle_types.union(_RECEPTACLE_TYPES)),
        "otype": sorted({*thing_types, *_THING_TYPES, *_types_in(layout.goal)} - receptacle_types),
    }
    objects = "\n".join(f"{name} - {kind}" for kind, names in kinds.items() for name in names)
    start = "\n".join(f"({' '.join((predicate, *row))})" for predicate, rows in facts.items() for row in rows)
    return (
        f"(define (problem household)\n(:domain alfred)\n(:objects\n{objects}\n)\n(:init\n{start}\n)\n"
        f"(:goal {_written(layout.goal)}\n))\n"
    )


def _types_in(goal: Expression) -> list[str]:
    if isinstance(goal, str):
        return []
    if goal and goal[0] == "objectType":
        return [str(goal[2])]
    return [name for part in goal for name in _types_in(part)]


def _written(goal: Expression) -> str:
    return goal if isinstance(goal, str) else f"({' '.join(map(_written, goal))})"
