"""``alfworld_expert``: knows the whole house, and plays the solver's plan: the ceiling of ALFWorld.

It wins every published validation game in 3 to 9 turns, and every made household in at most 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mage_agent.agents import AGENTS
from mage_agent.alfworld_sight import check_alfworld
from mage_agent.base import Briefing
from mage_envs.worlds.alfworld import solve


class ALFWorldExpert:
    """Plays a shortest plan that the solver finds, with full knowledge; looks around where there is none."""

    name = "alfworld_expert"
    oracle = True
    interface = "text"

    def __init__(self) -> None:
        """Has no parameters."""
        self._plan: list[str] = []

    def begin(self, briefing: Briefing) -> None:
        """Forgets its plan.

        Raises:
            UnsupportedGameError: Something else than ALFWorld is played.
        """
        check_alfworld(briefing, self.name)
        self._plan = []

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Plays the next command of the plan, which it makes when it has none."""
        if not self._plan:
            self._plan = list(solve(info["view"].whole_state.house) or ("look",))
        return self._plan.pop(0)

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Drops what is left of the plan."""
        self._plan = []
        return ""


AGENTS.register("alfworld_expert", ALFWorldExpert)
