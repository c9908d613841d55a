"""Speed of MineSweeper: boards, odds, and steps of the vector environment.

Run: ``python -m benchmarks.perf.minesweeper``. Standard output gets one line, ``boards_per_s=… no_guess_boards_per_s=…
odds_per_s=… win_probability_s=… vector_steps_per_s=…``. One core does all of it. The best of several rounds counts,
because other work on the machine comes in bursts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

import mage_envs  # noqa: F401 -- registers the ids
from mage_envs.worlds.minesweeper import Knowledge, Setting, grid, lay_out, mine_odds, win_probability

ROUNDS = 20
ENVIRONMENTS, STEPS = 4_096, 60
EXPERT = Setting(16, 30, 99, "given")


def best(work: Callable[[], None], rounds: int = ROUNDS) -> float:
    """Returns the seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def boards_per_second(setting: Setting, count: int) -> float:
    """Returns how many boards are laid out a second; other ones in every round."""
    numbers = iter(range(10**9))

    def lay() -> None:
        for _ in range(count):
            lay_out(setting, next(numbers))

    return count / best(lay)


def odds_per_second(count: int = 30) -> float:
    """Returns for how many openings of 16×30 boards with 99 mines the exact odds of all cells are found a second."""
    plays = [lay_out(EXPERT, instance).play for instance in range(count)]
    known = [Knowledge(grid(16, 30), 99, play.shown()) for play in plays]

    def solve() -> None:
        for each in known:
            mine_odds(each)

    return count / best(solve)


def vector_steps_per_second(**arguments: Any) -> float:
    """Returns the steps a second of 4,096 environments; actions are random legal ones, drawn outside the timed part."""
    env: Any = gym.make_vec(
        "mage/MineSweeper-meta-v0", ENVIRONMENTS, "vector_entry_point", copy=False, **arguments
    ).unwrapped
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    times = []
    for _ in range(STEPS * 3):
        actions = env.sample_actions(rng)
        begun = time.perf_counter()
        env.step(actions)
        times.append(time.perf_counter() - begun)
    rounds = [sum(times[first : first + 10]) / 10 for first in range(STEPS, len(times), 10)]
    return ENVIRONMENTS / min(rounds)


def _whole() -> None:
    win_probability(Setting())


def main() -> None:
    """Measures and prints."""
    found = {
        "boards_per_s": boards_per_second(Setting(), 500),
        "no_guess_boards_per_s": boards_per_second(Setting(8, 8, 10, "given", no_guess=True), 10),
        "odds_per_s": odds_per_second(),
        "win_probability_s": best(_whole, rounds=2),
        "vector_steps_per_s": vector_steps_per_second(),
        "vector_fresh_steps_per_s": vector_steps_per_second(instance="fresh"),
    }
    sys.stdout.write(" ".join(f"{name}={value:.4g}" for name, value in found.items()) + "\n")


if __name__ == "__main__":
    main()
