"""``best_response``: an oracle. It is told the hidden opponent and plays the exact best response to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.policies import best_policy
from mage_envs.games import GameSpec, View


class BestResponseAgent:
    """Plays the best response to the opponent it is told of, in every episode.

    Its expected score is :func:`~mage_envs.tabular.solve.best_response_value`: the ceiling for agents that are told
    the opponent, so for all agents.
    """

    name = "best_response"
    oracle = True
    interface = "array"

    def __init__(self) -> None:
        """Has no parameters."""
        self._spec: GameSpec
        self._opponent: str

    def begin(self, briefing: Briefing) -> None:
        """Takes the opponent from the briefing.

        Raises:
            ValueError: The briefing does not tell the opponent.
            UnsupportedGameError: The opponent has no behaviour table, or the game is too large.
        """
        self._spec = briefing.game
        if briefing.opponent is None:
            raise ValueError("best_response is an oracle: put the hidden opponent's spec in briefing.opponent")
        self._opponent = briefing.opponent
        best_policy(self._spec, self._opponent, 0)

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Looks the action up."""
        view: View = info["view"]
        if not view.legal:  # The others ended the first episode before this seat could act.
            return 0
        return best_policy(self._spec, self._opponent, view.seat)[view.key]

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Learns nothing: it knows all."""
        return 0


AGENTS.register("best_response", BestResponseAgent)
