"""What a room sounds like: the rules, the grid with its legend, coordinates, and what became of a turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from mage_envs.worlds.base import Facts
from mage_envs.worlds.sokoban.levels import FLOOR

Shown: TypeAlias = Literal["grid", "coordinates"]

_FLOOR_SHOWN = "_"  # A space is lost in many a tokenizer.
_LEGEND = "# wall, _ floor, . target, $ box, * box on a target, @ you, + you on a target"
_RULES = """\
Sokoban: push all boxes onto the targets. There are as many targets as boxes, and any box may go to any target.
You move one cell at a time: up, down, left or right. Moving into a box pushes it one cell further, if the cell behind \
it is free: neither wall nor box. You cannot pull, and push only one box at once. A box in a corner can never leave it.
{shown}
{moves}
You win when every box is on a target."""
_GRID = f"Rows are numbered from the top, columns from the left, both from 1. In the grid: {_LEGEND}."
_COORDINATES = (
    "Cells are named (row, column), counted from 1 at the top left: up lessens the row, left lessens the column."
)


def told_rules(show: str, moves_per_turn: int) -> str:
    """Returns the rules.

    Args:
        show: ``"grid"`` or ``"coordinates"``.
        moves_per_turn: How many moves an answer may hold.
    """
    if moves_per_turn == 1:
        moves = "Each turn you answer with one move. A move that is blocked moves nothing and costs the turn."
    else:
        moves = (
            f"Each turn you answer with 1 to {moves_per_turn} moves, in order, with commas between them: up, up, left. "
            "The turn stops at a move that is blocked by a wall or by a box that cannot move: it moves nothing, and "
            "the moves after it are not tried."
        )
    return _RULES.format(shown=_COORDINATES if show == "coordinates" else _GRID, moves=moves)


def say(facts: Facts) -> str:
    """Returns what became of the last turn, and the room."""
    room = _coordinates(facts["rows"]) if facts["show"] == "coordinates" else _grid(facts["rows"])
    turn = _turn(facts)
    count = f"Boxes on targets: {facts['on_target']} of {facts['boxes']}."
    return "\n".join(part for part in (turn, room, count) if part)


def _turn(facts: Facts) -> str:
    done, blocked, left = facts["done"], facts["blocked"], facts["left"]
    told = [f"You moved {', '.join(done)}."] if done else []
    if blocked:
        told.append(f"{blocked.capitalize()} was blocked by {facts['by']} and moved nothing.")
    if left:
        told.append(f"Not tried: {', '.join(left)}.")
    return " ".join(told)


def _grid(rows: tuple[str, ...]) -> str:
    width = len(str(len(rows[0])))
    margin = len(str(len(rows)))
    head = " " * margin + " " + " ".join(str(column + 1).rjust(width) for column in range(len(rows[0])))
    lines = [
        f"{str(number + 1).rjust(margin)} "
        + " ".join((_FLOOR_SHOWN if symbol == FLOOR else symbol).rjust(width) for symbol in row)
        for number, row in enumerate(rows)
    ]
    return "\n".join([head, *lines])


def _coordinates(rows: tuple[str, ...]) -> str:
    def where(symbols: str) -> list[tuple[int, int]]:
        return [(i + 1, j + 1) for i, row in enumerate(rows) for j, symbol in enumerate(row) if symbol in symbols]

    (player,) = where("@+")
    free = [sorted(cell for cell in where(" .$*@+") if cell[0] == row + 1) for row in range(len(rows))]
    floor = "; ".join(_listed(cells) for cells in free if cells)
    lines = [
        f"Room: {len(rows)} rows, {len(rows[0])} columns.",
        f"You: {player}",
        f"Boxes: {_listed(where('$*'))}",
        f"Targets: {_listed(where('.*+'))}",
        f"Not wall, row by row: {floor}",
    ]
    return "\n".join(lines)


def _listed(cells: Iterable[tuple[int, int]]) -> str:
    return ", ".join(map(str, cells))
