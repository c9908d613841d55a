"""ALFWorld's own validation games, each once: what the published numbers are on. They need data on disk.

``pip install alfworld && alfworld-download`` fetches it; without it, an error says so. The panel's hash is taken over
the files, too.
"""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Suite, part
from benchmarks.suites.worlds import ALFWORLD

SUITES.register(
    "alfworld",
    Suite(
        name="alfworld",
        version=1,
        summary="ALFWorld's own validation games, in rooms known from training and in others; needs their data",
        parts=(
            part("alfworld/valid_seen", 140, *ALFWORLD),
            part("alfworld/valid_unseen", 134, *ALFWORLD),
        ),
    ),
)
