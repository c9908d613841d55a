"""The suites that follow the MAGE paper (arXiv 2603.03680): table, held-out opponents and rooms, curves, ablations.

What all share: deals and rooms are replayed, the agent's memory is its own, and a result is pass@n, ``pass_3`` in
Table 1. The paper's size is 128 tasks, which is an interval of ±8 points around .66; ours is 512 (±4), and
``--meta-episodes 128`` plays the paper's. Where the paper and its released code leave a choice, the scenarios say what
was taken.

What is a matter of training (grouping, anchors, meta-reward, discounts) needs a trainer and is no suite.
"""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Protocol, Suite, part
from benchmarks.suites.worlds import ALFWORLD, SOKOBAN, WEBSHOP

SIZE = 512
TABLE_1 = Protocol(episodes=3, stop_on_success=True)
CURVES = Protocol(episodes=10)

_KUHN = ("random", "equilibrium", "thompson", "bayes_optimal", "best_response")
_KUHN_LONG = ("random", "equilibrium", "thompson", "best_response")
_SEARCH = ("random", "equilibrium", "win_or_block", "recall(base=win_or_block)", "mcts(simulations=1000)")
_STRONG = ("random", "equilibrium", "win_or_block", "mcts(simulations=1000)")

SUITES.register(
    "paper-table1",
    Suite(
        name="paper-table1",
        version=3,
        summary="MAGE's Table 1, games and worlds: three attempts at one deal or instance, stop at the first win",
        parts=(
            part("paper/kuhn", SIZE, *_KUHN),
            part("paper/kuhn_argmax_first", SIZE, *_KUHN),
            part("paper/tictactoe", SIZE, *_SEARCH),
            part("alfworld/test", SIZE, *ALFWORLD),
            part("sokoban/test", SIZE, *SOKOBAN),
            part("webshop/test", SIZE, *WEBSHOP),
        ),
        protocol=TABLE_1,
    ),
)
SUITES.register(
    "paper-ood",
    Suite(
        name="paper-ood",
        version=2,
        summary="MAGE's held-out opponents (MCTS-1000, arg-max of CFR, CFR) and what its worlds hold out",
        parts=(
            part("paper/kuhn_argmax_second", SIZE, *_KUHN),
            part("paper/kuhn_cfr", SIZE, *_KUHN),
            part("paper/tictactoe_ood", SIZE, *_STRONG),
            part("sokoban/one_box", SIZE, *SOKOBAN),
            part("sokoban/three_boxes", SIZE, *SOKOBAN),
            part("webshop/heldout", SIZE, *WEBSHOP),
            part("alfworld/task_types", SIZE, *ALFWORLD),
            part("alfworld/rooms", SIZE, *ALFWORLD),
        ),
        protocol=TABLE_1,
    ),
)
SUITES.register(
    "paper-curves",
    Suite(
        name="paper-curves",
        version=1,
        summary="MAGE's curves: ten attempts, one deal, every attempt played",
        parts=(
            part("paper/kuhn", SIZE, *_KUHN_LONG),
            part("paper/kuhn_argmax_first", SIZE, *_KUHN_LONG),
            part("paper/tictactoe", SIZE, *_SEARCH),
        ),
        protocol=CURVES,
    ),
)
SUITES.register(
    "paper-ablations",
    Suite(
        name="paper-ablations",
        version=1,
        summary="MAGE's ablations that are the benchmark's: balanced or skewed opponents, replayed or fresh deals",
        parts=(
            part("paper/tictactoe_balanced", SIZE, *_SEARCH),
            part("paper/tictactoe_skewed", SIZE, *_SEARCH),
            part("paper/kuhn", SIZE, *_KUHN),
            part("kuhn/train", SIZE, *_KUHN),
        ),
        protocol=TABLE_1,
    ),
)
