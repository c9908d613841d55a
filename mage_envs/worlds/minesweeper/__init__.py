"""MineSweeper: boards, exact mine probabilities, exact win probabilities of small boards. See :mod:`.world`."""

from __future__ import annotations

from mage_envs.worlds.minesweeper.board import Board, Play
from mage_envs.worlds.minesweeper.grid import Grid, bits, grid
from mage_envs.worlds.minesweeper.knowledge import Knowledge
from mage_envs.worlds.minesweeper.layout import Layout, LayoutError, Setting, lay_out, needs_no_guess
from mage_envs.worlds.minesweeper.probabilities import Odds, SolverLimitError, mine_odds
from mage_envs.worlds.minesweeper.winning import move_values, win_probability
from mage_envs.worlds.minesweeper.world import MineSweeper, Sweep, least_reveals, split_of

__all__ = [
    "Board", "Grid", "Knowledge", "Layout", "LayoutError", "MineSweeper", "Odds", "Play", "Setting", "SolverLimitError",
    "Sweep", "bits", "grid", "lay_out", "least_reveals", "mine_odds", "move_values", "needs_no_guess", "split_of",
    "win_probability",
]  # fmt: skip
