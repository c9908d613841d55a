"""Advantages: what each turn of a batch of meta-episodes was worth against its group, as GRPO and GiGPO compare.

Pure numpy. A group is what was played of one task: scenario, seat, seed, and the opponent if it is part of the key
(agent-specific normalisation, MAGE, arXiv 2603.03680). GRPO compares whole trajectories; GiGPO (arXiv 2505.10978)
compares episodes, and steps from equal states, which MAGE seeks across the episodes of a meta-episode. Give the
meta-episodes of all processes at once: a group that is split over processes is still one group.
To check it: in every group of more than one, the values that are compared sum to 0.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from mage_agent.grpo.credit import (
    OBJECTIVES,
    BoolArray,
    FloatArray,
    IntArray,
    Steps,
    episode_returns,
    episode_targets,
    invalid_penalty,
    length_penalty,
    step_returns,
)
from mage_agent.grpo.samples import Ending, Played, Task
from mage_envs.registry import Registry

Normalisation: TypeAlias = Literal["mean", "mean_std"]
Anchors: TypeAlias = Literal["across", "within"]
Grouping: TypeAlias = Literal["opponent", "task"]

_OUTCOMES = {"win": 10.0, "draw": 0.0, "loss": -10.0}
"""What MAGE pays for an episode."""


@dataclass(frozen=True, kw_only=True)
class CreditRule:
    """How turns are credited. The defaults are MAGE's (arXiv 2603.03680), where the paper gives them.

    Attributes:
        max_completion: The most tokens that a reply may have, 1 or more.
        objective: What an episode is paid for, a name in :data:`~mage_agent.grpo.credit.OBJECTIVES`.
        gamma_step: Discount from one turn to the next inside an episode, 0 to 1.
        gamma_traj: Discount from one episode to the next, 0 to 1.
        reward: What an episode brought, a name in :data:`REWARDS`: ``outcome`` (10 for a win, -10 for a loss, else 0)
            or ``score``.
        reward_scale: What it is multiplied by, above 0.
        invalid_penalty: Cost of a reply that could not be played, 0 or more.
        length_penalty: Cost of a reply of ``max_completion`` tokens, 0 or more; the paper does not give it.
        estimator: How turns are compared, a name in :data:`ESTIMATORS`.
        normalisation: ``mean`` subtracts the mean of the group, ``mean_std`` divides by its deviation too.
        std_floor: The least that ``mean_std`` divides by, above 0: a group that differs by noise alone is not blown up.
        step_weight: Weight of GiGPO's step level, 0 or more.
        anchors: Whether GiGPO compares equal states ``across`` episodes, or ``within`` each episode index alone.
        grouping: Whether the ``opponent`` is part of the key of a group, or the ``task`` alone is.
    """

    max_completion: int
    objective: str = "differential"
    gamma_step: float = 0.95
    gamma_traj: float = 0.6
    reward: str = "outcome"
    reward_scale: float = 1.0
    invalid_penalty: float = 0.5
    length_penalty: float = 0.5
    estimator: str = "gigpo"
    normalisation: Normalisation = "mean"
    std_floor: float = 1e-2
    step_weight: float = 1.0
    anchors: Anchors = "across"
    grouping: Grouping = "opponent"

    def __post_init__(self) -> None:
        """Checks names and ranges.

        Raises:
            ValueError: A number is out of range, or a word is not among those that can be chosen.
            UnknownNameError: No objective, reward or estimator has this name.
        """
        OBJECTIVES.get(self.objective)
        REWARDS.get(self.reward)
        ESTIMATORS.get(self.estimator)
        for name, words in (("normalisation", Normalisation), ("anchors", Anchors), ("grouping", Grouping)):
            if getattr(self, name) not in get_args(words):
                raise ValueError(f"{name} must be one of {', '.join(get_args(words))}, not {getattr(self, name)!r}")
        for name in ("gamma_step", "gamma_traj"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} must be 0 to 1, not {getattr(self, name)}")
        for name in ("invalid_penalty", "length_penalty", "step_weight"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be finite and at least 0, not {getattr(self, name)}")
        for name in ("reward_scale", "std_floor", "max_completion"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be finite and above 0, not {getattr(self, name)}")


class Batch(NamedTuple):
    """What an estimator sees: R turns of M meta-episodes of up to N episodes.

    Attributes:
        steps: All turns in order of play.
        step_returns: Return of each turn, shape ``(R,)``.
        episode_returns: Return of the first step of each episode, shape ``(M, N)``, NaN for those not played.
        groups: Which group each meta-episode is in, shape ``(M,)``.
        anchors: Which state each turn was decided in, shape ``(R,)``.
        linked: Whether later episodes count for earlier turns.
    """

    steps: Steps
    step_returns: FloatArray
    episode_returns: FloatArray
    groups: IntArray
    anchors: IntArray
    linked: bool


def advantages(played: Sequence[Played], rule: CreditRule) -> list[float]:
    """Returns the advantage of every turn.

    Args:
        played: The meta-episodes of all processes, in any order: it changes no value.
        rule: How they are credited.

    Returns:
        One number a turn, in order of the meta-episodes and of play.

    Raises:
        ValueError: A reward is not finite, a reply is longer than ``max_completion``, a meta-episode has no ending, or
            a turn belongs to an episode without one.
    """
    if not played:
        return []
    turns = [(m, turn) for m, each in enumerate(played) for turn in each.turns]
    lengths = [len(turn.completion_ids) for _, turn in turns]
    costs = length_penalty(lengths, rule.max_completion, rule.length_penalty)
    costs += invalid_penalty([turn.valid for _, turn in turns], rule.invalid_penalty)
    steps = Steps(
        np.array([m for m, _ in turns], dtype=np.int64),
        np.array([turn.episode for _, turn in turns], dtype=np.int64),
        np.array([turn.phase == "reflect" for _, turn in turns], dtype=bool),
        costs,
    )
    linked = OBJECTIVES.get(rule.objective).linked
    targets = episode_targets(episode_rewards(played, rule), rule.objective)
    batch = Batch(
        steps=steps,
        step_returns=step_returns(steps, targets, rule.gamma_step, rule.gamma_traj, linked=linked),
        episode_returns=episode_returns(steps, targets, rule.gamma_step, rule.gamma_traj, linked=linked),
        groups=group_keys([each.task for each in played], rule.grouping),
        anchors=_numbered([turn.anchor for _, turn in turns]),
        linked=linked,
    )
    return [float(value) for value in ESTIMATORS.get(rule.estimator)(batch, rule)]


def episode_rewards(played: Sequence[Played], rule: CreditRule) -> FloatArray:
    """Returns what each episode brought, by ``rule.reward`` and ``rule.reward_scale``.

    Args:
        played: M meta-episodes.
        rule: How they are credited.

    Returns:
        Shape ``(M, N)``, N being the most episodes that one has; NaN for those that were not played.

    Raises:
        ValueError: A reward is not finite.
    """
    reward = REWARDS.get(rule.reward)
    rewards = np.full((len(played), max((len(each.endings) for each in played), default=0)), np.nan)
    for m, each in enumerate(played):
        row = np.array([rule.reward_scale * reward(ending) for ending in each.endings])
        if not np.isfinite(row).all():
            raise ValueError(f"the reward {rule.reward!r} of {each.task} is not finite: {row.tolist()}")
        rewards[m, : len(row)] = row
    return rewards


def group_keys(tasks: Sequence[Task], grouping: Grouping) -> IntArray:
    """Returns which group each meta-episode is in: equal numbers for equal scenario, seat, seed (and opponent).

    >>> tasks = [Task("kuhn/train", opponent, 0, 7, member) for member, opponent in enumerate(["folder", "caller"])]
    >>> group_keys(tasks, "opponent"), group_keys(tasks, "task")
    (array([0, 1]), array([0, 0]))

    Args:
        tasks: M meta-episodes.
        grouping: Whether the opponent is part of the key.

    Returns:
        Shape ``(M,)``, from 0.
    """
    named = grouping == "opponent"
    return _numbered([(task.scenario, task.seat, task.seed, task.opponent if named else None) for task in tasks])


def centred(values: FloatArray, groups: IntArray, normalisation: Normalisation, floor: float = 1e-2) -> FloatArray:
    """Subtracts from each value the mean of its group; ``mean_std`` divides by the group's deviation too.

    The deviation is the one with n - 1, as in TRL. A group of one gets 0.

    >>> values, groups = np.array([1.0, 5.0, 3.0, 9.0]), np.array([0, 1, 0, 2])
    >>> centred(values, groups, "mean")
    array([-1.,  0.,  1.,  0.])
    >>> centred(values, np.zeros(4, int), "mean_std").round(2)
    array([-1.02,  0.15, -0.44,  1.32])

    Args:
        values: What is compared, shape ``(R,)``.
        groups: Which group each is in, any whole numbers, shape ``(R,)``.
        normalisation: ``mean`` or ``mean_std``.
        floor: The least that is divided by, above 0.

    Returns:
        Shape ``(R,)``.

    Raises:
        ValueError: A value is not finite.
    """
    if not np.isfinite(values).all():
        raise ValueError(f"value {np.isfinite(values).argmin()} is not finite: correct the rewards that it came from")
    index = np.unique(groups, return_inverse=True)[1]
    counts = np.bincount(index)
    differences = values - (np.bincount(index, values) / counts)[index]
    if normalisation == "mean":
        return differences
    deviations = np.sqrt(np.bincount(index, differences**2) / np.maximum(counts - 1, 1))
    return differences / np.maximum(deviations, floor)[index]


def grpo(batch: Batch, rule: CreditRule) -> FloatArray:
    """Compares trajectories: one value for all turns of a meta-episode, its return against the group's.

    The return of a meta-episode is that of its first step, plus the costs of the reflections, each discounted like the
    episode that follows it. If the objective does not link episodes, each episode is a trajectory, and what is
    returned is GiGPO's episode level.

    Args:
        batch: The turns and their returns.
        rule: Normalisation.

    Returns:
        Shape ``(R,)``.
    """
    if not batch.linked:
        return _episode_level(batch, rule)
    steps = batch.steps
    costs = np.where(steps.reflect, steps.reward * rule.gamma_traj ** (steps.episode + 1.0), 0.0)
    values = batch.episode_returns[:, 0] + np.bincount(steps.meta_episode, costs, len(batch.groups))
    return centred(values, batch.groups, rule.normalisation, rule.std_floor)[steps.meta_episode]


def gigpo(batch: Batch, rule: CreditRule) -> FloatArray:
    """Compares episodes, and steps: the sum of two levels, the second with ``rule.step_weight``.

    Episode level: the return of the first step of each episode against those of the same episode index in the group,
    for all its play turns. A reflection is compared with the others after the same episode index; its return is its
    own cost and that of the episode that follows. Step level: the return of each turn against the turns of the group
    with the same phase and anchor, in any episode or, with ``anchors = "within"``, in the same one.

    Args:
        batch: The turns and their returns.
        rule: Normalisation, anchors and the weight of the step level.

    Returns:
        Shape ``(R,)``.
    """
    steps = batch.steps
    within = steps.episode if rule.anchors == "within" else np.zeros_like(steps.episode)
    equal = _combined(batch.groups[steps.meta_episode], steps.reflect, batch.anchors, within)
    step_level = centred(batch.step_returns, equal, rule.normalisation, rule.std_floor)
    return _episode_level(batch, rule) + rule.step_weight * step_level


REWARDS: Registry[Callable[[Ending], float]] = Registry("reward")
REWARDS.register("outcome", lambda ending: _OUTCOMES[ending.outcome])
REWARDS.register("score", lambda ending: ending.score)

ESTIMATORS: Registry[Callable[[Batch, CreditRule], FloatArray]] = Registry("estimator")
ESTIMATORS.register("grpo", grpo)
ESTIMATORS.register("gigpo", gigpo)


def _episode_level(batch: Batch, rule: CreditRule) -> FloatArray:
    """Returns the first level of :func:`gigpo`, shape ``(R,)``."""
    steps, reflect = batch.steps, batch.steps.reflect
    played: BoolArray = ~np.isnan(batch.episode_returns)
    which = _combined(np.repeat(batch.groups, played.sum(axis=1)), np.nonzero(played)[1])
    episodes = np.zeros(played.shape)
    episodes[played] = centred(batch.episode_returns[played], which, rule.normalisation, rule.std_floor)
    values = episodes[steps.meta_episode, steps.episode]
    after = _combined(batch.groups[steps.meta_episode[reflect]], steps.episode[reflect])
    values[reflect] = centred(batch.step_returns[reflect], after, rule.normalisation, rule.std_floor)
    return values


def _numbered(keys: Sequence[Hashable]) -> IntArray:
    """Numbers keys from 0: equal numbers for equal keys, shape ``(len(keys),)``."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _combined(*columns: npt.NDArray[np.generic]) -> IntArray:
    """Numbers the rows that columns of one length make: equal numbers for equal rows, shape ``(R,)``."""
    rows = np.stack([column.astype(np.int64) for column in columns], axis=1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
