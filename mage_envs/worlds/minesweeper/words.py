"""What is said of a board: the rules, the grid with its legend, and what an answer means."""

from __future__ import annotations

import re
from typing import NamedTuple

from mage_envs.worlds.base import Facts
from mage_envs.worlds.minesweeper.grid import Grid
from mage_envs.worlds.minesweeper.layout import Setting

HINT = "Answer with an action and one cell: reveal r2c3, flag r2c3 or unflag r2c3."

LEGEND = "? hidden, . no mine around, 1-8 mines around, F flag"
END_LEGEND = f"{LEGEND}, * mine, X mine that was revealed"

_RULES = """\
MineSweeper: reveal every cell that has no mine. The board has {rows} rows and {columns} columns, and {mines}.
A cell is named by its row and column, both counted from 1 at the top left: r2c3 is in row 2, column 3. A revealed \
cell shows how many of its up to 8 neighbours have a mine; where it is none, the neighbours are revealed too, and so on.
Each turn you reveal one hidden cell, or put a flag on one (flag) or take it away (unflag). Flags are notes for you: \
they decide nothing, but a flagged cell cannot be revealed.{first}
You win when every cell without a mine is revealed. You lose when you reveal a mine."""

_FIRST = {
    "risky": "",
    "safe": "\nThe first cell that you reveal has no mine.",
    "zero": "\nThe first cell that you reveal has no mine, and none around it.",
    "given": "\nA cell without mines around is revealed for you at the start.",
}
_NO_GUESS = " From there on, logic alone reveals the whole board."

_VERBS = {
    **dict.fromkeys(("", "reveal", "open", "uncover", "click", "dig"), "reveal"),
    **dict.fromkeys(("flag", "mark"), "flag"),
    **dict.fromkeys(("unflag", "unmark", "remove flag"), "unflag"),
}
_ANSWER = re.compile(
    r"(?P<verb>[a-z]+(?: flag)?)?\s*(?:cell|at|on|:)?\s*"
    r"[(\[]?\s*(?:(?:r|row)\s*(?P<r>\d{1,3})[\s,]*(?:c|col|column)\s*(?P<c>\d{1,3})|(?P<row>\d{1,3})(?:\s*,\s*|\s+)(?P<column>\d{1,3}))"
    r"\s*[)\]]?\.?",
    re.IGNORECASE,
)


class Answer(NamedTuple):
    """An answer, read.

    Attributes:
        verb: ``"reveal"``, ``"flag"`` or ``"unflag"``.
        cell: The cell's number.
    """

    verb: str
    cell: int


def told_rules(setting: Setting) -> str:
    """Returns the rules of a setting."""
    mines = "one of its cells has a mine" if setting.mines == 1 else f"{setting.mines} of its cells have a mine"
    first = _FIRST[setting.first_click] + (_NO_GUESS if setting.no_guess else "")
    return _RULES.format(rows=setting.rows, columns=setting.columns, mines=mines, first=first)


def say(facts: Facts) -> str:
    """Returns how it stands, the grid, and its legend."""
    over = facts["outcome"] is not None
    counts = f"Mines: {facts['mines']}. Flags: {len(facts['flags'])}."
    head = f"{counts} Safe cells revealed: {facts['open']} of {facts['safe']}."
    lines = [head, *_grid(facts), END_LEGEND if over else LEGEND]
    if facts["outcome"] == "win":
        lines.append("Every cell without a mine is revealed.")
    elif over:
        lines.append(f"You revealed a mine at {_name(facts['hit'], facts['columns'])}.")
    return "\n".join(lines)


def symbols(facts: Facts) -> str:
    """Returns one character a cell, row by row; the legend says which."""
    shown = ["?" if number < 0 else str(number) if number else "." for number in facts["shown"]]
    for cells, symbol in ((facts["mined"], "*"), (facts["flags"], "F")):
        for cell in cells:
            shown[cell] = symbol
    if facts["hit"] >= 0:
        shown[facts["hit"]] = "X"
    return "".join(shown)


def vocabulary(board: Grid) -> frozenset[str]:
    """Returns the usual spellings of all that can be answered on some board of this shape."""
    spelled = set()
    for cell, name in enumerate(board.names):
        row, column = cell // board.columns + 1, cell % board.columns + 1
        for place in (name, f"{row},{column}", f"{row}, {column}", f"({row}, {column})", f"{row} {column}"):
            spelled |= {place, f"reveal {place}", f"flag {place}", f"unflag {place}", f"open {place}"}
    return frozenset(spelled)


def read(answer: str, board: Grid) -> Answer | None:
    """Reads an answer in one of many spellings: ``open (2, 3)``, ``flag row 2 column 3``, ``2,3``.

    Returns:
        What it means; None if it is none, or names a cell that is not on the board.
    """
    match = _ANSWER.fullmatch(" ".join(answer.split()))
    verb = _VERBS.get((match["verb"] or "").casefold()) if match else None
    if match is None or verb is None:
        return None
    row, column = int(match["r"] or match["row"]), int(match["c"] or match["column"])
    if not (1 <= row <= board.rows and 1 <= column <= board.columns):
        return None
    return Answer(verb, (row - 1) * board.columns + column - 1)


def _grid(facts: Facts) -> list[str]:
    columns = facts["columns"]
    told = symbols(facts)
    width, margin = len(f"c{columns}"), len(f"r{facts['rows']}")
    lines = [" " * margin + "".join(f" {f'c{column + 1}':>{width}}" for column in range(columns))]
    for row in range(facts["rows"]):
        cells = told[row * columns : (row + 1) * columns]
        lines.append(f"{f'r{row + 1}':<{margin}}" + "".join(f" {symbol:>{width}}" for symbol in cells))
    return lines


def _name(cell: int, columns: int) -> str:
    return f"r{cell // columns + 1}c{cell % columns + 1}"
