"""A tabular learner that adapts within meta-episodes of Kuhn poker: 60 lines, NumPy only.

Its state is the view it has now and the last view of every episode before (its memory). For each state and action it
keeps the mean of what the rest of the meta-episode brought, over all environments at once, and plays the better action
with a falling share of random ones: Monte Carlo control. Nobody tells it which opponents there are.

Run: ``python examples/tabular_learner.py``. It prints its score of each episode and its share of the Bayes-adaptive
gain: (score - equilibrium) / (Bayes-adaptive value - equilibrium).
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

import mage_envs  # noqa: F401 -- registers the environments
from mage_envs.tabular.solve import bayes_adaptive_value, expected_value

GAME, EPISODES, SEAT, ENVIRONMENTS = "kuhn_poker", 3, 0, 4096
POPULATION = {"conservative": 0.3, "aggressive": 0.3, "intermediate": 0.4}
DECISIONS = 2 * EPISODES  # At most two of one seat in an episode ...
LONGEST = DECISIONS + EPISODES  # ... and one step to leave it.


def make() -> Any:
    """Makes the environments: all of them, in one object."""
    return gym.make_vec("mage/KuhnPoker-meta-v0", num_envs=ENVIRONMENTS, vectorization_mode="vector_entry_point",
                        population=POPULATION, episodes=EPISODES, seat=SEAT)  # fmt: skip


def play(value: npt.NDArray[np.float64], steps: int, explore: float, seed: int, learn: bool = True) -> float:
    """Steps all environments, learns the values of states and actions, and returns the mean score of a meta-episode."""
    env, rng, everyone = make(), np.random.default_rng([1, seed]), np.arange(ENVIRONMENTS)
    observation, info = env.reset(seed=seed)
    visits, scores = np.zeros_like(value), []
    memory, total, count = np.zeros(ENVIRONMENTS, np.int64), np.zeros(ENVIRONMENTS), np.zeros(ENVIRONMENTS, np.int64)
    state, taken = np.zeros((2, ENVIRONMENTS, DECISIONS), np.int64)
    before, finished = np.zeros((ENVIRONMENTS, DECISIONS)), np.zeros(ENVIRONMENTS, np.int64)
    for step in range(steps):
        now = memory * len(env.compiled.keys) + info["view"]
        asked = (observation["phase"] == 0) & observation["action_mask"].any(axis=1)
        best = np.where(observation["action_mask"] > 0, value[now], -np.inf).argmax(axis=1)
        random = rng.random(ENVIRONMENTS) < explore * (1 - step / steps)
        action = np.where(random, env.sample_actions(rng), best)
        rows = everyone[asked]
        place = rows, count[rows]
        state[place], taken[place], before[place] = now[rows], action[rows], total[rows]
        count[rows] += 1
        memory = np.where(observation["phase"] == 1, now, memory)  # The last view of an episode is remembered.
        observation, reward, over, _, info = env.step(action)
        total += reward
        if over.any():
            # As many from every environment: the short ones, which end more often, must not count more.
            scores.append(total[over & (finished < steps // LONGEST)])
            finished += over
            used = over[:, None] & (np.arange(DECISIONS) < count[:, None])
            pairs = state[used] * value.shape[1] + taken[used]
            pairs, number, counts = np.unique(pairs, return_inverse=True, return_counts=True)
            gains = np.bincount(number, weights=(total[:, None] - before)[used]) / counts
            if learn:
                visits.flat[pairs] += counts
                value.flat[pairs] += np.maximum(counts / visits.flat[pairs], 0.02) * (gains - value.flat[pairs])
            memory[over], total[over], count[over] = 0, 0.0, 0
    return float(np.concatenate(scores).mean())


def main(steps: int = 4_000) -> float:
    """Trains, then measures without learning. Returns the share of the Bayes-adaptive gain."""
    env = make()
    value = np.zeros((len(env.compiled.keys) ** EPISODES, env.single_action_space.n))
    play(value, steps, explore=1.0, seed=0)
    score = play(value, max(100, steps // 4), explore=0.0, seed=10**6, learn=False)
    best = bayes_adaptive_value(GAME, POPULATION, [SEAT] * EPISODES).total
    zero = EPISODES * sum(share * expected_value(GAME, "cfr", name, SEAT) for name, share in POPULATION.items())
    print(f"score {score:.3f}, equilibrium {zero:.3f}, Bayes-adaptive {best:.3f}: {(score - zero) / (best - zero):.0%}")
    return (score - zero) / (best - zero)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
