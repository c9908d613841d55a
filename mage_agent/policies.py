"""What counts as equilibrium play, and best responses: said once for agents and yardsticks, computed once a process."""

from __future__ import annotations

from functools import lru_cache

from mage_envs.games import GameSpec
from mage_envs.tabular.belief import trembling_table
from mage_envs.tabular.solve import best_response
from mage_envs.tabular.tables import Policy


def equilibrium_strategy(game: GameSpec) -> str:
    """Returns the spec of the strategy that counts as equilibrium play: what the agent ``equilibrium`` plays."""
    return "minimax" if game.perfect_information else "cfr"


@lru_cache(maxsize=1024)
def best_policy(spec: GameSpec, opponent: str, seat: int, trembling: float = 0.0) -> Policy:
    """Returns the best response to an opponent that moves at random with probability ``trembling``.

    With ``trembling`` above 0 the policy is also sensible where the opponent never lets the seat get to.

    Raises:
        UnsupportedGameError: The opponent has no behaviour table, or the game is too large.
    """
    return best_response(spec, trembling_table(spec, opponent, trembling), seat).policy
