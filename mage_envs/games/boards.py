"""Boards of two players, X (seat 0) and O (seat 1): the facts, the drawing and the last line, said once.

A board game here shows the board and nothing else of the past, so one board is one view, one text and one
``View.key``, the same key for both seats. That is the seat-symmetric state key (PettingZoo#355 is what happens
without one); who is to move follows from the number of marks.
"""

from __future__ import annotations

from typing import Any

from mage_envs.games.base import Facts

MARKS = ("X", "O")
EMPTY = "."


def board_facts(state: Any, seat: int) -> Facts:
    """Reads the facts off a state that OpenSpiel prints as lines of ``x``, ``o`` and ``.``.

    Returns:
        ``seat``; ``rows``, strings from the top; ``mover``, the seat to move; ``over``; ``winner``, a seat or None.
    """
    over = state.is_terminal()
    returns = state.returns()
    winner = returns.index(max(returns)) if over and max(returns) > 0 else None
    rows = tuple(str(state).upper().split())
    return {"seat": seat, "rows": rows, "mover": _mover(rows), "over": over, "winner": winner}


def draw(rows: tuple[str, ...], row_labels: tuple[str, ...], column_labels: tuple[str, ...]) -> str:
    """Draws a board, a label before each row and one above each column.

    >>> print(draw(("X.", ".O"), ("r1", "r2"), ("c1", "c2")))
        c1 c2
    r1   X  .
    r2   .  O
    """
    margin, width = max(map(len, row_labels)), max(map(len, column_labels))
    lines = [("", column_labels), *zip(row_labels, rows, strict=True)]
    return "\n".join(f"{label:<{margin}} " + "".join(f" {cell:>{width}}" for cell in cells) for label, cells in lines)


def say_turn(facts: Facts, line: str) -> str:
    """Returns the sentence on whose turn it is, or how the game ended.

    Args:
        facts: From :func:`board_facts`.
        line: What wins: ``"three in a row"``.
    """
    if facts["winner"] is not None:
        return (
            f"You have {line}: you win." if facts["winner"] == facts["seat"] else f"The opponent has {line}: you lose."
        )
    if facts["over"]:
        return "The board is full: a draw."
    return "It is your turn." if facts["mover"] == facts["seat"] else "It is the opponent's turn."


def _mover(rows: tuple[str, ...]) -> int:
    return sum(len(row) - row.count(EMPTY) for row in rows) % 2
