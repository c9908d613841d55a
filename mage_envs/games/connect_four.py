"""Connect Four: four in a row on a board of 7 columns and 6 rows. With perfect play seat 0 wins (Allen; Allis 1988).

Source: V. Allis, "A knowledge-based approach of Connect-Four", 1988. Over OpenSpiel's ``connect_four``: action c drops
a disc into column c, counted from 0 at the left. The tensor is OpenSpiel's: three planes, X, O, empty, of 6 rows (the
lowest first) by 7 columns, the same for both seats. After 0, 1, 2 … discs there are 1, 7, 49, 238, 1120, 4263, 16422 …
boards (Tromp, "John's Connect Four Playground"; OEIS A212693).

Other boards and lengths of the line have OpenSpiel's names: ``connect_four(rows=4, columns=4)`` has 161,029 boards
(Tromp) and is a draw.
"""

from __future__ import annotations

from functools import lru_cache

from mage_envs.errors import SpecError
from mage_envs.games import GAMES
from mage_envs.games.base import Facts, GameSpec, WorkedExample
from mage_envs.games.boards import MARKS, board_facts, draw, say_turn
from mage_envs.spec_strings import Spec

ROWS, COLUMNS, LINE = 6, 7, 4
SMALLEST, LARGEST = 2, 10
WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

RULES = """\
Connect {name}, two players on an upright board of {columns} columns and {rows} rows. Seat 0 plays X and moves first, \
seat 1 plays O.
In turn, a player drops a disc into a column that is not full; it falls to the lowest free cell.
Columns are named "column 1" to "column {columns}", counted from the left.
The first to have {line} discs in a line, across, up or diagonally, wins. A full board without that is a draw.
The result of a game is +1 for a win, 0 for a draw, -1 for a loss."""

EXAMPLES = (
    WorkedExample((3, 3, 2, 2, 4, 4, 1), (1.0, -1.0), "X builds the bottom row with both ends open, and closes it."),
    WorkedExample((0, 3, 0, 3, 0, 3, 1, 3), (-1.0, 1.0), "X leaves a column of three O open: O stacks the fourth."),
    WorkedExample((0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3), (1.0, -1.0), "X climbs a diagonal from column 1 to column 4."),
)


@lru_cache(maxsize=64, typed=True)
def connect_four(rows: int = ROWS, columns: int = COLUMNS, x_in_row: int = LINE) -> GameSpec:
    """Returns the spec of a board.

    Args:
        rows: Rows, 2..10.
        columns: Columns, 2..10.
        x_in_row: Discs in a line that win, from 2 to the longer side of the board.

    Raises:
        SpecError: Another type or range.
    """
    _check("rows", rows, LARGEST)
    _check("columns", columns, LARGEST)
    _check("x_in_row", x_in_row, max(rows, columns))
    line = WORDS[x_in_row - SMALLEST]
    sizes = (("rows", rows, ROWS), ("columns", columns, COLUMNS), ("x_in_row", x_in_row, LINE))
    others = tuple((name, value) for name, value, usual in sizes if value != usual)
    row_labels, column_labels = _labels(rows, columns)
    spellings = tuple((f"column {c}", c, f"col {c}", f"c{c}") for c in column_labels)

    def describe(facts: Facts) -> str:
        board = draw(facts["rows"], row_labels, column_labels)
        return f"You play {MARKS[facts['seat']]}.\n{board}\n{say_turn(facts, f'{line} in a line')}"

    return GameSpec(
        name=str(Spec("connect_four", (), others)),
        title="ConnectFour",
        openspiel=f"connect_four(rows={rows},columns={columns},x_in_row={x_in_row})" if others else "connect_four",
        rules=RULES.format(name=line.title(), rows=rows, columns=columns, line=line),
        facts=board_facts,
        describe=describe,
        words=lambda facts, action: spellings[action],
        vocabulary=frozenset(name for names in spellings for name in names),
        population="connect_four/train",
        merge=True,
        examples=() if others else EXAMPLES,
    )


def _check(name: str, value: object, largest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not SMALLEST <= value <= largest:
        raise SpecError(f"{name} must be an integer in {SMALLEST}..{largest}, got {value!s}")


def _labels(rows: int, columns: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(f"row {row}" for row in range(rows, 0, -1)), tuple(str(column) for column in range(1, columns + 1))


GAMES.register("connect_four", connect_four)
