"""``equilibrium``: plays an equilibrium in every episode and learns nothing. The zero of normalised scores."""

from __future__ import annotations

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.opponent_agent import OpponentAgent
from mage_agent.policies import equilibrium_strategy
from mage_envs.spec_strings import parse_spec


class Equilibrium(OpponentAgent):
    """Samples the average policy of ``cfr``; where nothing is hidden and nothing is dealt, plays ``minimax``."""

    def __init__(self) -> None:
        """Has no parameters: ``cfr`` takes its defaults."""
        super().__init__("equilibrium")

    def begin(self, briefing: Briefing) -> None:
        """Chooses the solver by the game, and starts it.

        Raises:
            UnsupportedGameError: The game is too large for the solver.
        """
        self._spec = parse_spec(equilibrium_strategy(briefing.game))
        super().begin(briefing)


AGENTS.register("equilibrium", Equilibrium)
