"""Which number decides what: an environment consumes ``numpy.random.default_rng(seed).random()`` in order."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium as gym
import numpy as np
import pytest

import mage_envs  # noqa: F401 -- registers the ids


def numbers(seed: int) -> Iterator[float]:
    rng = np.random.default_rng(seed)
    while True:
        yield rng.random()


@pytest.mark.parametrize("episodes", [1, 3, 40])  # 40 need 81 numbers at the reset, more than a block
@pytest.mark.parametrize("seed", [0, 2**40 + 7])
def test_draws_are_the_plain_stream(seed: int, episodes: int) -> None:
    opponents = {"random": 2, "first_legal": 1, "constant(bet)": 1}
    env = gym.make("mage/KuhnPoker-meta-v0", population=opponents, episodes=episodes, seat="random")
    u = numbers(seed)
    seen = set()
    for meta_episode in range(30):
        _, info = env.reset(seed=None if meta_episode else seed)
        drawn = next(u)
        opponent = "random" if drawn < 0.5 else "first_legal" if drawn < 0.75 else "constant(action=bet)"
        seats = [int(2 * next(u)) for _ in range(episodes)]
        instances = [int(2**53 * next(u)) for _ in range(episodes)]
        for seat, instance in zip(seats, instances, strict=True):
            assert (info["seat"], info["privileged"]["instance"]) == (seat, instance)
            assert info["privileged"]["opponent"] == opponent
            _, _, over, _, info = env.step(1)
            moves = info["view"].key.split()[0][1:]  # after the agent's card; the agent only bets
            for move in moves[1 - seat :: 2]:
                chosen = "pb"[int(2 * next(u))]
                assert move == {"random": chosen, "first_legal": "p"}.get(opponent, "b")
            if not over:
                _, _, _, _, info = env.step(0)
        assert over
        seen.add(opponent)
    assert len(seen) == 3
