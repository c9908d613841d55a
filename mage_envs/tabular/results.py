"""What the exact solvers return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mage_envs.tabular.tables import Policy

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

Objective: TypeAlias = Literal["score", "win"]
"""What is maximised: the expected score in the game's units, or the probability of winning."""

_ROUNDING = 1e-12


class Score(NamedTuple):
    """Expected result of an episode for one seat: score in the game's units, and three probabilities."""

    score: float
    win: float
    draw: float
    loss: float


class BestResponse(NamedTuple):
    """The best that a seat can do against known strategies.

    Attributes:
        result: Its expected result.
        policy: View key to action id, for every decision of the seat. Equally good actions, also where the
            opponent never lets the seat get to, go to the lowest action id.
    """

    result: Score
    policy: Policy


@dataclass(frozen=True)
class AdaptiveValue:
    """Expected score of the best adaptive policy over the episodes of a meta-episode.

    Attributes:
        total: Over all episodes.
        per_episode: In each episode.
    """

    total: float
    per_episode: tuple[float, ...]


def argmax(values: FloatArray) -> IntArray:
    """Returns the first index of the largest value along the last axis, up to rounding: the same on every machine."""
    best: IntArray = np.argmax(values >= values.max(axis=-1, keepdims=True) - _ROUNDING, axis=-1)
    return best


def weights_of(objective: str) -> FloatArray:
    """Returns the weights of a :class:`Score` that add up to what is maximised.

    Raises:
        ValueError: No such objective.
    """
    if objective not in ("score", "win"):
        raise ValueError(f"objective must be 'score' or 'win', got {objective!r}")
    return np.array([float(field == objective) for field in Score._fields])
