"""The meta-episode, written once for games and worlds: N episodes in a row, with a free step between two of them.

``reset`` starts episode 0 in phase ``play``. When episode n < N ends, the step returns its terminal view and phase
``reflect``; the next step takes a free action and returns the first view of episode n + 1. When episode N ends the
step returns ``terminated=True``. This is Gymnasium's next-step autoreset, with the boundary made visible.

A subclass says what an episode is: it draws, begins and plays episodes, and shows the agent a view.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import gymnasium as gym
from gymnasium.error import ResetNeeded

from mage_envs.envs.actions import read_action
from mage_envs.envs.checks import check_choice, check_int, check_penalty
from mage_envs.envs.observe import array_observation, open_mask, tell
from mage_envs.errors import near_matches
from mage_envs.games import View
from mage_envs.games.base import Outcome
from mage_envs.text.messages import not_played, printable
from mage_envs.text.parser import ReplyKind

Interface: TypeAlias = Literal["array", "text"]
Instance: TypeAlias = Literal["fresh", "replay"]

MAX_EPISODES = 100_000

_PLAY, _REFLECT = "play", "reflect"


class MetaEpisodeEnv(gym.Env[Any, Any]):
    """Base of all environments. See the module's docstring for what happens when.

    Attributes:
        interface: ``"array"`` or ``"text"``.
        episodes: N.
    """

    metadata = {"render_modes": ["ansi", "human"], "render_fps": 4}  # noqa: RUF012 -- as gym.Env declares it
    option_names: ClassVar[tuple[str, ...]] = ()

    _view: View

    def __init__(
        self,
        *,
        interface: str,
        episodes: int,
        stop_on_success: bool,
        invalid_penalty: float,
        max_invalid: int,
        render_mode: str | None,
    ) -> None:
        """Checks the settings that games and worlds share.

        Raises:
            ValueError: A setting of the wrong type or range; the message says the range.
        """
        check_choice("interface", interface, get_args(Interface))
        check_int("episodes", episodes, 1, MAX_EPISODES)
        check_int("max_invalid", max_invalid, 1, 1_000)
        check_choice("stop_on_success", stop_on_success, (True, False))
        check_choice("render_mode", render_mode, (None, "ansi", "human"))
        self.interface, self.episodes = interface, episodes
        self.render_mode = render_mode
        self._stop_on_success = stop_on_success
        self._penalty, self._max_invalid = check_penalty(invalid_penalty), max_invalid
        self._text = interface == "text"
        self._rules = ""
        self._seat = 0
        self._seed: int | None = None
        self._result: dict[str, Any] | None = None
        self._running = False

    # What a subclass says.

    @abstractmethod
    def _draw(self, options: Mapping[str, Any]) -> None:
        """Draws what is fixed for the meta-episode (opponent, seats, instances), from ``self.np_random``."""

    @abstractmethod
    def _begin(self, episode: int) -> None:
        """Begins an episode and plays until the agent must act, or the episode is over."""

    @abstractmethod
    def _play(self, action: int) -> None:
        """Plays a legal action and goes on until the agent must act again, or the episode is over."""

    @abstractmethod
    def _collect(self) -> float:
        """Returns the reward since the last call in this episode."""

    @abstractmethod
    def _forfeit(self) -> float:
        """Returns the reward that brings the episode's score to the loss that the rules give."""

    @abstractmethod
    def _outcome(self) -> Outcome:
        """Returns the outcome of the episode that just ended by the rules."""

    @abstractmethod
    def _privileged(self) -> dict[str, Any]:
        """Returns what loggers may know and agents may not."""

    # The Gymnasium interface.

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts a meta-episode.

        Args:
            seed: Seeds the environment's generator; None goes on with the present one.
            options: Fixes what would be drawn; the environment's docstring names the keys.

        Returns:
            The first observation and its info.

        Raises:
            ValueError: An unknown option, or a value out of range.
        """
        super().reset(seed=seed)
        self._seed = seed
        options = options or {}
        for name in options:
            if name not in self.option_names:
                raise ValueError(f"unknown reset option {name!r}. {near_matches(name, self.option_names)}")
        self._running = False
        self._rng = self.np_random
        self._draw(options)
        self._running = True
        self._last_action, self._last_reward = -1, 0.0
        self._start_episode(0)
        if self.render_mode == "human":
            self._show()
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays one decision, or leaves phase ``reflect``.

        Args:
            action: In phase ``play`` an action id (array) or a reply (text). In phase ``reflect`` anything.

        Returns:
            Observation, reward, terminated, truncated (always False), info.

        Raises:
            ResetNeeded: The meta-episode has not started, or is over.
            ValueError: An action of the wrong type: not an integer (array) or not a string (text).
        """
        if not self._running:
            raise ResetNeeded("call env.reset() first: the meta-episode has not started, or is over")
        if self._phase == _REFLECT:
            return self._leave_reflection()
        if self._view.terminal:  # The others ended the first episode before the agent could act.
            return self._end_episode(self._collect(), forfeit=False)
        kind, move = read_action(self._view, action, text=self._text)
        if move is None:
            return self._refuse(kind)
        self._in_a_row, self._note = 0, ""
        self._length += 1
        self._last_action = move
        self._play(move)
        reward = self._collect()
        if self._view.terminal:
            return self._end_episode(reward, forfeit=False)
        self._score += reward
        return self._returned(reward, terminated=False)

    def render(self) -> str | None:
        """Returns what the agent sees as text (mode ``ansi``), or writes it to standard output (mode ``human``)."""
        if self.render_mode == "human":
            self._show()
        return self._tell() if self.render_mode == "ansi" else None

    # Episodes and phases.

    def _start_episode(self, episode: int) -> None:
        self._phase, self._episode = _PLAY, episode
        self._score, self._length, self._invalid, self._in_a_row = 0.0, 0, 0, 0
        self._note, self._result = "", None
        self._begin(episode)

    def _leave_reflection(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._last_reward = 0.0
        self._start_episode(self._episode + 1)
        if self._view.terminal:
            return self._end_episode(self._collect(), forfeit=False)
        return self._returned(0.0, terminated=False)

    def _end_episode(self, reward: float, *, forfeit: bool) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        outcome: Outcome = "loss" if forfeit else self._outcome()
        self._score += reward
        self._result = {
            "reward": self._score,
            "outcome": outcome,
            "length": self._length,
            "invalid": self._invalid,
            "forfeit": forfeit,
        }
        last = self._episode + 1 == self.episodes or (self._stop_on_success and outcome == "win")
        self._running = not last
        if not last:
            self._phase = _REFLECT
        return self._returned(reward, terminated=last)

    def _returned(self, reward: float, *, terminated: bool) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._last_reward = reward
        if self.render_mode == "human":
            self._show()
        return self._observe(), reward, terminated, False, self._info()

    # Actions.

    def _refuse(self, kind: ReplyKind) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._invalid += 1
        self._in_a_row += 1
        self._note = not_played(kind, self._in_a_row, self._max_invalid)
        self._refused = kind
        reward = -self._penalty
        if self._in_a_row >= self._max_invalid:
            return self._end_episode(reward + self._forfeit(), forfeit=True)
        self._score += reward
        return self._returned(reward, terminated=False)

    # What the agent is told.

    def _observe(self) -> Any:
        if self._text:
            return printable(self._tell())
        mask = open_mask(self._view, self._phase, ended=self._result is not None)
        return array_observation(self._view, mask, self._phase, self._episode, self._last_action, self._last_reward)

    def _tell(self) -> str:
        return tell(self._view, self._episode, self.episodes, self._note, self._result)

    def _info(self) -> dict[str, Any]:
        view, ended = self._view, self._result is not None
        info = {
            "phase": self._phase,
            "episode": self._episode,
            "episodes": self.episodes,
            "seat": self._seat,
            "action_mask": open_mask(view, self._phase, ended=ended),
            "legal_actions": () if ended else view.names,
            "rules": self._rules,
            "view": view,
            "privileged": self._privileged(),
        }
        if self._note:
            info["invalid_reason"] = self._refused.value
        if self._result is not None:
            info["episode_result"] = dict(self._result)
        return info

    def _show(self) -> None:
        sys.stdout.write(self._tell() + "\n\n")
