"""Information-set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012) on OpenSpiel's Python ``ISMCTSBot``.

Every simulation starts from a state that is drawn afresh among those the seat cannot tell apart, so the true hidden
cards cannot matter. OpenSpiel's C++ bot is 20 to 60 times faster, but breaks ties in the order of a hash table that
is salted anew in each process: the same seed gave different moves, so it cannot be used here.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, View
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, check_range

MAX_SIMULATIONS = 1_000_000

_PROBES = 5
_PROBE_LENGTH = 1_000

_BROKEN = frozenset({"hearts"})
"""Games that OpenSpiel 2.0 redraws into states without legal actions; the C++ bot then takes the process down."""


class ISMCTS(Opponent):
    """Searches afresh at each decision and plays a most visited move; equally visited ones with equal probability."""

    summary = "tree search over information sets (OpenSpiel's ISMCTS): hidden cards are redrawn in every simulation"
    plays = "games in turns with hidden information that OpenSpiel can redraw"
    tabular = False

    def __init__(self, game: GameSpec, simulations: int = 100, uct_c: float = 2.0) -> None:
        """Checks the game and the parameters.

        Args:
            game: A sequential game with hidden information that OpenSpiel can resample.
            simulations: Simulations a decision, 2 to 1,000,000.
            uct_c: Exploration constant, 0 to 1,000.

        Raises:
            UnsupportedGameError: The game hides nothing, or OpenSpiel cannot redraw what it hides.
        """
        super().__init__(game)
        if game.perfect_information:
            raise UnsupportedGameError(f"{game.name!r} hides nothing; play mcts or minimax instead of ismcts")
        if game.simultaneous:
            raise UnsupportedGameError(f"ismcts needs turns, seats of {game.name!r} move at once; play cfr or random")
        check_range("simulations", simulations, 2, MAX_SIMULATIONS)
        check_range("uct_c", uct_c, 0, 1_000, float)
        if not _can_resample(game):
            raise UnsupportedGameError(f"OpenSpiel cannot redraw the hidden information of {game.name!r}, which ismcts "
                                       "needs; play cfr on small games, or random")  # fmt: skip
        self._simulations, self._uct_c = simulations, float(uct_c)

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Searches from what the view shows."""
        if len(view.legal) == 1:
            return (1.0,), memory
        seed, world_seed = (int(number) for number in rng.integers(2**31, size=2))
        generator = np.random.RandomState(seed)
        bot = ISMCTSBot(
            self.game.game, RandomRolloutEvaluator(1, generator), self._uct_c, self._simulations, random_state=generator
        )
        worlds = pyspiel.UniformProbabilitySampler(world_seed, 0.0, 1.0)
        bot.set_resampler(lambda state, seat: state.resample_from_infostate(seat, worlds))
        found = dict(bot.get_policy(view.sample_state(rng)))
        return tuple(float(found[action]) for action in view.legal), memory


def _can_resample(game: GameSpec) -> bool:
    """Tries at the first choice of a few random plays."""
    if game.game.get_type().short_name in _BROKEN:
        return False
    sampler = pyspiel.UniformProbabilitySampler(0, 0.0, 1.0)
    for state in filter(None, (_first_choice(game.game, Random(seed)) for seed in range(_PROBES))):
        try:
            state.resample_from_infostate(state.current_player(), sampler)
        except pyspiel.SpielError:
            return False
    return True


def _first_choice(game: Any, rng: Random) -> Any:
    """Plays at random until a seat has a choice; None if none has one soon."""
    state = game.new_initial_state()
    for _ in range(_PROBE_LENGTH):
        if state.is_terminal():
            return None
        legal = state.legal_actions()
        if len(legal) > 1 and not state.is_chance_node():
            return state
        state.apply_action(rng.choice(legal))
    return None


OPPONENTS.register("ismcts", ISMCTS)
