"""The suite ``quick`` with 128 meta-episodes a scenario: for models that answer slowly, such as one on a laptop."""

from __future__ import annotations

from benchmarks.suites.base import SUITES, Suite, part
from benchmarks.suites.quick import KUHN, TIC_TAC_TOE

SIZE = 128

SUITES.register(
    "quick-short",
    Suite(
        name="quick-short",
        version=1,
        summary="quick with 128 meta-episodes a scenario, for models that answer slowly",
        parts=(
            part("kuhn/train", SIZE, *KUHN),
            part("kuhn/heldout", SIZE, *KUHN),
            part("tictactoe/train", SIZE, *TIC_TAC_TOE),
            part("tictactoe/heldout", SIZE, *TIC_TAC_TOE),
        ),
    ),
)
