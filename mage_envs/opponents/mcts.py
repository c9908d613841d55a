"""Monte Carlo tree search on OpenSpiel's C++ ``MCTSBot``: UCT with random playouts, solved positions backed up.

Defaults are those of OpenSpiel's example (uct_c 2, 1 playout a leaf); the MAGE paper's released Tic-Tac-Toe
opponent uses uct_c 1.4. ``mcts(simulations=1000)`` never loses Tic-Tac-Toe to random play and takes every win in one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, View
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, check_range, one_hot

MAX_SIMULATIONS = 10_000_000
_MEMORY_MB = 512


class MCTS(Opponent):
    """Searches afresh at each decision, seeded from the generator it is handed, and plays the most visited move."""

    summary = "Monte Carlo tree search (OpenSpiel's C++ bot, UCT, random playouts); only where nothing is hidden"
    plays = "games in turns, nothing hidden"
    tabular = False

    def __init__(self, game: GameSpec, simulations: int = 100, uct_c: float = 2.0, rollouts: int = 1) -> None:
        """Checks the game and the parameters.

        Args:
            game: A game that hides nothing and has sequential turns.
            simulations: Playouts a decision, 1 to 10,000,000. One means a random move.
            uct_c: Exploration constant, 0 to 1,000.
            rollouts: Random playouts averaged at each leaf, 1 to 10,000.

        Raises:
            UnsupportedGameError: The search would see hidden information, or OpenSpiel cannot search the game.
        """
        super().__init__(game)
        if not game.perfect_information:
            raise UnsupportedGameError(f"mcts would search what {game.name!r} hides from its seat (or moves that are "
                                       "made at once); play ismcts or cfr instead")  # fmt: skip
        if game.rewards_each_step:
            raise UnsupportedGameError(f"OpenSpiel's search needs rewards at the end only, {game.name!r} pays on the "
                                       "way; play random")  # fmt: skip
        check_range("simulations", simulations, 1, MAX_SIMULATIONS)
        check_range("uct_c", uct_c, 0, 1_000, float)
        check_range("rollouts", rollouts, 1, 10_000)
        self._simulations, self._uct_c, self._rollouts = simulations, float(uct_c), rollouts

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Searches from the view's position."""
        seed, playout_seed = (int(number) for number in rng.integers(2**31, size=2))
        return one_hot(view, self.search(view.sample_state(rng), seed, playout_seed)), memory

    def search(self, state: Any, seed: int, playout_seed: int) -> int:
        """Returns the most visited move of one search from an OpenSpiel state; the seeds are in 0..2³¹−1."""
        playouts = pyspiel.RandomRolloutEvaluator(self._rollouts, playout_seed)
        bot = pyspiel.MCTSBot(
            self.game.game, playouts, self._uct_c, self._simulations, _MEMORY_MB, solve=True, seed=seed, verbose=False
        )
        return int(bot.step(state))


OPPONENTS.register("mcts", MCTS)
