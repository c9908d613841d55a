"""The worlds: rooms and boards that no training sees, and kinds that are held out; three episodes, each replayed.

512 instances a scenario, no two alike. The test split of MineSweeper has 480 boards of 5×5 cells and 1,512 of 6×6 with
3 mines: 256 of the small ones are played, and 256 times three of the others where every episode has a board of its own.
A world that is added is one line more, and the next version.
"""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Suite, part

SIZE = 512
FEW = 256
"""Where there are not enough different boards for 512 meta-episodes."""

SOKOBAN = ("random", "sokoban_greedy", "sokoban_explorer", "sokoban_solver")
MINESWEEPER = ("random", "minesweeper_logic", "minesweeper_logic(remember=true)")

SUITES.register(
    "worlds",
    Suite(
        name="worlds",
        version=1,
        summary="single-agent worlds: Sokoban and MineSweeper, test splits and held-out kinds",
        parts=(
            part("sokoban/test", SIZE, *SOKOBAN),
            part("sokoban/one_box", SIZE, *SOKOBAN),
            part("sokoban/three_boxes", SIZE, *SOKOBAN),
            part("sokoban/large", SIZE, *SOKOBAN),
            part("minesweeper/test", SIZE, *MINESWEEPER),
            part("minesweeper/fresh", FEW, *MINESWEEPER),
            part("minesweeper/5x5", FEW, *MINESWEEPER),
            part("minesweeper/7x7", SIZE, *MINESWEEPER),
            part("minesweeper/8x8", SIZE, *MINESWEEPER),
        ),
    ),
)
