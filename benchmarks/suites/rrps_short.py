"""The suite ``rrps`` with a tenth of the throws: 100 decisions a match, for agents to whom 1,000 are too dear.

Ten episodes of ten throws. The bots are the same, and play as in the first 100 throws of a match of 1,000.
"""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Protocol, Suite, part
from benchmarks.suites.rrps import AGENTS, MATCHES

SUITES.register(
    "rrps-short",
    Suite(
        name="rrps-short",
        version=1,
        summary="the first 100 throws of a match against the 43 roshambo bots, in ten episodes",
        parts=(
            part("rps/train_10", 29 * MATCHES, *AGENTS),
            part("rps/heldout_10", 14 * MATCHES, *AGENTS),
        ),
        protocol=Protocol(episodes=10),
    ),
)
