"""Equilibrium play by counterfactual regret minimisation, on OpenSpiel's C++ ``CFRPlusSolver`` (Tammelin 2014).

With the default 300 iterations the sampled average strategy of Kuhn poker can be exploited for 0.0004 chips a hand and
that of Leduc poker for 0.0023 (mean of the best responses from both seats; 0.01 s and 3 s to solve). ``cfr_argmax``,
which plays the likeliest action for sure as the released MAGE code does, can be exploited for 1/6 in Kuhn poker.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyspiel

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, View
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, check_range, one_hot

MAX_HISTORIES = 100_000
MAX_ITERATIONS = 100_000


class CFR(Opponent):
    """Samples the average strategy of CFR+: close to an equilibrium, so that nobody can exploit it for much."""

    summary = "samples the average strategy of CFR+, close to an equilibrium (exploitable for 0.0004 on Kuhn poker)"
    plays = "zero-sum games of two seats with at most 100,000 histories"

    def __init__(self, game: GameSpec, iterations: int = 300) -> None:
        """Solves the game, once a process.

        Args:
            game: A zero-sum game of two seats with at most 100,000 histories.
            iterations: Iterations of CFR+, 1 to 100,000.

        Raises:
            UnsupportedGameError: The game is larger, has no information states, or is not zero-sum between two seats.
        """
        super().__init__(game)
        check_range("iterations", iterations, 1, MAX_ITERATIONS)
        self._table = average_strategy(game, iterations)

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Looks the information state up."""
        return self._average(view), memory

    def _average(self, view: View) -> Distribution:
        # Where seats move at once OpenSpiel solves the game in which they move in turn, and prefixes its keys.
        return self._table[f"Current player: {view.seat}\n{view.key}" if self.game.simultaneous else view.key]


class CFRArgmax(CFR):
    """Plays the likeliest action of the average strategy for sure: not an equilibrium."""

    summary = "plays the likeliest action of CFR+'s average for sure: no equilibrium, exploitable for 1/6 on Kuhn poker"

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Looks the information state up. Among equally likely actions the one with the lowest id is played."""
        average = self._average(view)
        return one_hot(view, view.legal[average.index(max(average))]), memory


@lru_cache(maxsize=32)
def average_strategy(game: GameSpec, iterations: int) -> dict[str, Distribution]:
    """Runs CFR+.

    Args:
        game: The game.
        iterations: How many iterations.

    Returns:
        For every OpenSpiel information state with a choice: the average strategy over its legal actions.

    Raises:
        UnsupportedGameError: The game is too large, or not of a kind for which CFR+ promises anything.
    """
    _refuse_unsolvable(game)
    solver = pyspiel.CFRPlusSolver(pyspiel.convert_to_turn_based(game.game) if game.simultaneous else game.game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    average = solver.tabular_average_policy().policy_table()
    return {key: tuple(p for _, p in sorted(strategy)) for key, strategy in average.items()}


def _refuse_unsolvable(game: GameSpec) -> None:
    if game.seats != 2 or not game.zero_sum:
        raise UnsupportedGameError(f"cfr finds equilibria of zero-sum games of two seats only; {game.name!r} is none, "
                                   "play random")  # fmt: skip
    if game.merge:
        raise UnsupportedGameError(f"{game.name!r} hides nothing, minimax and mcts play it better than cfr would")
    if not game.game.get_type().provides_information_state_string:
        raise UnsupportedGameError(f"OpenSpiel names no information states in {game.name!r}, which cfr needs; "
                                   "play random")  # fmt: skip
    if _more_histories_than(MAX_HISTORIES, game.game):
        raise UnsupportedGameError(f"{game.name!r} has more than {MAX_HISTORIES:,} histories, too many for cfr; "
                                   "mcts, ismcts and random play large games")  # fmt: skip


def _more_histories_than(limit: int, game: Any) -> bool:
    count, waiting = 0, [game.new_initial_state()]
    while waiting and count <= limit:
        count += 1
        waiting += _children(waiting.pop())
    return count > limit


def _children(state: Any) -> list[Any]:
    if state.is_terminal():
        return []
    if not state.is_simultaneous_node():
        return [state.child(action) for action in state.legal_actions()]
    children = []
    for first in state.legal_actions(0):
        for second in state.legal_actions(1):
            child = state.clone()
            child.apply_actions([first, second])
            children.append(child)
    return children


OPPONENTS.register("cfr", CFR)
OPPONENTS.register("cfr_argmax", CFRArgmax)
