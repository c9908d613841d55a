"""Credit across episodes, by hand and against the slow reference."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_agent.grpo.advantages import CreditRule, episode_rewards
from mage_agent.grpo.credit import (
    OBJECTIVES,
    FloatArray,
    Objective,
    Steps,
    episode_returns,
    episode_targets,
    invalid_penalty,
    length_penalty,
    step_returns,
)
from mage_agent.grpo.samples import Played
from mage_envs.errors import UnknownNameError
from tests.grpo.slow_credit import SlowCredit, assert_close, batches, rules

NAN = np.nan


def play(*episodes: int, meta_episode: int = 0, costs: FloatArray | None = None) -> Steps:
    """Steps of one meta-episode, without reflections: the episode of each turn."""
    count = len(episodes)
    own = np.zeros(count) if costs is None else costs
    return Steps(np.full(count, meta_episode), np.array(episodes, dtype=np.int64), np.zeros(count, dtype=bool), own)


def flat(played: list[Played], rule: CreditRule) -> Steps:
    """Steps with costs from the slow reference."""
    rows = [
        (m, turn.episode, turn.phase == "reflect", SlowCredit(each, rule).cost(turn))
        for m, each in enumerate(played)
        for turn in each.turns
    ]
    return Steps(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=bool),
        np.array([row[3] for row in rows], dtype=np.float64),
    )


@pytest.mark.parametrize(
    ("objective", "complete", "stopped"),
    [
        ("differential", [-10.0, 10.0, 10.0], [10.0, NAN, NAN]),
        ("cumulative", [-10.0, 0.0, 10.0], [10.0, NAN, NAN]),
        ("final", [0.0, 0.0, 10.0], [10.0, NAN, NAN]),
        ("single", [-10.0, 0.0, 10.0], [10.0, NAN, NAN]),
    ],
)
def test_targets_by_hand(objective: str, complete: list[float], stopped: list[float]) -> None:
    """Loss, draw, win; and a meta-episode that its first win ended."""
    targets = episode_targets(np.array([[-10.0, 0.0, 10.0], [10.0, NAN, NAN]]), objective)
    np.testing.assert_array_equal(targets, [complete, stopped])


def test_only_single_leaves_episodes_apart() -> None:
    assert [name for name in ("differential", "cumulative", "final", "single") if not OBJECTIVES.get(name).linked] == [
        "single"
    ]


def test_discounts_by_hand() -> None:
    """Three episodes of 2, 1 and 1 turns with targets 8, 4, 2: a half inside, a tenth across."""
    returns = step_returns(play(0, 0, 1, 2), np.array([[8.0, 4.0, 2.0]]), gamma_step=0.5, gamma_traj=0.1)
    # From the end: 2; 4 + .1 * 2; 8 + .1 * 4 + .01 * 2; .5 * 8 + the same.
    assert_close(returns, [4.42, 8.42, 4.2, 2.0])


def test_own_costs_discount_by_turns() -> None:
    """A decision that took three replies, two of them invalid: each is a turn; its result lands on the last."""
    steps = play(0, 0, 0, costs=np.array([-0.5, -0.5, 0.0]))
    returns = step_returns(steps, np.array([[4.0]]), gamma_step=0.5, gamma_traj=0.0)
    assert_close(returns, [-0.5 - 0.25 + 1.0, -0.5 + 2.0, 4.0])


def test_a_reflection_takes_the_return_of_what_follows_undiscounted() -> None:
    steps = Steps(np.zeros(3, int), np.array([0, 0, 1]), np.array([False, True, False]), np.array([0.0, -0.5, 0.0]))
    targets = np.array([[1.0, 3.0]])
    assert_close(step_returns(steps, targets, 0.9, 0.2), [1.6, 2.5, 3.0])
    assert_close(step_returns(steps, targets, 0.9, 0.2, linked=False), [1.0, -0.5, 3.0])
    assert_close(step_returns(steps, targets, 0.9, 0.0), [1.0, 2.5, 3.0])


def test_an_episode_without_a_move_still_counts() -> None:
    """The opponent ended episode 1 at once; and another meta-episode ended in its first."""
    steps = Steps(np.array([0, 0, 1]), np.array([0, 0, 0]), np.array([False, True, False]), np.zeros(3))
    targets = np.array([[1.0, 2.0], [5.0, NAN]])
    assert_close(step_returns(steps, targets, 0.9, 0.5), [2.0, 2.0, 5.0])
    assert_close(episode_returns(steps, targets, 0.9, 0.5), [[2.0, 2.0], [5.0, NAN]])


def test_a_last_reflection_has_its_own_cost() -> None:
    steps = Steps(np.zeros(2, int), np.zeros(2, int), np.array([False, True]), np.array([0.0, -0.5]))
    assert_close(step_returns(steps, np.array([[3.0]]), 0.9, 1.0), [3.0, -0.5])


@pytest.mark.parametrize("meta_episodes", [0, 2])
def test_no_turns(meta_episodes: int) -> None:
    targets = np.ones((meta_episodes, 2))
    assert step_returns(play(), targets, 0.9, 0.5).shape == (0,)
    expected = np.tile([1.5, 1.0], (meta_episodes, 1))
    assert_close(episode_returns(play(), targets, 0.9, 0.5), expected)


@given(st.lists(st.tuples(st.floats(-10, 10), st.integers(0, 5)), min_size=1, max_size=5))
def test_differential_rewards_telescope_to_the_last_episode(episodes: list[tuple[float, int]]) -> None:
    """MAGE: without discounts, every turn of episode n has R_N - R_(n-1); the first episode has the final reward."""
    rewards = np.array([reward for reward, _ in episodes])
    before = np.append(0.0, rewards[:-1])
    steps = play(*(n for n, (_, turns) in enumerate(episodes) for _ in range(turns)))
    targets = episode_targets(rewards[None], "differential")
    assert_close(step_returns(steps, targets, 1.0, 1.0), (rewards[-1] - before)[steps.episode])
    assert_close(episode_returns(steps, targets, 1.0, 1.0)[0, 0], rewards[-1])


@given(batches(), rules())
def test_returns_equal_the_slow_reference(played: list[Played], rule: CreditRule) -> None:
    targets = episode_targets(episode_rewards(played, rule), rule.objective)
    slow = [SlowCredit(each, rule) for each in played]
    steps, linked = flat(played, rule), rule.objective != "single"
    returns = step_returns(steps, targets, rule.gamma_step, rule.gamma_traj, linked=linked)
    expected = [each.step_return(index) for each in slow for index in range(len(each.turns))]
    assert_close(returns, expected)
    first = episode_returns(steps, targets, rule.gamma_step, rule.gamma_traj, linked=linked)
    assert_close(first[~np.isnan(targets)], [each.episode_return(n) for each in slow for n in range(len(each.rewards))])
    np.testing.assert_array_equal(np.isnan(first), np.isnan(targets))


def test_long_episodes_equal_a_loop() -> None:
    """Runs whose lengths are no powers of 2, side by side."""
    lengths, rng = [1, 2, 3, 7, 8, 9, 100], np.random.default_rng(0)
    metas = np.repeat(np.arange(len(lengths)), lengths)
    costs = rng.normal(size=len(metas))
    steps = Steps(metas, np.zeros_like(metas), np.zeros(len(metas), dtype=bool), costs)
    returns = step_returns(steps, np.zeros((len(lengths), 1)), 0.95, 0.6)
    expected, following = np.zeros(len(metas)), 0.0
    for t in reversed(range(len(metas))):
        following = costs[t] + (0.95 * following if t + 1 < len(metas) and metas[t + 1] == metas[t] else 0.0)
        expected[t] = following
    assert_close(returns, expected)


def test_nothing_that_was_passed_is_changed() -> None:
    steps, rewards = play(0, 0, 1, costs=np.array([-1.0, 0.0, 0.0])), np.array([[1.0, 2.0]])
    targets = episode_targets(rewards, "cumulative")
    step_returns(steps, targets, 0.9, 0.5)
    assert steps.reward.tolist() == [-1.0, 0.0, 0.0]
    assert (targets.tolist(), rewards.tolist()) == ([[1.0, 2.0]], [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        ([[1.0, np.inf]], "meta-episode 0 is infinite"),
        ([[1.0, 1.0], [NAN, 1.0]], "meta-episode 1 has no reward"),
        ([[NAN, NAN]], "meta-episode 0 has no reward"),
        ([1.0, 2.0], "shape"),
    ],
)
def test_rewards_that_are_refused(rewards: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        episode_targets(np.array(rewards), "final")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reward": np.array([0.0, NAN, 0.0])}, "turn 1 is not finite"),
        ({"episode": np.array([0, 1, 0])}, "order of play"),
        ({"meta_episode": np.array([1, 0, 0])}, "order of play"),
        ({"reflect": np.array([True, False, False])}, "order of play"),
        ({"episode": np.array([0, 0, 2])}, "turn 2 belongs"),
        ({"episode": np.array([-1, 0, 0])}, "turn 0 belongs"),
        ({"meta_episode": np.array([0, 0, 2])}, "turn 2 belongs"),
        ({"meta_episode": np.array([0, 0, 1]), "episode": np.array([0, 0, 1])}, "turn 2 belongs"),
        ({"reflect": np.array([True])}, "one shape"),
    ],
)
def test_steps_that_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        step_returns(play(0, 0, 0)._replace(**change), np.array([[1.0, 1.0], [1.0, NAN]]), 0.9, 0.5)


@pytest.mark.parametrize("gammas", [(1.1, 0.5), (-0.1, 0.5), (NAN, 0.5), (0.5, 1.1), (0.5, -0.1), (0.5, NAN)])
@pytest.mark.parametrize("function", [step_returns, episode_returns])
def test_discounts_that_are_refused(gammas: tuple[float, float], function: Any) -> None:
    with pytest.raises(ValueError, match="must be 0 to 1"):
        function(play(0), np.array([[1.0]]), *gammas)


def test_penalties_by_hand() -> None:
    assert_close(length_penalty([0, 4, 5, 6, 8], 8, 2.0), [0.0, 0.0, -0.5, -1.0, -2.0])
    assert_close(length_penalty([0, 2, 3], 3, 3.0), [0.0, -1.0, -3.0])  # Half of 3 is 1.5.
    assert length_penalty([], 8, 1.0).shape == invalid_penalty([], 1.0).shape == (0,)
    np.testing.assert_array_equal(invalid_penalty([True, False, False], 0.5), [0.0, -0.5, -0.5])


@pytest.mark.parametrize(
    ("lengths", "maximum", "weight"), [([9], 8, 1.0), ([-1], 8, 1.0), ([1], 0, 1.0), ([1], 8, NAN)]
)
def test_length_penalties_that_are_refused(lengths: list[int], maximum: int, weight: float) -> None:
    with pytest.raises(ValueError, match="maximum"):
        length_penalty(lengths, maximum, weight)


@pytest.mark.parametrize("weight", [-0.5, np.inf])
def test_invalid_penalties_that_are_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        invalid_penalty([False], weight)


def test_an_own_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OBJECTIVES, "_items", dict(OBJECTIVES._items))
    OBJECTIVES.register("best", Objective(lambda rewards: np.fmax.accumulate(rewards, axis=1)))
    targets = episode_targets(np.array([[2.0, 1.0, 3.0], [1.0, NAN, NAN]]), "best")
    np.testing.assert_array_equal(targets, [[2.0, 2.0, 3.0], [1.0, NAN, NAN]])
    OBJECTIVES.register("broken", Objective(lambda rewards: rewards.sum(axis=1)))
    with pytest.raises(ValueError, match="'broken' must give a finite target"):
        episode_targets(np.ones((2, 2)), "broken")


def test_an_unknown_objective() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'differential'"):
        episode_targets(np.ones((1, 1)), "differental")


def test_credit_needs_no_torch() -> None:
    code = (
        "import sys, mage_agent.grpo.advantages; sys.exit(not {'torch', 'trl', 'transformers'}.isdisjoint(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
