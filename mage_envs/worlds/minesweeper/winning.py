"""The exact win probability of optimal play, on small boards: the ceiling of a single episode.

What a player knows is a set of placements of the mines that are still possible, all equally likely. A cell that is a
mine in none of them opens for nothing, and what it shows can only help, so that play is decided by guesses. With W(S)
the number of placements in S that optimal play wins,

    W(S) = 1                                   if S has one placement,
    W(S) = sum of W over the parts of S        if a safe cell shows different numbers in different placements,
    W(S) = max over guesses of that sum        otherwise, over the placements that survive the guess.

A set is the bits of an integer; a guess is dropped as soon as it cannot win more than another one. 2×2 with 1 mine:
the first guess survives in 3 of 4 placements and tells nothing, and one more in 2 of 3, and one more in 1 of 2: 1/4.
6×6 with 3 mines, as LaMer (arXiv 2512.16848) plays it: 6427/7140 = .9001, and 6427/6545 = .9820 if the first is safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

from mage_envs.worlds.minesweeper.board import Board
from mage_envs.worlds.minesweeper.grid import Grid, bits, grid
from mage_envs.worlds.minesweeper.knowledge import Constraint, Knowledge
from mage_envs.worlds.minesweeper.layout import Setting, forbidden
from mage_envs.worlds.minesweeper.probabilities import SolverLimitError, mine_odds

MAX_PLACEMENTS = 8_000
"""Placements of the mines that are still possible: 6×6 with 3 mines has 7,140."""

MAX_SETS = 500_000
"""Sets of placements that are looked into; they take up to 0.5 GB."""

MAX_HIDDEN = 100
"""Hidden cells."""


class Winning:
    """Optimal play from a set of placements on; remembers what it has worked out.

    Attributes:
        placements: The sets of mines that are possible.
    """

    def __init__(self, board: Grid, placements: Sequence[int]) -> None:
        """Builds the tables.

        Args:
            board: The cells.
            placements: Different sets of mines.
        """
        self.placements = tuple(placements)
        self._mined = [0] * board.cells
        shows: list[dict[int, int]] = [{} for _ in range(board.cells)]
        for index, mines in enumerate(self.placements):
            for cell, around in enumerate(board.around):
                if mines >> cell & 1:
                    self._mined[cell] |= 1 << index
                else:
                    number = (around & mines).bit_count()
                    shows[cell][number] = shows[cell].get(number, 0) | 1 << index
        self._shows = [tuple(found.values()) for found in shows]
        self._known: dict[int, int] = {}

    def wins(self, possible: int) -> int:
        """Returns in how many of the possible placements, a set of their numbers, optimal play wins.

        Raises:
            SolverLimitError: It takes more than ``MAX_SETS`` sets.
        """
        if possible & (possible - 1) == 0:
            return 1 if possible else 0
        found = self._known.get(possible)
        if found is None:
            if len(self._known) >= MAX_SETS:
                raise SolverLimitError(
                    f"optimal play looks into more than {MAX_SETS} sets: ask for fewer mines or cells"
                )
            found = self._known[possible] = self._searched(possible)
        return found

    def revealing(self, cell: int, possible: int, *, above: int = -1) -> int:
        """Returns in how many of the possible placements it wins if it reveals a cell first.

        Args:
            cell: The cell.
            possible: A set of numbers of placements.
            above: What another cell wins: the result is exact only if it is more.
        """
        bound = possible.bit_count() - (possible & self._mined[cell]).bit_count()
        total = 0
        for shows in self._shows[cell]:
            if part := shows & possible:
                won = self.wins(part)
                total += won
                bound -= part.bit_count() - won
                if bound <= above:
                    break
        return total

    def _searched(self, possible: int) -> int:
        survivors = []
        count = possible.bit_count()
        for cell, mined in enumerate(self._mined):
            lost = possible & mined
            if lost and lost != possible:
                survivors.append((count - lost.bit_count(), cell))
            elif not lost and (parts := self._parts(cell, possible)):
                return sum([self.wins(part) for part in parts])
        best = 0
        for bound, cell in sorted(survivors, reverse=True):
            if bound <= best:
                break
            best = max(best, self.revealing(cell, possible, above=best))
        return best

    def _parts(self, cell: int, possible: int) -> list[int]:
        """Returns the parts by what a safe cell shows; none if it shows the same in all."""
        for shows in self._shows[cell]:
            if part := shows & possible:
                return [] if part == possible else [part for shows in self._shows[cell] if (part := shows & possible)]
        return []


def move_values(knowledge: Knowledge) -> dict[int, Fraction]:
    """Returns for each hidden cell how likely revealing it, and optimal play after that, wins the board.

    Args:
        knowledge: What is open, and the number of mines.

    Returns:
        The values. The best is the win probability.

    Raises:
        ValueError: No placement fits.
        SolverLimitError: More than ``MAX_PLACEMENTS`` placements, ``MAX_HIDDEN`` hidden cells or ``MAX_SETS`` sets.
    """
    ways, hidden = mine_odds(knowledge).ways, knowledge.hidden
    if ways > MAX_PLACEMENTS or hidden.bit_count() > MAX_HIDDEN:
        raise SolverLimitError(
            f"{ways} placements on {hidden.bit_count()} hidden cells are possible; optimal play is computed for "
            f"at most {MAX_PLACEMENTS} on {MAX_HIDDEN}: open more cells first"
        )
    winning = Winning(knowledge.grid, tuple(placements(knowledge)))
    every = (1 << ways) - 1
    return {cell: Fraction(winning.revealing(cell, every), ways) for cell in bits(hidden)}


def win_probability(setting: Setting) -> Fraction:
    """Returns how likely optimal play wins a board of a setting.

    Args:
        setting: Shape, mines, and what is known of the first cell.

    Returns:
        The probability; 1 for boards without guesses.

    Raises:
        SolverLimitError: More than ``MAX_PLACEMENTS`` placements, or ``MAX_SETS`` sets.
    """
    if setting.no_guess:
        return Fraction(1)
    board = grid(setting.rows, setting.columns)
    count = comb(board.cells, setting.mines)
    if count > MAX_PLACEMENTS or board.cells > MAX_HIDDEN:
        raise SolverLimitError(
            f"{setting.rows}×{setting.columns} with {setting.mines} mines has {count} placements; optimal play is "
            f"computed for at most {MAX_PLACEMENTS} on {MAX_HIDDEN} cells: ask for fewer mines or cells"
        )
    every = tuple(placements(Knowledge(board, setting.mines, (-1,) * board.cells)))
    # Turned and mirrored boards are the same, so that one first cell stands for several.
    first = [cell for cell in range(board.cells) if cell == min(way[cell] for way in board.symmetries)]
    if setting.first_click == "given":
        return _given(setting, board, every, first)
    winning, best = Winning(board, every), Fraction(0)
    for cell in first:
        allowed = sum(1 << number for number, mines in enumerate(every) if not mines & forbidden(setting, board, cell))
        if allowed:
            above = int(best * allowed.bit_count())
            best = max(best, Fraction(winning.revealing(cell, allowed, above=above), allowed.bit_count()))
    return best


def placements(knowledge: Knowledge) -> Iterator[int]:
    """Yields every set of mines that fits, each once."""
    constraints = knowledge.constraints()
    touched = 0
    for constraint in constraints:
        touched |= constraint.cells
    rest = tuple(bits(knowledge.hidden & ~touched))
    for mined in _filled(constraints, 0, 0):
        left = knowledge.mines - mined.bit_count()
        if left >= 0:
            for more in combinations(rest, left):
                yield mined | sum(1 << cell for cell in more)


def _filled(constraints: Sequence[Constraint], mined: int, decided: int) -> Iterator[int]:
    """Yields every way to fill the cells under constraints."""
    if not constraints:
        yield mined
        return
    (cells, mines), *others = constraints
    missing = mines - (cells & mined).bit_count()
    if missing >= 0:
        for chosen in combinations(bits(cells & ~decided), missing):
            yield from _filled(others, mined | sum(1 << cell for cell in chosen), decided | cells)


def _given(setting: Setting, board: Grid, every: Sequence[int], first: Sequence[int]) -> Fraction:
    """Returns the win probability where the board begins with an open cell; boards opened whole do not count."""
    won, weight = Fraction(0), Fraction(0)
    for cell in first:
        fitting = [mines for mines in every if not mines & forbidden(setting, board, cell)]
        whole = sum(made.flood(cell) == made.safe for made in (Board.of(board, mines) for mines in fitting))
        share = Fraction(len({way[cell] for way in board.symmetries}), len(fitting))
        won += share * (Winning(board, fitting).wins((1 << len(fitting)) - 1) - whole)
        weight += share * (len(fitting) - whole)
    return won / weight if weight else Fraction(1)
