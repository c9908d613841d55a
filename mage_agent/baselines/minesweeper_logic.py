"""``minesweeper_logic``: reveals what is proven safe, else the best guess; remembers a replayed board if asked to.

The exact odds of every cell come from :mod:`mage_envs.worlds.minesweeper.probabilities`. Where few placements of the
mines are left, it guesses as optimal play does; where many are, it takes the cell that is least likely a mine, with the
fewest neighbours among equals (a corner opens the most). It wins 6,427 of all 7,140 boards of 6×6 cells with 3 mines,
as many as optimal play does, and 1,784 of 2,300 boards of 5×5 cells, where optimal play wins 1,798.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_envs.errors import SpecError, UnsupportedGameError
from mage_envs.worlds import Facts, WorldView
from mage_envs.worlds.minesweeper import Knowledge, Odds, SolverLimitError, bits, grid, mine_odds, move_values

MAX_EXACT = 5_000


class Remembered(NamedTuple):
    """What is known of a replayed board.

    Attributes:
        first: The first cell that was revealed: where the rules make it safe, the mines depend on it. −1: none.
        mined: Cells with a mine.
        free: Cells without one.
    """

    first: int = -1
    mined: tuple[int, ...] = ()
    free: tuple[int, ...] = ()


class MineSweeperLogic:
    """Reveals what is proven safe, else the best guess; with ``remember``, no mine of a replayed board twice."""

    name = "minesweeper_logic"
    oracle = False
    interface = "array"

    def __init__(self, remember: bool = False, exact: int = 60) -> None:
        """Takes what it may use.

        Args:
            remember: Whether it uses what earlier episodes showed of the mines, if the board is replayed.
            exact: It guesses optimally when at most so many placements of the mines are left, 0..5000, unless there
                are more cells than ``move_values`` takes.

        Raises:
            SpecError: A value out of range.
        """
        if remember not in (True, False) or isinstance(exact, bool) or not isinstance(exact, int):
            raise SpecError("minesweeper_logic takes remember=true or false, and a whole number as exact")
        if not 0 <= exact <= MAX_EXACT:
            raise SpecError(f"exact must be in 0..{MAX_EXACT}, got {exact}")
        self._remember, self._exact = remember, exact
        self._first = -1
        self._replayed = False
        self._memory = Remembered()

    @property
    def memory(self) -> Remembered | None:
        """What it knows of the board; None if it does not remember."""
        return self._memory if self._remember else None

    @memory.setter
    def memory(self, memory: Remembered | None) -> None:
        self._memory = memory or Remembered()

    def shuffled(self, memory: Remembered | None, rng: np.random.Generator) -> Remembered | None:
        """Puts the mines that it knows on cells at random among all that it knows."""
        if memory is None:
            return None
        cells = rng.permutation(sorted((*memory.mined, *memory.free))).tolist()
        count = len(memory.mined)
        return Remembered(memory.first, tuple(sorted(cells[:count])), tuple(sorted(cells[count:])))

    def begin(self, briefing: Briefing) -> None:
        """Forgets everything.

        Raises:
            UnsupportedGameError: Another world, or a game, is played.
        """
        if briefing.world.title != "MineSweeper":
            raise UnsupportedGameError(f"minesweeper_logic plays MineSweeper, not {briefing.world.title}")
        self._replayed = briefing.instance == "replay"
        self._memory, self._first = Remembered(), -1

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Reveals a cell."""
        view: WorldView = info["view"]
        cell = self._choose(view.facts)
        if self._first < 0:
            self._first = cell
        return cell

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Notes what the end shows: all mines, or after the last turn what is open. The free action is 0."""
        facts: Facts = info["view"].facts
        if self._remember and self._replayed:
            self._memory = _noted(self._memory, facts, self._first)
        self._first = -1
        return 0

    def _choose(self, facts: Facts) -> int:
        known = Knowledge(grid(facts["rows"], facts["columns"]), facts["mines"], facts["shown"])
        if self._first < 0 <= self._memory.first and facts["first_click"] in ("safe", "zero"):
            return self._memory.first  # Another first cell could move the mines.
        known, odds = self._odds(known)
        if odds.safe:
            return next(bits(odds.safe))
        if odds.ways <= self._exact:
            with suppress(SolverLimitError):
                values = move_values(known)
                return max(values, key=lambda cell: (values[cell], -odds.mined[cell]))
        neighbours = known.grid.neighbours
        return min(bits(odds.hidden), key=lambda cell: (odds.mined[cell], len(neighbours[cell])))

    def _odds(self, known: Knowledge) -> tuple[Knowledge, Odds]:
        """Returns what is known, with what it remembers if the board agrees with that, and the odds."""
        if self._memory.mined or self._memory.free:
            recalled = known._replace(
                mined=sum(1 << cell for cell in self._memory.mined), free=sum(1 << cell for cell in self._memory.free)
            )
            try:
                return recalled, mine_odds(recalled)
            except ValueError:  # It remembers another board: somebody exchanged its memory.
                self._memory = Remembered()
        return known, mine_odds(known)


AGENTS.register("minesweeper_logic", MineSweeperLogic)


def _noted(memory: Remembered, facts: Facts, first: int) -> Remembered:
    """Returns what is known of the board after an episode."""
    shown = tuple(cell for cell, number in enumerate(facts["shown"]) if number >= 0)
    if facts["mined"]:
        mined = set(facts["mined"])
        return Remembered(
            first, facts["mined"], tuple(cell for cell in range(len(facts["shown"])) if cell not in mined)
        )
    mined = set(memory.mined) - set(shown)
    return Remembered(first, tuple(sorted(mined)), tuple(sorted({*memory.free, *shown} - mined)))
