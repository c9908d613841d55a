"""The worlds: rooms, boards, goals and households that no training sees, and kinds that are held out.

Three episodes, each replayed, of 512 instances a scenario, no two alike. The test split of MineSweeper has 480 boards
of 5×5 cells and 1,512 of 6×6 with 3 mines: 256 of the small ones are played, and 256 times three of the others where
every episode has a board of its own.
"""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Suite, part

SIZE = 512
FEW = 256
"""Where there are not enough different boards for 512 meta-episodes."""

SOKOBAN = ("random", "sokoban_greedy", "sokoban_explorer", "sokoban_solver")
MINESWEEPER = ("random", "minesweeper_logic", "minesweeper_logic(remember=true)")
WEBSHOP = ("random", "webshop_rule", "webshop_rerank", "webshop_explorer", "webshop_oracle")
ALFWORLD = ("random", "alfworld_seeker", "alfworld_seeker(remember=true)", "alfworld_expert")

SUITES.register(
    "worlds",
    Suite(
        name="worlds",
        version=2,
        summary="single-agent worlds: Sokoban, MineSweeper, WebShop, ALFWorld, test splits and held-out kinds",
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
            part("webshop/test", SIZE, *WEBSHOP),
            part("webshop/heldout_categories", SIZE, *WEBSHOP),
            part("webshop/heldout_phrasing", SIZE, *WEBSHOP),
            part("webshop/heldout_size", SIZE, *WEBSHOP),
            part("webshop/heldout", SIZE, *WEBSHOP),
            part("alfworld/test", SIZE, *ALFWORLD),
            part("alfworld/task_types", SIZE, *ALFWORLD),
            part("alfworld/rooms", SIZE, *ALFWORLD),
            part("alfworld/pairs", SIZE, *ALFWORLD),
        ),
    ),
)
