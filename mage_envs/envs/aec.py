"""Games as PettingZoo AEC environments: every seat is a learning agent, one decides at a time.

Shimmy's ``OpenSpielCompatibilityV0`` was tried first: it plays one episode with OpenSpiel's own tensors and has no
place for phases, replayed instances, seats that change, or texts, so the adapter is ours.
"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from mage_envs.envs.multi_agent import MultiAgentMeta


class MetaAECEnv(MultiAgentMeta, AECEnv):  # type: ignore[misc]
    """Plays a game among learning agents, one decision a step. See :class:`MultiAgentMeta` for the arguments.

    At a simultaneous position the agents decide one after the other and see nothing of each other's choice.
    """

    def __init__(self, game: str = "", **settings: Any) -> None:
        """Makes the environment; see the class."""
        AECEnv.__init__(self)
        MultiAgentMeta.__init__(self, game, **settings)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a meta-episode; option ``instance`` fixes the instances (one id, or one an episode)."""
        self._start(seed, options)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._select()

    def step(self, action: Any) -> None:
        """Takes the decision of ``agent_selection`` (None once it is done)."""
        self._check_started()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        gained = self.match.decide({self._player[agent]: action})
        for other in self.agents:
            self.rewards[other] = gained[self._player[other]]
        self._accumulate_rewards()
        # What `last()` gives: all since the agent's own last step.
        self._last_rewards = [self._cumulative_rewards[other] for other in self.agents]
        if self.match.over:
            self.terminations = dict.fromkeys(self.agents, True)
        self._select()
        if self.render_mode == "human":
            self.render()

    def _select(self) -> None:
        self.infos = {agent: self._info(agent) for agent in self.agents}
        waiting = self.match.waiting
        self.agent_selection = self.possible_agents[waiting[0]] if waiting else self.agents[0]


def wrapped_aec(game: str = "", **settings: Any) -> AECEnv:
    """Makes the environment with PettingZoo's checks of call order and spaces around it."""
    env = MetaAECEnv(game, **settings)
    if env.interface == "array":
        return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))
    return wrappers.OrderEnforcingWrapper(env)
