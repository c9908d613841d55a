"""``sokoban_solver``: solves the room that it sees with the fewest moves; an exact ceiling of what can be won.

Every made room is solved within its ``max_moves``, so that it wins all meta-episodes of the papers' setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.sokoban_pushes import check_sokoban, seen_level
from mage_envs.worlds.sokoban import solve


class SokobanSolver:
    """Plays a shortest solution of what it sees, found by search; moves up where there is none."""

    name = "sokoban_solver"
    oracle = True
    interface = "array"

    def __init__(self) -> None:
        """Has no parameters."""
        self._moves: list[int] = []

    def begin(self, briefing: Briefing) -> None:
        """Forgets its plan.

        Raises:
            UnsupportedGameError: Something else than Sokoban is played.
        """
        check_sokoban(briefing)
        self._moves = []

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Plays the next move of the plan, which it makes when it has none."""
        if not self._moves:
            solution = solve(seen_level(info["view"]))
            self._moves = [0] if solution is None else list(solution.moves)
        return self._moves.pop(0)

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Drops what is left of the plan. The free action is 0."""
        self._moves = []
        return 0


AGENTS.register("sokoban_solver", SokobanSolver)
