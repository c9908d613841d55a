"""What the exact solvers return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mage_envs.tabular.compiled import CompiledGame
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
        per_opponent: In each episode, if this opponent is the one that came.
    """

    total: float
    per_episode: tuple[float, ...]
    per_opponent: Mapping[str, tuple[float, ...]]


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


@lru_cache(maxsize=64)
def payoffs(game: CompiledGame, seat: int) -> FloatArray:
    """Returns the :class:`Score` of a seat at every state, as if the game ended there; shape ``(states, 4)``."""
    kinds, number = np.unique(game.returns, axis=0, return_inverse=True)
    outcomes = [game.spec.outcome(tuple(returns), seat) for returns in kinds.tolist()]
    scores = [(returns[seat], *(outcome == name for name in Score._fields[1:]))
              for returns, outcome in zip(kinds, outcomes, strict=True)]  # fmt: skip
    return np.array(scores, dtype=np.float64)[number.ravel()]
