"""Speed of worlds: rooms made, rooms solved, and steps of the vector environment.

Run: ``python -m benchmarks.perf.worlds``. Standard output gets one line, ``sokoban_rooms_per_s=…
sokoban_solver_median_s=… sokoban_solver_worst_s=… sokoban_steps_per_s=…``; standard error gets the rest. One core
does all of it. The best of several rounds counts, because other work on the machine comes in bursts; the solver's
times are those of one round, since its rooms differ.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

import mage_envs  # noqa: F401 -- registers the ids
from mage_envs.worlds.sokoban import RoomKind, make_room, solve

DEFAULT = RoomKind(6, 6, 2, 21)
HARD = RoomKind(10, 10, 4, 200)
ROOMS, ROUNDS = 200, 20
SOLVED = 100
ENVIRONMENTS, STEPS, POOL = 4_096, 130, 1_000


def best(work: Callable[[], None], rounds: int = ROUNDS) -> float:
    """Returns the seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def rooms_per_second(kind: RoomKind = DEFAULT, rooms: int = ROOMS) -> float:
    """Returns how many rooms are made a second, each with its proven lengths; other ones in every round."""
    make_room(0, kind)  # Compiles.
    numbers = iter(range(10**9))

    def make() -> None:
        for _ in range(rooms):
            make_room(next(numbers), kind)

    return rooms / best(make)


def solver_seconds(kind: RoomKind = HARD, rooms: int = SOLVED) -> list[float]:
    """Returns the seconds that the proof of the fewest moves and of the fewest pushes took together, room by room."""
    levels = [make_room(instance, kind) for instance in range(rooms)]
    solve(levels[0])
    times = []
    for level in levels:
        begun = time.perf_counter()
        solve(level)
        solve(level, "pushes")
        times.append(time.perf_counter() - begun)
    return times


def steps_per_second(count: int = ENVIRONMENTS, **arguments: Any) -> float:
    """Returns the steps of all environments together a second, resets included, by random moves drawn before."""
    name = "mage/Sokoban-meta-v0"
    env: Any = gym.make_vec(name, num_envs=count, vectorization_mode="vector_entry_point", **arguments).unwrapped
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 4, (16, count))

    def step() -> None:
        for number in range(STEPS):  # Two meta-episodes of 3 × 21 moves and 2 reflections.
            env.step(actions[number % len(actions)])

    step()
    return count * STEPS / best(step)


def main() -> None:
    """Measures, and writes."""
    rooms, solver = rooms_per_second(), solver_seconds()
    steps = steps_per_second(pool=POOL)
    for text in (
        f"6x6 rooms with 2 boxes, made and proven: {rooms:,.0f} a second",
        f"10x10 rooms with 4 boxes, solved twice: median {statistics.median(solver):.4f} s, worst {max(solver):.3f} s",
        f"{ENVIRONMENTS:,} environments, a pool of {POOL:,} rooms: {steps:,.0f} steps a second",
        f"… the same arrays each time (copy=False): {steps_per_second(pool=POOL, copy=False):,.0f}",
        f"… a new room for every meta-episode: {steps_per_second():,.0f}",
    ):
        sys.stderr.write(text + "\n")
    sys.stdout.write(
        f"sokoban_rooms_per_s={rooms:.0f} sokoban_solver_median_s={statistics.median(solver):.4f} "
        f"sokoban_solver_worst_s={max(solver):.3f} sokoban_steps_per_s={steps:.0f}\n"
    )


if __name__ == "__main__":
    main()
