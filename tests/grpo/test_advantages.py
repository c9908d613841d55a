"""Advantages, by hand and against the slow reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_agent.grpo.advantages import (
    ESTIMATORS,
    REWARDS,
    Batch,
    CreditRule,
    advantages,
    centred,
    episode_rewards,
    group_keys,
)
from mage_agent.grpo.credit import FloatArray
from mage_agent.grpo.samples import Ending, Played, Task, Turn
from mage_envs.errors import UnknownNameError
from tests.grpo.slow_credit import assert_close, batches, ending, rules, slow_advantages, turn


def rule(**changes: Any) -> CreditRule:
    """Scores, discounts of a half, and no costs unless they are asked for."""
    base = {"gamma_step": 0.5, "gamma_traj": 0.5, "reward": "score", "invalid_penalty": 0.0, "length_penalty": 0.0}
    return CreditRule(**{"max_completion": 8, **base, **changes})


def two_episodes(member: int, first: float, second: float, opponent: str = "folder", **reflection: Any) -> Played:
    """One play turn, a reflection, one play turn; every decision is taken in the same state."""
    turns = (turn(), turn("reflect", anchor="after", **reflection), turn(episode=1))
    return Played(Task("kuhn/train", opponent, 0, 7, member), turns, (ending(first), ending(second)))


def one_episode(member: int, score: float, *turns: Turn, opponent: str = "folder", outcome: str = "draw") -> Played:
    return Played(Task("kuhn/train", opponent, 0, 7, member), turns or (turn(),), (ending(score, outcome),))


PAIR = [two_episodes(0, 0.0, 2.0), two_episodes(1, 3.0, 1.0)]
"""Differences 0, 2 and 3, -2; so G is 1, 2 and 2, -2, and the reflections have 2 and -2."""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # Episodes: -1/2, 1/2 and 2, -2; reflections 2, -2. Steps: 1, 2, 2, -2 less their mean 3/4; reflections 2, -2.
        ({}, [-0.25, 4.0, 3.25, 1.75, -4.0, -4.75]),
        # Steps of the first episode alone: -1/2, 1/2; of the second alone: 2, -2.
        ({"anchors": "within"}, [-1.0, 4.0, 4.0, 1.0, -4.0, -4.0]),
        ({"step_weight": 0.0}, [-0.5, 2.0, 2.0, 0.5, -2.0, -2.0]),
        ({"step_weight": 2.0}, [0.0, 6.0, 4.5, 3.0, -6.0, -7.5]),
        ({"estimator": "grpo"}, [-0.5, -0.5, -0.5, 0.5, 0.5, 0.5]),
        ({"estimator": "grpo", "gamma_traj": 1.0}, [0.5, 0.5, 0.5, -0.5, -0.5, -0.5]),
        ({"estimator": "grpo", "reward_scale": 10.0}, [-5.0, -5.0, -5.0, 5.0, 5.0, 5.0]),
        ({"estimator": "grpo", "normalisation": "mean_std"}, [-(0.5**0.5)] * 3 + [0.5**0.5] * 3),
        ({"estimator": "grpo", "normalisation": "mean_std", "std_floor": 2.0}, [-0.25] * 3 + [0.25] * 3),
        # 0 + 2 / 2 and 3 + 1 / 2.
        ({"estimator": "grpo", "objective": "cumulative"}, [-1.25, -1.25, -1.25, 1.25, 1.25, 1.25]),
        # 2 / 2 and 1 / 2.
        ({"estimator": "grpo", "objective": "final"}, [0.25, 0.25, 0.25, -0.25, -0.25, -0.25]),
        # Each episode for itself: 0, 3 and 2, 1; the reflections cost nothing.
        ({"estimator": "grpo", "objective": "single"}, [-1.5, 0.0, 0.5, 1.5, 0.0, -0.5]),
        # Steps: 0, 2, 3, 1 less their mean 3/2.
        ({"objective": "single"}, [-3.0, 0.0, 1.0, 3.0, 0.0, -1.0]),
    ],
)
def test_two_meta_episodes_by_hand(changes: dict[str, Any], expected: list[float]) -> None:
    assert_close(advantages(PAIR, rule(**changes)), expected)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # G of the reflections: 2 - 1 and -2. Both levels compare them: 2 * 3/2 for one, as much less for the other.
        ({}, [-0.25, 3.0, 3.25, 1.75, -3.0, -4.75]),
        # Half a chip of the first meta-episode, as its second episode counts half.
        ({"estimator": "grpo"}, [-0.75, -0.75, -0.75, 0.75, 0.75, 0.75]),
        ({"estimator": "grpo", "objective": "single"}, [-1.5, -0.5, 0.5, 1.5, 0.5, -0.5]),
    ],
)
def test_what_a_reflection_costs_counts(changes: dict[str, Any], expected: list[float]) -> None:
    """A reflection that was cut costs 1."""
    played = [two_episodes(0, 0.0, 2.0, valid=False), PAIR[1]]
    assert_close(advantages(played, rule(invalid_penalty=1.0, **changes)), expected)


def test_the_opponent_can_be_part_of_the_group() -> None:
    """A mixed group: with the opponent in the key each is alone, without it the better result is praised."""
    played = [two_episodes(0, 0.0, 0.0, "folder"), two_episodes(1, 0.0, 4.0, "caller")]
    for changes in ({"estimator": "grpo"}, {"anchors": "within"}):
        assert advantages(played, rule(**changes)) == [0.0] * 6
    assert_close(advantages(played, rule(estimator="grpo", grouping="task")), [-1.0] * 3 + [1.0] * 3)


def test_outcomes_pay_ten() -> None:
    played = [one_episode(0, 0.0, outcome="win"), one_episode(1, 9.0, outcome="loss"), one_episode(2, 9.0)]
    assert advantages(played, rule(reward="outcome", estimator="grpo")) == [10.0, -10.0, 0.0]
    assert advantages(played, rule(reward="outcome", reward_scale=0.1, estimator="grpo")) == [1.0, -1.0, 0.0]


def test_invalid_replies_of_one_decision_by_hand() -> None:
    """Two replies that could not be played, then one that could; each is a turn and costs 1."""
    stumbled = one_episode(0, 4.0, turn(valid=False), turn(valid=False), turn())
    played = [stumbled, one_episode(1, 4.0)]
    # Returns -1 - 1/2 + 1, -1 + 2, 4 and 4: the mean of the steps is 17/8, that of the episodes 7/4.
    expected = [-2.25 - 2.625, -2.25 - 1.125, -2.25 + 1.875, 2.25 + 1.875]
    assert_close(advantages(played, rule(invalid_penalty=1.0)), expected)


def test_long_replies_cost() -> None:
    """6 of 8 tokens are half way from half the limit to it."""
    played = [one_episode(0, 1.0, turn(tokens=6)), one_episode(1, 1.0, turn(tokens=4))]
    assert advantages(played, rule(length_penalty=1.0, estimator="grpo")) == [-0.25, 0.25]


def test_a_first_win_ends_one_of_a_group() -> None:
    """The second episode of the other has nothing to be compared with."""
    played = [one_episode(0, 3.0), two_episodes(1, 1.0, 3.0)]
    # First episodes: 3 and 1 + 2 / 2, so 1/2 and -1/2; the rest are groups of one.
    assert_close(advantages(played, rule(step_weight=0.0)), [0.5, -0.5, 0.0, 0.0])


def test_an_episode_without_a_move_is_compared_too() -> None:
    played = [Played(PAIR[0].task, (), (ending(5.0),)), one_episode(1, 1.0)]
    for estimator in ("grpo", "gigpo"):
        assert advantages(played, rule(estimator=estimator)) == [-2.0]


def test_what_differs_in_nothing_teaches_nothing() -> None:
    """A deviation of 0 is no division by 0."""
    for normalisation in ("mean", "mean_std"):
        played = [two_episodes(member, 1.0, 1.0) for member in range(3)]
        assert_close(advantages(played, rule(normalisation=normalisation, anchors="within")), [0.0] * 9)


def test_nothing_played() -> None:
    assert advantages([], rule()) == []
    assert advantages([Played(PAIR[0].task, (), (ending(5.0),))], rule()) == []


@given(batches(), rules())
def test_equals_the_slow_reference(played: list[Played], drawn: CreditRule) -> None:
    assert_close(advantages(played, drawn), slow_advantages(played, drawn))


@given(batches(), rules(), st.randoms(use_true_random=False))
def test_which_process_played_what_does_not_matter(played: list[Played], drawn: CreditRule, random: Any) -> None:
    order = list(range(len(played)))
    random.shuffle(order)
    starts = np.cumsum([0] + [len(each.turns) for each in played])
    values = advantages(played, drawn)
    expected = [value for m in order for value in values[starts[m] : starts[m + 1]]]
    assert_close(advantages([played[m] for m in order], drawn), expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-10, 10)), min_size=1), st.sampled_from(["mean", "mean_std"]))
def test_the_values_that_are_compared_sum_to_0(pairs: list[tuple[int, float]], normalisation: Any) -> None:
    """And what all of a group have in common counts for nothing."""
    groups, values = np.array([group for group, _ in pairs]), np.array([value for _, value in pairs])
    differences = centred(values, groups, normalisation, floor=1.0)
    assert_close(np.bincount(groups, differences), np.zeros(groups.max() + 1))
    assert_close(centred(values + 3.0 * groups, groups, normalisation, floor=1.0), differences)


def test_centred_by_hand() -> None:
    values, groups = np.array([2.0, 7.0, 4.0, 9.0]), np.array([5, -3, 5, 5])
    assert_close(centred(values, groups, "mean"), [-3.0, 0.0, -1.0, 4.0])
    deviation = 13.0**0.5  # (9 + 1 + 16) / (3 - 1)
    assert_close(centred(values, groups, "mean_std"), np.array([-3, 0, -1, 4]) / deviation)
    assert_close(centred(values, groups, "mean_std", 10.0), [-0.3, 0.0, -0.1, 0.4])
    assert centred(np.zeros(0), np.zeros(0, dtype=np.int64), "mean_std").shape == (0,)
    with pytest.raises(ValueError, match="value 1 is not finite"):
        centred(np.array([0.0, np.nan]), np.zeros(2, dtype=np.int64), "mean")


@pytest.mark.parametrize("field", ["scenario", "seat", "seed", "opponent", "member"])
def test_what_makes_a_group(field: str) -> None:
    first = Task("kuhn/train", "folder", 0, 7, 0)
    changes: dict[str, Any] = {field: {"scenario": "kuhn/test", "opponent": "caller"}.get(field, 1)}
    second = first._replace(**changes)
    assert len(set(group_keys([first, second], "opponent").tolist())) == (1 if field == "member" else 2)
    assert len(set(group_keys([first, second], "task").tolist())) == (1 if field in ("member", "opponent") else 2)


def test_rewards_of_unequal_meta_episodes() -> None:
    rewards = episode_rewards([one_episode(0, 3.0), PAIR[1]], rule(reward_scale=2.0))
    np.testing.assert_array_equal(rewards, [[6.0, np.nan], [6.0, 2.0]])


@pytest.mark.parametrize(
    ("played", "message"),
    [
        (one_episode(0, float("nan")), "member=0.*not finite"),
        (one_episode(0, float("inf")), "member=0.*not finite"),
        (one_episode(0, 0.0, turn(tokens=9)), "lengths must be 0 to 8"),
        (one_episode(0, 0.0, turn(), turn(episode=1)), "turn 1 belongs to an episode that has no result"),
        (PAIR[0]._replace(endings=(), turns=()), "meta-episode 0 has no reward"),
    ],
)
def test_what_is_refused(played: Played, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        advantages([played], rule())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("gamma_step", -0.1),
        ("gamma_step", 1.1),
        ("gamma_traj", float("nan")),
        ("invalid_penalty", -1.0),
        ("length_penalty", float("inf")),
        ("step_weight", -1.0),
        ("reward_scale", 0.0),
        ("std_floor", 0.0),
        ("max_completion", 0),
        ("normalisation", "std"),
        ("anchors", "episode"),
        ("grouping", "seat"),
    ],
)
def test_rules_that_are_refused(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{field} must be"):
        rule(**{field: value})


@pytest.mark.parametrize("field", ["objective", "reward", "estimator"])
def test_names_that_nobody_registered(field: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown {field} 'mine'"):
        rule(**{field: "mine"})


def test_an_own_reward_and_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    """REINFORCE without a baseline, paid by how few decisions it took."""
    monkeypatch.setattr(REWARDS, "_items", dict(REWARDS._items))
    monkeypatch.setattr(ESTIMATORS, "_items", dict(ESTIMATORS._items))

    def short(one: Ending) -> float:
        return -float(one.decisions)

    def reinforce(batch: Batch, _: CreditRule) -> FloatArray:
        return batch.step_returns

    REWARDS.register("short", short)
    ESTIMATORS.register("reinforce", reinforce)
    assert advantages([one_episode(0, 5.0)], rule(reward="short", estimator="reinforce")) == [-1.0]
