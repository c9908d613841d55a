"""The first look: scripted agents on Kuhn poker and Tic-Tac-Toe, in a minute or two on two cores."""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Suite, part

SIZE = 2000

KUHN = ("random", "equilibrium", "thompson", "best_response")
TIC_TAC_TOE = ("random", "minimax", "mcts(simulations=1000)")

SUITES.register(
    "quick",
    Suite(
        name="quick",
        version=1,
        summary="scripted agents on Kuhn poker and Tic-Tac-Toe, training and held-out opponents",
        parts=(
            part("kuhn/train", SIZE, *KUHN),
            part("kuhn/heldout", SIZE, *KUHN),
            part("tictactoe/train", SIZE, *TIC_TAC_TOE),
            part("tictactoe/heldout", SIZE, *TIC_TAC_TOE),
        ),
    ),
)
