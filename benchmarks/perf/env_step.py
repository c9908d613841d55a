"""What one environment step costs, against a bare pyspiel loop and PettingZoo's Tic-Tac-Toe in the same run.

Run: ``python -m benchmarks.perf.env_step``. Every loop plays uniformly random legal actions; costs are per decision of
the looping side, choosing included. A step of ours holds the opponent's decision as well. The best of five rounds
counts, each a few tenths of a second, interleaved so that a busy machine hits all alike.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable

import gymnasium as gym
import numpy as np
import pyspiel

import mage_envs  # noqa: F401 -- registers the ids

ROUNDS = 5
BUDGET = 0.3


def bare(rng: random.Random) -> int:
    """Plays one game of Tic-Tac-Toe in a bare pyspiel loop; returns the number of decisions."""
    state = _GAME.new_initial_state()
    count = 0
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
        count += 1
    return count


def ours(env: gym.Env[object, object], text: bool) -> Callable[[random.Random], int]:
    """Returns a function that plays one episode and returns the number of steps."""

    def play(rng: random.Random) -> int:
        _, info = env.reset()
        count, over = 0, False
        while not over:
            choices = info["legal_actions"] if text else info["view"].legal
            _, _, over, _, info = env.step(rng.choice(choices))
            count += 1
        return count

    return play


def pettingzoo(rng: random.Random) -> int:
    """Plays one game of PettingZoo's own Tic-Tac-Toe."""
    _PEER.reset()
    count = 0
    for _ in _PEER.agent_iter():
        observation, _, terminated, truncated, _ = _PEER.last()
        if terminated or truncated:
            _PEER.step(None)
        else:
            _PEER.step(rng.choice(np.flatnonzero(observation["action_mask"]).tolist()))
            count += 1
    return count


def main() -> None:
    """Measures and prints one line a loop."""
    loops: dict[str, Callable[[random.Random], int]] = {
        "bare pyspiel loop": bare,
        "mage/TicTacToe-v0 array": ours(gym.make("mage/TicTacToe-v0", population="random"), text=False),
        "mage/TicTacToe-v0 text": ours(gym.make("mage/TicTacToe-v0", population="random", interface="text"), text=True),
        "pettingzoo tictactoe_v3": pettingzoo,
    }
    best = dict.fromkeys(loops, float("inf"))
    for _ in range(ROUNDS):
        for name, loop in loops.items():
            best[name] = min(best[name], _cost(loop))
    for name, cost in best.items():
        print(f"{name:26s} {1e6 * cost:8.2f} us a decision {cost / best['bare pyspiel loop']:8.2f} times bare")  # noqa: T201


def _cost(loop: Callable[[random.Random], int]) -> float:
    rng = random.Random(0)
    for _ in range(200):
        loop(rng)
    count, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < BUDGET:
        for _ in range(20):
            count += loop(rng)
    return spent / count


warnings.filterwarnings("ignore")
_GAME = pyspiel.load_game("tic_tac_toe")

from pettingzoo.classic import tictactoe_v3  # noqa: E402 -- its import warns

_PEER = tictactoe_v3.env()

if __name__ == "__main__":
    main()
