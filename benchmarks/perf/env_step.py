"""What one environment step costs, against a bare pyspiel loop and PettingZoo's Tic-Tac-Toe in the same run.

Run: ``make perf``. Every loop plays uniformly random legal actions. "loop" is all of it: choosing, stepping, and the
resets between episodes; "step" is the loop less what choosing and resetting take by themselves. A step holds the
opponent's decision as well as the agent's, while a decision of the bare loop and of PettingZoo is one move of one seat:
so "a move" is given too, the loop over the moves of both seats. The best round counts; rounds are short and
interleaved, so that a busy machine hits all alike, and come after a warm-up in which almost every board has been seen.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pyspiel

import mage_envs  # noqa: F401 -- registers the ids

ROUNDS = 15
GAMES = 2_000
WARM_UP = 20_000

BARE = "bare pyspiel loop"


def bare() -> int:
    """Plays one game of Tic-Tac-Toe in a bare pyspiel loop; returns the number of decisions."""
    state = _GAME.new_initial_state()
    count = 0
    while not state.is_terminal():
        state.apply_action(_RNG.choice(state.legal_actions()))
        count += 1
    return count


class Ours:
    """Plays episodes of ``mage/TicTacToe-v0`` against ``random``, and can time its steps alone."""

    def __init__(self, interface: str) -> None:
        """Makes the environment."""
        self.env = gym.make("mage/TicTacToe-v0", population="random", interface=interface)
        self.text = interface == "text"

    def play(self) -> int:
        """Plays one episode; returns the number of steps."""
        _, info = self.env.reset()
        count, over = 0, False
        while not over:
            action = _RNG.choice(info["legal_actions"] if self.text else info["view"].legal)
            _, _, over, _, info = self.env.step(action)
            count += 1
        return count

    def other_cost(self) -> float:
        """Returns the seconds a step that the loop spends outside ``env.step``: resetting and choosing."""
        steps = sum(self.play() for _ in range(GAMES))
        _, info = self.env.reset()
        actions = info["legal_actions"] if self.text else info["view"].legal
        start = time.perf_counter()
        for _ in range(GAMES):
            self.env.reset()
        for _ in range(steps):
            _RNG.choice(actions)
        return (time.perf_counter() - start) / steps

    def moves_per_step(self) -> float:
        """Returns how many moves of both seats there are to a step of the agent."""
        moves = steps = 0
        for _ in range(GAMES):
            _, info = self.env.reset()
            over = False
            while not over:
                _, _, over, _, info = self.env.step(
                    _RNG.choice(info["legal_actions"] if self.text else info["view"].legal)
                )
                steps += 1
            moves += sum(mark in "xo" for mark in info["view"].key)
        return moves / steps


def pettingzoo() -> int:
    """Plays one game of PettingZoo's own Tic-Tac-Toe; returns the number of decisions."""
    _PEER.reset()
    count = 0
    for _ in _PEER.agent_iter():
        observation, _, terminated, truncated, _ = _PEER.last()
        if terminated or truncated:
            _PEER.step(None)
        else:
            _PEER.step(_RNG.choice(np.flatnonzero(observation["action_mask"]).tolist()))
            count += 1
    return count


def loop_cost(play: Callable[[], int]) -> float:
    """Returns the seconds of one decision or step of a whole loop."""
    count, start = 0, time.perf_counter()
    for _ in range(GAMES):
        count += play()
    return (time.perf_counter() - start) / count


def main() -> None:
    """Measures, and prints one line a figure."""
    array, text = Ours("array"), Ours("text")
    for _ in range(WARM_UP):
        array.play()
        text.play()
    figures: dict[str, Callable[[], float]] = {
        BARE: lambda: loop_cost(bare),
        "mage/TicTacToe-v0 array, loop": lambda: loop_cost(array.play),
        "mage/TicTacToe-v0 text, loop": lambda: loop_cost(text.play),
        "pettingzoo tictactoe_v3, loop": lambda: loop_cost(pettingzoo),
    }
    best = dict.fromkeys(figures, float("inf"))
    for _ in range(ROUNDS):
        for name, measure in figures.items():
            best[name] = min(best[name], measure())
    ratio = array.moves_per_step()
    for interface, env in (("array", array), ("text", text)):
        loop = best[f"mage/TicTacToe-v0 {interface}, loop"]
        best[f"mage/TicTacToe-v0 {interface}, step"] = loop - min(env.other_cost() for _ in range(ROUNDS))
        best[f"mage/TicTacToe-v0 {interface}, a move"] = loop / ratio
    for name, cost in best.items():
        _say(f"{name:30s} {1e6 * cost:7.2f} us {cost / best[BARE]:7.2f} times bare")


def _say(line: Any) -> None:
    print(line)  # noqa: T201


def _peer() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from pettingzoo.classic import tictactoe_v3
        except ModuleNotFoundError as error:
            raise SystemExit("PettingZoo's games need pygame: pip install pygame-ce, or run make perf") from error
        return tictactoe_v3.env()


_RNG = random.Random(0)
_GAME = pyspiel.load_game("tic_tac_toe")

if __name__ == "__main__":
    _PEER = _peer()
    main()
