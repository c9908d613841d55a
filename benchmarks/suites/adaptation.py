"""Opponents that change: when does an agent notice, and what does it lose? See ``benchmark adaptation``.

The size is a multiple of the opponents (48 in Kuhn poker, from both seats, and 96 in Rock-Paper-Scissors), so that
each comes equally often.
"""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Protocol, Suite, part

SIZE = 960

SUITES.register(
    "adaptation",
    Suite(
        name="adaptation",
        version=1,
        summary="one strategy, and from a hidden episode on another: 16 episodes",
        parts=(
            part(
                "adaptation/kuhn",
                SIZE,
                "random",
                "equilibrium",
                "recall(base=cfr)",
                "change_point(hazard=0.0)",
                "change_point(hazard=0.1)",
            ),
            part(
                "adaptation/rps",
                SIZE,
                "random",
                "frequency",
                "fictitious_play",
                "markov(order=1, decay=1.0)",
                "markov(order=1)",
                "roshambo(name=greenberg)",
            ),
        ),
        protocol=Protocol(episodes=16),
    ),
)
