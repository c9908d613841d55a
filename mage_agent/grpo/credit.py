"""Credit across episodes: what the last step of each episode is paid, and the discounted return of every turn.

Pure numpy. The turns of all meta-episodes of a batch lie in flat arrays, in order of play; R turns, M meta-episodes of
up to N episodes. Sources: the differential reward is MAGE's (arXiv 2603.03680), the return across episodes and the
cumulative reward are LaMer's (arXiv 2512.16848), a single episode at a time is GRPO's and GiGPO's (arXiv 2505.10978).
To check it: with both discounts 1 the differential return of the first turn is the reward of the last episode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mage_envs.registry import Registry

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


class Objective(NamedTuple):
    """What an episode is paid for. To add one, register it in :data:`OBJECTIVES`.

    Attributes:
        targets: From the rewards of the episodes, shape ``(M, N)`` with NaN for those that were not played, to what
            lands on the last step of each, same shape. What it says about episodes that were not played is ignored.
        linked: Whether later episodes count for earlier turns. If not, each episode is a trajectory of its own.
    """

    targets: Callable[[FloatArray], FloatArray]
    linked: bool = True


class Steps(NamedTuple):
    """All turns of a batch in order of play, each array of shape ``(R,)``.

    Attributes:
        meta_episode: Which meta-episode, 0 to M - 1, never falling.
        episode: Which episode of it, 0 to N - 1, never falling inside a meta-episode.
        reflect: Whether the turn is a reflection: it follows all play turns of its episode.
        reward: The turn's own cost: penalties, 0 or less, never the episode's result.
    """

    meta_episode: IntArray
    episode: IntArray
    reflect: BoolArray
    reward: FloatArray


def differential(rewards: FloatArray) -> FloatArray:
    """Returns R_n - R_(n-1) with R_0 = 0 (MAGE): what each episode adds to the one before.

    >>> differential(np.array([[-10.0, 0.0, 10.0]]))
    array([[-10.,  10.,  10.]])
    """
    return np.diff(rewards, axis=1, prepend=0.0)


def cumulative(rewards: FloatArray) -> FloatArray:
    """Returns R_n itself (LaMer): every episode counts for what it is."""
    return rewards


def final(rewards: FloatArray) -> FloatArray:
    """Returns R_n for the last episode that was played, 0 for those before.

    >>> final(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, np.nan]]))
    array([[0., 0., 3.],
           [0., 5., 0.]])
    """
    last = (~np.isnan(rewards)).sum(axis=1, keepdims=True) - 1
    return np.where(np.arange(rewards.shape[1]) == last, rewards, 0.0)


OBJECTIVES: Registry[Objective] = Registry("objective")
OBJECTIVES.register("differential", Objective(differential))
OBJECTIVES.register("cumulative", Objective(cumulative))
OBJECTIVES.register("final", Objective(final))
OBJECTIVES.register("single", Objective(cumulative, linked=False))


def episode_targets(rewards: FloatArray, objective: str) -> FloatArray:
    """Returns what lands on the last step of each episode.

    >>> episode_targets(np.array([[1.0, 3.0, 2.0], [1.0, np.nan, np.nan]]), "differential")
    array([[ 1.,  2., -1.],
           [ 1., nan, nan]])

    Args:
        rewards: Rewards of the episodes, shape ``(M, N)``; NaN for those that were not played, which are the last.
        objective: A name in :data:`OBJECTIVES`.

    Returns:
        Shape ``(M, N)``, NaN for episodes that were not played.

    Raises:
        ValueError: A reward is infinite, or an episode was not played though it is the first or a later one was.
        UnknownNameError: No objective has this name.
    """
    rewards = np.asarray(rewards, dtype=np.float64)
    rule = OBJECTIVES.get(objective)
    played = _played(rewards)
    targets = rule.targets(rewards)
    if np.shape(targets) != rewards.shape or not np.isfinite(targets[played]).all():
        raise ValueError(f"objective {objective!r} must give a finite target for every episode: correct its function")
    return np.where(played, targets, np.nan)


def step_returns(
    steps: Steps, targets: FloatArray, gamma_step: float, gamma_traj: float, *, linked: bool = True
) -> FloatArray:
    """Returns the discounted return of every turn.

    A play turn t of episode n has ``G = g(n, t) + sum over m > n of gamma_traj^(m - n) g(m, 0)``, where ``g(n, t)`` is
    ``sum over k >= t of gamma_step^(k - t) r_k`` over the play turns of episode n, the target of the episode being
    added to the last. Turns are counted, so a repeated invalid reply discounts too. An episode without any play turn
    (it ended before the agent had a move) has ``g(n, 0)`` = its target. A reflection after episode n has its own
    cost plus G of the first turn of episode n + 1, not discounted (MAGE, arXiv 2603.03680).

    Two episodes of two turns with targets 1 and 2, a reflection between them that costs 0.5; G of the second
    episode is 0.5 * 2 = 1, so the first episode has 1 + 0.1 * 1 at its end and 0.5 * 1 + 0.1 * 1 at its start:

    >>> steps = Steps(np.zeros(5, int), np.array([0, 0, 0, 1, 1]), np.arange(5) == 2, np.array([0, 0, -0.5, 0, 0]))
    >>> step_returns(steps, np.array([[1.0, 2.0]]), gamma_step=0.5, gamma_traj=0.1)
    array([0.6, 1.1, 0.5, 1. , 2. ])
    >>> step_returns(steps, np.array([[1.0, 2.0]]), gamma_step=0.5, gamma_traj=0.1, linked=False)
    array([ 0.5,  1. , -0.5,  1. ,  2. ])

    Args:
        steps: All turns.
        targets: What :func:`episode_targets` returned, shape ``(M, N)``.
        gamma_step: Discount from one turn to the next inside an episode, 0 to 1.
        gamma_traj: Discount from one episode to the next, 0 to 1.
        linked: Whether later episodes count. If not, ``gamma_traj`` counts as 0 and a reflection has its own cost only.

    Returns:
        Shape ``(R,)``.

    Raises:
        ValueError: A discount is out of range, a cost is not finite, the turns are out of order, or one belongs to an
            episode that was not played.
    """
    cells = _cells(steps, targets)
    inside, first = _inside(steps, targets, cells, gamma_step)
    later = _later(first, gamma_traj if linked else 0.0)
    follows = np.zeros_like(first)
    follows[:, :-1] = (first + later)[:, 1:] if linked else 0.0
    return np.where(steps.reflect, steps.reward + follows.ravel()[cells], inside + later.ravel()[cells])


def episode_returns(
    steps: Steps, targets: FloatArray, gamma_step: float, gamma_traj: float, *, linked: bool = True
) -> FloatArray:
    """Returns the return of the first step of each episode, as :func:`step_returns` defines it.

    With both discounts 1 the differential rewards telescope to the last episode's:

    >>> targets = episode_targets(np.array([[3.0, -1.0, 7.0]]), "differential")
    >>> steps = Steps(np.zeros(3, int), np.arange(3), np.zeros(3, bool), np.zeros(3))
    >>> episode_returns(steps, targets, gamma_step=1.0, gamma_traj=1.0)
    array([[7., 4., 8.]])

    Args:
        steps: All turns.
        targets: What :func:`episode_targets` returned, shape ``(M, N)``.
        gamma_step: Discount from one turn to the next inside an episode, 0 to 1.
        gamma_traj: Discount from one episode to the next, 0 to 1.
        linked: Whether later episodes count.

    Returns:
        Shape ``(M, N)``, NaN for episodes that were not played.

    Raises:
        ValueError: As :func:`step_returns`.
    """
    _, first = _inside(steps, targets, _cells(steps, targets), gamma_step)
    returns = first + _later(first, gamma_traj if linked else 0.0)
    return np.where(np.isnan(targets), np.nan, returns)


def length_penalty(lengths: npt.ArrayLike, maximum: int, weight: float) -> FloatArray:
    """Returns the cost of long replies: 0 up to half the maximum, from there in a line to ``-weight`` at the maximum.

    >>> length_penalty([0, 50, 75, 100], maximum=100, weight=0.5)
    array([ 0.  ,  0.  , -0.25, -0.5 ])

    Args:
        lengths: Tokens of each reply, shape ``(R,)``, 0 to ``maximum``.
        maximum: The most tokens that a reply may have, 1 or more.
        weight: The cost of the longest reply, 0 or more.

    Returns:
        Shape ``(R,)``.

    Raises:
        ValueError: A length, the maximum or the weight is out of range.
    """
    tokens = np.asarray(lengths, dtype=np.float64)
    if maximum < 1 or not 0.0 <= weight < np.inf:
        raise ValueError(f"maximum must be at least 1 and weight finite and at least 0, not {maximum} and {weight}")
    if not ((tokens >= 0) & (tokens <= maximum)).all():
        raise ValueError(f"lengths must be 0 to {maximum}: give the maximum that the replies were sampled with")
    return weight * np.minimum(1.0 - 2.0 * tokens / maximum, 0.0)


def invalid_penalty(valid: npt.ArrayLike, weight: float) -> FloatArray:
    """Returns the cost of replies that could not be played: ``-weight``, and 0 for the others.

    >>> invalid_penalty([True, False], weight=0.5)
    array([ 0. , -0.5])

    Args:
        valid: Whether each reply could be played, shape ``(R,)``.
        weight: The cost of one that could not, 0 or more.

    Returns:
        Shape ``(R,)``.

    Raises:
        ValueError: The weight is negative or not finite.
    """
    if not 0.0 <= weight < np.inf:
        raise ValueError(f"weight must be finite and at least 0, not {weight}")
    return np.where(np.asarray(valid, dtype=bool), 0.0, -weight)


def _played(rewards: FloatArray) -> BoolArray:
    """Returns which episodes were played, shape ``(M, N)``."""
    if rewards.ndim != 2:
        raise ValueError(f"rewards must have shape (meta-episodes, episodes), not {rewards.shape}")
    if np.isinf(rewards).any():
        raise ValueError(f"the reward of meta-episode {np.argwhere(np.isinf(rewards))[0, 0]} is infinite: correct it")
    played: BoolArray = ~np.isnan(rewards)
    holes = ~played.any(axis=1) | (played[:, 1:] & ~played[:, :-1]).any(axis=1)
    if holes.any():
        raise ValueError(f"meta-episode {holes.argmax()} has no reward for an episode though it must have been played")
    return played


def _cells(steps: Steps, targets: FloatArray) -> IntArray:
    """Returns the index of each turn's episode in the raveled ``(M, N)`` arrays, shape ``(R,)``."""
    meta_episodes, episodes = targets.shape
    if {np.shape(column) for column in steps} != {(len(steps.reward),)}:
        raise ValueError(f"the arrays of steps must have one shape (R,), not {[np.shape(column) for column in steps]}")
    if not np.isfinite(steps.reward).all():
        raise ValueError(f"the cost of turn {np.isfinite(steps.reward).argmin()} is not finite: correct it")
    known = (steps.meta_episode >= 0) & (steps.meta_episode < meta_episodes)
    known &= (steps.episode >= 0) & (steps.episode < episodes)
    cells = np.where(known, steps.meta_episode * episodes + steps.episode, 0)
    known &= ~np.isnan(np.append(targets.ravel(), np.nan))[cells]  # One more, so that index 0 exists without any cell.
    if not known.all():
        raise ValueError(f"turn {known.argmin()} belongs to an episode that has no result: leave it out or end it")
    if (np.diff(2 * cells + steps.reflect) < 0).any():
        raise ValueError("steps must lie in order of play: by meta-episode, by episode, play turns before reflections")
    return cells


def _inside(steps: Steps, targets: FloatArray, cells: IntArray, gamma_step: float) -> tuple[FloatArray, FloatArray]:
    """Returns g of each turn inside its episode, shape ``(R,)``, 0 for reflections, and g(n, 0), shape ``(M, N)``."""
    play = ~steps.reflect
    episode, paid = cells[play], np.asarray(steps.reward, dtype=np.float64)[play]
    begun, starts, counts = np.unique(episode, return_index=True, return_counts=True)
    first = np.where(np.isnan(targets), 0.0, targets)
    paid[starts + counts - 1] += first.ravel()[begun]
    sums, inside = _discounted_sums(paid, episode, gamma_step), np.zeros(len(cells))
    inside[play] = sums
    first[np.unravel_index(begun, first.shape)] = sums[starts]
    return inside, first


def _discounted_sums(values: FloatArray, segments: IntArray, gamma: float) -> FloatArray:
    """Returns ``sum over k >= t of gamma^(k - t) values[k]`` inside each run of equal segments, shape ``(R,)``.

    The reach of the sums doubles each round, so the rounds are the logarithm of the longest run.
    """
    if not 0.0 <= gamma <= 1.0:
        raise ValueError(f"gamma_step must be 0 to 1, not {gamma}")
    sums, reach = values.copy(), 1
    while reach < len(sums) and (same := segments[reach:] == segments[:-reach]).any():
        sums[:-reach] += np.where(same, gamma**reach * sums[reach:], 0.0)
        reach *= 2
    return sums


def _later(first: FloatArray, gamma_traj: float) -> FloatArray:
    """Returns ``sum over m > n of gamma_traj^(m - n) g(m, 0)`` for each episode n, shape ``(M, N)``."""
    if not 0.0 <= gamma_traj <= 1.0:
        raise ValueError(f"gamma_traj must be 0 to 1, not {gamma_traj}")
    later = np.zeros_like(first)
    for n in reversed(range(first.shape[1] - 1)):
        later[:, n] = gamma_traj * (first[:, n + 1] + later[:, n + 1])
    return later
