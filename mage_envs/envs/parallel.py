"""Simultaneous games as PettingZoo parallel environments: all agents decide at once."""

from __future__ import annotations

from typing import Any

from pettingzoo import ParallelEnv

from mage_envs.envs.multi_agent import MultiAgentMeta

StepResult = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class MetaParallelEnv(MultiAgentMeta, ParallelEnv):  # type: ignore[misc]
    """Plays a simultaneous game among learning agents. See :class:`MultiAgentMeta` for the arguments.

    If one agent's action cannot be played, nothing happens in that step but its penalty, and all decide again.
    """

    def __init__(self, game: str = "", **settings: Any) -> None:
        """Makes the environment; see the class.

        Raises:
            ValueError: The game is sequential; use ``env()``.
        """
        MultiAgentMeta.__init__(self, game, **settings)
        if not self.game_spec.simultaneous:
            raise ValueError(f"{game!r} is a sequential game: use env(), the AEC environment")

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Starts a meta-episode; option ``instance`` fixes the instances (one id, or one an episode)."""
        self._start(seed, options)
        return self._shown()

    def step(self, actions: dict[str, Any]) -> StepResult:
        """Takes one decision of every agent.

        Raises:
            ValueError: An action is missing, or of the wrong type.
            ResetNeeded: The meta-episode has not started.
        """
        self._check_started()
        match = self.match
        match.withdraw()
        missing = [agent for agent in self.agents if agent not in actions]
        if missing:
            raise ValueError(f"all agents act at once, and there is no action of {', '.join(missing)}")
        rewards = match.decide({player: actions[self.possible_agents[player]] for player in match.waiting})
        self._last_rewards = rewards
        observations, infos = self._shown()
        agents, over = self.agents, match.over
        if self.render_mode == "human":
            self.render()
        if over:
            self.agents = []
        result = {agent: rewards[self._player[agent]] for agent in agents}
        return observations, result, dict.fromkeys(agents, over), dict.fromkeys(agents, False), infos

    def _shown(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        observations = {agent: self.observe(agent) for agent in self.agents}
        return observations, {agent: self._info(agent) for agent in self.agents}
