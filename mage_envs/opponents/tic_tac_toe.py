"""Tic-Tac-Toe heuristics of the MAGE paper (arXiv 2603.03680): preferred positions, and random play with a bias.

Cells are OpenSpiel's action ids, 0 to 8 by rows from the top left; the centre is 4. A pattern is the same in every
episode, so that whoever sees it once can beat it: against ``pattern(order=rows)`` X wins in three moves.
"""

from __future__ import annotations

import math
import re

import numpy as np

from mage_envs.errors import SpecError, UnsupportedGameError, near_matches
from mage_envs.games import GameSpec, View
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, check_choice, check_range, one_hot

ORDERS = {
    "corners": (0, 2, 6, 8, 4, 1, 3, 5, 7),
    "centre": (4, 0, 2, 6, 8, 1, 3, 5, 7),
    "edges": (1, 3, 5, 7, 4, 0, 2, 6, 8),
    "rows": (0, 1, 2, 3, 4, 5, 6, 7, 8),
    "columns": (0, 3, 6, 1, 4, 7, 2, 5, 8),
    "diagonals": (0, 4, 8, 2, 6, 1, 3, 5, 7),
    "spiral": (0, 1, 2, 5, 8, 7, 6, 3, 4),
    "backwards": (8, 7, 6, 5, 4, 3, 2, 1, 0),
}
"""Named orders of preference."""

TARGETS = {"centre": (4,), "corners": (0, 2, 6, 8), "edges": (1, 3, 5, 7)}
"""Cells that a biased player is drawn to."""


class TicTacToeOpponent(Opponent):
    """What the heuristics share: they play Tic-Tac-Toe only."""

    plays = "Tic-Tac-Toe"

    def __init__(self, game: GameSpec) -> None:
        """Refuses other games."""
        super().__init__(game)
        if game.name != "tic_tac_toe":
            raise UnsupportedGameError(f"{type(self).__name__.lower()} plays tic_tac_toe only, not {game.name!r}; "
                                       "constant and random play any game")  # fmt: skip


class Pattern(TicTacToeOpponent):
    """Takes the first free cell of a list."""

    summary = "takes the first free cell of a list of preferred cells"

    def __init__(self, game: GameSpec, order: str) -> None:
        """Takes the list.

        Args:
            game: Tic-Tac-Toe.
            order: A name in ``ORDERS``, or cells such as ``"4 0 8"``. When the list is used up, the other cells are
                taken with equal probability.

        Raises:
            SpecError: No such name, or not a list of different cells 0 to 8.
        """
        super().__init__(game)
        self._order = ORDERS.get(order) or _parse_order(order)

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Goes down the list."""
        for cell in self._order:
            if cell in view.legal:
                return one_hot(view, cell), memory
        return view.uniform, memory


class Biased(TicTacToeOpponent):
    """Plays at random, the likelier the nearer a cell is to a target."""

    summary = "plays at random, cells near the centre (or the corners, or the edges) more often"

    def __init__(self, game: GameSpec, toward: str = "centre", bias: float = 2.0) -> None:
        """Takes the target and the strength.

        Args:
            game: Tic-Tac-Toe.
            toward: ``"centre"``, ``"corners"`` or ``"edges"``.
            bias: A free cell at distance d from the nearest target has weight (1 + d) ** -bias; 0 (uniform) to 100.

        Raises:
            SpecError: No such target, or the strength is out of range.
        """
        super().__init__(game)
        check_choice("toward", toward, TARGETS)
        check_range("bias", bias, 0, 100, float)
        self._weights = tuple(_weight(cell, TARGETS[toward], bias) for cell in range(9))

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Weighs the free cells."""
        weights = [self._weights[cell] for cell in view.legal]
        total = sum(weights)
        return tuple(weight / total for weight in weights), memory


def _parse_order(text: object) -> tuple[int, ...]:
    # A bare 048 would have been read as the number 48.
    if not isinstance(text, str) or not re.fullmatch(r"[0-8](?:[ ,]*[0-8])*", text):
        raise SpecError("order must be a quoted list of cells 0 to 8 such as \"4 0 8\", or a name, "
                        f"got {text!r}. {near_matches(str(text), ORDERS)}")  # fmt: skip
    cells = tuple(int(digit) for digit in re.findall(r"\d", text))
    if len(set(cells)) < len(cells):
        raise SpecError(f"order names a cell twice: {text!r}")
    return cells


def _weight(cell: int, targets: tuple[int, ...], bias: float) -> float:
    distance = min(math.dist(divmod(cell, 3), divmod(target, 3)) for target in targets)
    return float((1.0 + distance) ** -bias)


OPPONENTS.register("pattern", Pattern)
OPPONENTS.register("biased", Biased)
