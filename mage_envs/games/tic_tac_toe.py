"""Tic-Tac-Toe: three in a row on a 3×3 board. Perfect play is a draw; 5,478 boards can be reached from the empty one.

Over OpenSpiel's ``tic_tac_toe``: action ``3 * row + column`` puts a mark on that cell, both counted from 0 at the top
left. The tensor is OpenSpiel's: three planes of nine cells, empty, O, X, the same for both seats.
"""

from __future__ import annotations

from mage_envs.games import GAMES
from mage_envs.games.base import Facts, GameSpec, WorkedExample
from mage_envs.games.boards import MARKS, board_facts, draw, say_turn

SIDE = 3
ROWS = tuple(f"r{row + 1}" for row in range(SIDE))
COLUMNS = tuple(f"c{column + 1}" for column in range(SIDE))
PLACES = ("top-left", "top", "top-right", "left", "centre", "right", "bottom-left", "bottom", "bottom-right")
OTHER_PLACES = {4: ("center", "middle"), 1: ("top-middle",), 3: ("middle-left",), 5: ("middle-right",),
                7: ("bottom-middle",)}  # fmt: skip

RULES = """\
Tic-Tac-Toe, two players on a board of 3 rows and 3 columns. Seat 0 plays X and moves first, seat 1 plays O.
In turn, a player puts a mark on an empty cell. Cells are named by row and column, counted from 1 at the top left:
r1c1 is the top left cell, r1c3 the top right one, r2c2 the centre.
The first to have three marks in a row, in a column or on a diagonal wins. A full board without that is a draw.
The result of a game is +1 for a win, 0 for a draw, -1 for a loss."""


def _describe(facts: Facts) -> str:
    board = draw(facts["rows"], ROWS, COLUMNS)
    return f"You play {MARKS[facts['seat']]}.\n{board}\n{say_turn(facts, 'three in a row')}"


def _spellings(action: int) -> tuple[str, ...]:
    row, column = (index + 1 for index in divmod(action, SIDE))
    place = PLACES[action]
    names = (f"r{row}c{column}", f"({row},{column})", f"({row}, {column})", f"{row},{column}", f"{row}, {column}")
    places = (place, place.replace("-", " "), *OTHER_PLACES.get(action, ()))
    return (*names, f"row {row}, column {column}", f"row {row} column {column}", *dict.fromkeys(places))


SPELLINGS = tuple(_spellings(action) for action in range(SIDE * SIDE))

SPEC = GameSpec(
    name="tic_tac_toe",
    title="TicTacToe",
    openspiel="tic_tac_toe",
    rules=RULES,
    facts=board_facts,
    describe=_describe,
    words=lambda facts, action: SPELLINGS[action],
    vocabulary=frozenset(name for names in SPELLINGS for name in names),
    population="tictactoe/train",
    merge=True,
    examples=(
        WorkedExample((4, 1, 0, 8, 6, 2, 3), (1.0, -1.0), "X takes the centre and corners, forks, and fills column 1."),
        WorkedExample((0, 4, 8, 2, 6, 3, 7), (1.0, -1.0), "O answers opposite corners with a corner: X forks, row 3."),
        WorkedExample((1, 4, 7, 0, 3, 8), (-1.0, 1.0), "X starts on edges; O takes the diagonal."),
        WorkedExample((4, 0, 8, 2, 1, 7, 3, 5, 6), (0.0, 0.0), "Every threat is blocked, the board fills: a draw."),
    ),
)


GAMES.register("tic_tac_toe", lambda: SPEC)
