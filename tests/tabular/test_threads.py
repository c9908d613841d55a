"""Shares of a batch that are stepped side by side: the same as one after the other, in forked processes too."""

from __future__ import annotations

import multiprocessing
import threading
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import mage_envs  # noqa: F401 -- registers the environments
from mage_envs.tabular import threads

POPULATION = {"conservative": 1.0, "aggressive": 1.0, "random": 1.0}


def played(count: int = 50, steps: int = 60) -> list[Any]:
    env = gym.make_vec(
        "mage/KuhnPoker-meta-v0",
        num_envs=count,
        vectorization_mode="vector_entry_point",
        population=POPULATION,
    )
    found: list[Any] = [env.reset(seed=3)]
    rng = np.random.default_rng(0)
    for _ in range(steps):
        actions = env.sample_actions(rng)
        found += [actions, env.step(actions)]
    return found


def share_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SHARE", 7)
    monkeypatch.setattr(threads, "AHEAD", 11)
    monkeypatch.setattr(threads, "_processors", lambda: 5)


def test_shares_cover_a_batch_once_and_the_last_is_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_processors", lambda: 3)
    smallest = threads.AHEAD + threads.SHARE
    assert threads.shares(1) == [slice(0, 1)]
    assert threads.shares(smallest - 1) == [slice(0, smallest - 1)]
    for count, number in ((smallest, 2), (8_192, 3), (100_003, 3)):
        shares = threads.shares(count)
        assert len(shares) == number
        assert np.concatenate([np.arange(count)[share] for share in shares]).tolist() == list(range(count))
        sizes = [share.stop - share.start for share in shares]
        assert sizes[-1] >= sizes[0] + threads.AHEAD


def test_side_by_side_is_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = played()
    share_out(monkeypatch)
    assert len(threads.shares(50)) > 3
    np.testing.assert_equal(played(), alone)


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    share_out(monkeypatch)
    expected = played(steps=5)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        np.testing.assert_equal(pool.apply(partial(played, steps=5)), expected)


def test_tasks_run_at_once_and_failures_are_told() -> None:
    meeting = threading.Barrier(2, timeout=10)
    threads._pool.cache_clear()
    threads.side_by_side([lambda: meeting.wait() and None, lambda: meeting.wait() and None])  # type: ignore[func-returns-value]

    def fail() -> None:
        raise ValueError("a share failed")

    done: list[int] = []
    for tasks in ([fail, lambda: done.append(1)], [lambda: done.append(2), fail]):
        with pytest.raises(ValueError, match="a share failed"):
            threads.side_by_side(tasks)
    assert sorted(done) == [1, 2]
