"""Connect Four: four in a row on a board of 7 columns and 6 rows. With perfect play seat 0 wins (Allen; Allis 1988).

Source: V. Allis, "A knowledge-based approach of Connect-Four", 1988. Over OpenSpiel's ``connect_four``: action c drops
a disc into column c, counted from 0 at the left. The tensor is OpenSpiel's: three planes, X, O, empty, of 6 rows (the
lowest first) by 7 columns, the same for both seats. After 0, 1, 2 … discs there are 1, 7, 49, 238, 1120, 4263, 16422 …
boards (Tromp, "John's Connect Four Playground"; OEIS A212693).
"""

from __future__ import annotations

from mage_envs.games import GAMES
from mage_envs.games.base import Facts, GameSpec, WorkedExample
from mage_envs.games.boards import MARKS, board_facts, draw, say_turn

COLUMNS = tuple(str(column) for column in range(1, 8))
ROWS = tuple(f"row {row}" for row in range(6, 0, -1))

RULES = """\
Connect Four, two players on an upright board of 7 columns and 6 rows. Seat 0 plays X and moves first, seat 1 plays O.
In turn, a player drops a disc into a column that is not full; it falls to the lowest free cell.
Columns are named "column 1" to "column 7", counted from the left.
The first to have four discs in a line, across, up or diagonally, wins. A full board without that is a draw.
The result of a game is +1 for a win, 0 for a draw, -1 for a loss."""


def _describe(facts: Facts) -> str:
    board = draw(facts["rows"], ROWS, COLUMNS)
    return f"You play {MARKS[facts['seat']]}.\n{board}\n{say_turn(facts, 'four in a line')}"


SPELLINGS = tuple((f"column {column}", column, f"col {column}", f"c{column}") for column in COLUMNS)

SPEC = GameSpec(
    name="connect_four",
    title="ConnectFour",
    openspiel="connect_four",
    rules=RULES,
    facts=board_facts,
    describe=_describe,
    words=lambda facts, action: SPELLINGS[action],
    vocabulary=frozenset(name for names in SPELLINGS for name in names),
    population="connect_four/train",
    merge=True,
    examples=(
        WorkedExample(
            (3, 3, 2, 2, 4, 4, 1), (1.0, -1.0), "X builds the bottom row with both ends open, and closes it."
        ),
        WorkedExample((0, 3, 0, 3, 0, 3, 1, 3), (-1.0, 1.0), "X leaves a column of three O open: O stacks the fourth."),
        WorkedExample((0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3), (1.0, -1.0), "X climbs a diagonal from column 1 to column 4."),
    ),
)


GAMES.register("connect_four", lambda: SPEC)
