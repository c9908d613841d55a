"""What both PettingZoo adapters share: the settings, the spaces, what each player sees."""

from __future__ import annotations

import sys
from typing import Any, get_args

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding

from mage_envs.envs.checks import check_choice, check_instances, check_int, check_known, check_penalty
from mage_envs.envs.match import Match
from mage_envs.envs.meta_episode import MAX_EPISODES, Instance, Interface
from mage_envs.envs.observe import array_observation, closed_mask, tell
from mage_envs.envs.spaces import array_space, text_space
from mage_envs.games import load_game_spec
from mage_envs.text.messages import header, rules


class MultiAgentMeta:
    """Mixed into ``AECEnv`` and ``ParallelEnv``: N episodes among players who all learn.

    Args:
        game: Name of a game, or an OpenSpiel game string.
        episodes: N.
        instance: ``"fresh"`` or ``"replay"``.
        alternate: Whether the players change seats from one episode to the next.
        interface: ``"array"`` or ``"text"``.
        invalid_penalty: What an answer that cannot be played costs, in reward.
        max_invalid: So many such answers in a row lose the episode.
        render_mode: ``"ansi"``, ``"human"`` or None.

    Players are ``player_0``, ``player_1``, …; spaces, infos and phases are those of ``MetaGameEnv``. Between two
    episodes every player takes one free action in phase ``reflect``.
    """

    def __init__(
        self,
        game: str = "",
        *,
        episodes: int = 1,
        instance: str = "fresh",
        alternate: bool = False,
        interface: str = "array",
        invalid_penalty: float = 0.0,
        max_invalid: int = 3,
        render_mode: str | None = None,
        **unknown: object,
    ) -> None:
        """Makes the environment.

        Raises:
            ValueError: An unknown game or argument, or a value out of range.
        """
        check_known(unknown, MultiAgentMeta.__init__)
        self.episodes = check_int("episodes", episodes, 1, MAX_EPISODES)
        check_choice("instance", instance, get_args(Instance))
        check_choice("alternate", alternate, (True, False))
        check_choice("interface", interface, get_args(Interface))
        max_invalid = check_int("max_invalid", max_invalid, 1, 1_000)
        check_choice("render_mode", render_mode, (None, "ansi", "human"))
        self.game_spec = load_game_spec(game)
        self.metadata = {
            "name": f"mage_{self.game_spec.name}_v0",
            "render_modes": ["ansi", "human"],
            "render_fps": 4,
            "is_parallelizable": False,
        }
        self.interface, self.render_mode, self._replay = interface, render_mode, instance == "replay"
        self.match = Match(
            self.game_spec,
            episodes=self.episodes,
            replay=self._replay,
            alternate=alternate,
            penalty=check_penalty(invalid_penalty),
            max_invalid=max_invalid,
            text=interface == "text",
        )
        self._rules = rules(self.game_spec.rules, self.episodes, instance)
        self.possible_agents = [f"player_{player}" for player in range(self.game_spec.seats)]
        self._player = {agent: player for player, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: self._action_space() for agent in self.possible_agents}
        self._rng, _ = seeding.np_random()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of an agent's observations; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Returns the space of an agent's actions; always the same object."""
        return self.action_spaces[agent]

    def observe(self, agent: str) -> Any:
        """Returns what an agent sees now."""
        self._check_started()
        player, match = self._player[agent], self.match
        if self.interface == "text":
            return self._tell(player)
        mask = self._mask(player)
        last = (match.last_actions[player], self._last_rewards[player])
        return array_observation(match.view(player), mask, match.phase, match.episode, *last)

    def render(self) -> str | None:
        """Returns what every player sees as text (mode ``ansi``), or writes it (mode ``human``)."""
        self._check_started()
        parts = [f"[{agent}]\n{self._tell(player)}" for agent, player in self._player.items()]
        if self.render_mode == "human":
            sys.stdout.write("\n\n".join(parts) + "\n\n")
        return "\n\n".join(parts) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Holds nothing that needs closing."""

    def _start(self, seed: int | None, options: dict[str, Any] | None) -> None:
        if seed is not None:
            self._rng, _ = seeding.np_random(seed)
        # Other options are let through: PettingZoo's api_test passes one and expects no error.
        given = (options or {}).get("instance")
        instances = None if given is None else check_instances(given, self.episodes, replay=self._replay)
        self.agents = self.possible_agents[:]
        self._last_rewards = [0.0 for _ in self.agents]
        self.match.start(self._rng, instances)

    def _check_started(self) -> None:
        if not self.match.started:
            raise ResetNeeded("call reset() first: the meta-episode has not started")

    def _info(self, agent: str) -> dict[str, Any]:
        player, match = self._player[agent], self.match
        view, results = match.view(player), match.results
        info = {
            "phase": match.phase,
            "episode": match.episode,
            "episodes": self.episodes,
            "seat": view.seat,
            "action_mask": self._mask(player),
            "legal_actions": () if results else view.names,
            "rules": self._rules,
            "view": view,
            "privileged": {"instance": match.instance},
        }
        if results:
            info["episode_result"] = results[player] | {"refused": dict(results[player]["refused"])}
        if match.reasons[player]:
            info["invalid_reason"] = match.reasons[player]
        return info

    def _mask(self, player: int) -> np.ndarray[Any, np.dtype[np.int8]]:
        view, match = self.match.view(player), self.match
        return view.mask.copy() if match.results is None else closed_mask(view, match.phase)

    def _tell(self, player: int) -> str:
        match = self.match
        result = match.results[player] if match.results else None
        place = header(match.episode, self.episodes, match.seat(player))
        return tell(place, match.view(player), match.notes[player], result)

    def _observation_space(self) -> spaces.Space[Any]:
        return text_space() if self.interface == "text" else array_space(self.game_spec, self.episodes)

    def _action_space(self) -> spaces.Space[Any]:
        return text_space() if self.interface == "text" else spaces.Discrete(self.game_spec.actions)
