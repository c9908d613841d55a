"""The language agent that comes with the package, on the two games that it was trained on: a few seconds, no download.

Its curve stands between an equilibrium, which learns nothing, and the Bayes-adaptive optimum.
"""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Suite, part

SIZE = 600

_AGENTS = ("tiny", "tiny(checkpoint=start)", "equilibrium", "bayes_optimal")

SUITES.register(
    "tiny",
    Suite(
        name="tiny",
        version=1,
        summary="the language agent of the package, and what it was cloned from: Kuhn poker, Rock-Paper-Scissors",
        parts=(part("kuhn/train", SIZE, *_AGENTS), part("rps/leaning", SIZE, *_AGENTS)),
    ),
)
