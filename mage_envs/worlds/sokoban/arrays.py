"""What the compiled loops and those who call them share, apart so that calling needs no compiler until it happens."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

NUMBERS_A_STEP = 3
"""Random numbers that a step of carving takes."""
