"""All games of two seats, training and held-out opponents: the broad look, with exact ceilings where there are any."""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Suite, part

SIZE = 512

_POKER = ("random", "equilibrium", "thompson", "bayes_optimal", "best_response")
_SEARCH = ("random", "equilibrium", "win_or_block", "recall(base=win_or_block)", "mcts(simulations=1000)")
_TABLES = ("random", "equilibrium", "recall(base=win_or_block)", "thompson", "best_response")
_CONNECT_FOUR = ("random", "win_or_block", "recall(base=win_or_block)", "mcts(simulations=100)")
_THROWS = ("random", "frequency", "fictitious_play", "markov(order=1)")

SUITES.register(
    "games",
    Suite(
        name="games",
        version=1,
        summary="all games of two seats, training and held-out opponents",
        parts=(
            part("kuhn/train", SIZE, *_POKER),
            part("kuhn/heldout", SIZE, *_POKER),
            part("leduc/train", SIZE, *_POKER),
            part("leduc/heldout", SIZE, *_POKER),
            part("tictactoe/train", SIZE, *_SEARCH),
            part("tictactoe/heldout", SIZE, *_SEARCH),
            part("tictactoe/patterns_heldout", SIZE, *_TABLES),
            part("tictactoe/tables_train", SIZE, *_TABLES),
            part("tictactoe/tables_heldout", SIZE, *_TABLES),
            part("connect_four/train", SIZE, *_CONNECT_FOUR),
            part("connect_four/heldout", SIZE, *_CONNECT_FOUR),
            part("rps/train", SIZE, *_THROWS),
            part("rps/heldout", SIZE, *_THROWS),
        ),
    ),
)
