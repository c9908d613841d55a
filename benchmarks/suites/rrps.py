"""Repeated Rock-Paper-Scissors against the 43 roshambo bots, as matches of 1,000 throws.

The population and the length of a match are those of Lanctot et al. (arXiv 2303.03196). A match is ten episodes of 100
throws, so that what is learnt within it shows; the bots know of no episodes and play on. A score is points an episode,
-100 to 100: ten times it is what the paper counts. The suite ``rrps-short`` has 100 throws a match.
"""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Protocol, Suite, part

MATCHES = 10
"""Of each bot."""

AGENTS = (
    "random",
    "frequency",
    "fictitious_play",
    "markov(order=1)",
    "markov(order=2)",
    "roshambo(name=iocainebot)",
    "roshambo(name=greenberg)",
)

SUITES.register(
    "rrps",
    Suite(
        name="rrps",
        version=1,
        summary="matches of 1,000 throws against the 43 roshambo bots, in ten episodes",
        parts=(
            part("rps/train_100", 29 * MATCHES, *AGENTS),
            part("rps/heldout_100", 14 * MATCHES, *AGENTS),
        ),
        protocol=Protocol(episodes=10),
    ),
)
