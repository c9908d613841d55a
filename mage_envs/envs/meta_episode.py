"""The meta-episode, written once for games and worlds: N episodes in a row, with a free step between two of them.

``reset`` starts episode 0 in phase ``play``. When episode n < N ends, the step returns its terminal view and phase
``reflect``; the next step takes a free action and returns the first view of episode n + 1. When episode N ends the
step returns ``terminated=True``. This is Gymnasium's next-step autoreset, with the boundary made visible.

A subclass says what an episode is: it draws, begins and plays episodes, and shows the agent a view.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from array import array
from collections.abc import Mapping
from operator import index as as_integer
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded

from mage_envs.envs.checks import check_choice, check_int, check_penalty
from mage_envs.envs.observe import array_observation, closed_mask, tell
from mage_envs.errors import near_matches
from mage_envs.games import View
from mage_envs.games.base import Outcome
from mage_envs.text.messages import header, not_played
from mage_envs.text.parser import ReplyKind
from mage_envs.worlds import WorldView

Interface: TypeAlias = Literal["array", "text"]
Instance: TypeAlias = Literal["fresh", "replay"]

MAX_EPISODES = 100_000

_BLOCK = 64
_NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
_PLAY, _REFLECT = "play", "reflect"


class MetaEpisodeEnv(gym.Env[Any, Any]):
    """Base of all environments. See the module's docstring for what happens when.

    Attributes:
        interface: ``"array"`` or ``"text"``.
        episodes: N.
    """

    metadata = {"render_modes": ["ansi", "human"], "render_fps": 4}  # noqa: RUF012 -- as gym.Env declares it
    option_names: ClassVar[tuple[str, ...]] = ()
    _others_play: ClassVar[bool] = True

    # Slots make a step a tenth cheaper: what it reads lies close together.
    __slots__ = (
        "_block", "_episode", "_hint",
        "_in_a_row", "_invalid", "_kinds", "_last_action", "_length", "_max_invalid", "_note", "_penalty",
        "_phase", "_playing", "_refused", "_result", "_rng", "_running", "_score", "_seat", "_secret",
        "_stop_on_success", "_text", "_told", "_view",
    )  # fmt: skip

    _view: View | WorldView
    _in_a_row: int
    _rng: np.random.Generator

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
        self.episodes = check_int("episodes", episodes, 1, MAX_EPISODES)
        self._max_invalid = check_int("max_invalid", max_invalid, 1, 1_000)
        check_choice("stop_on_success", stop_on_success, (True, False))
        check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.interface, self.render_mode = interface, render_mode
        self._stop_on_success = stop_on_success
        self._penalty = check_penalty(invalid_penalty)
        self._text = interface == "text"
        # What infos are copied from. A subclass puts in the rules, and what it draws: the opponent, the instance.
        self._told: dict[str, Any] = {
            "phase": _PLAY,
            "episode": 0,
            "episodes": self.episodes,
            "seat": 0,
            "rules": "",
            "legal_actions": (),
            "action_mask": None,
            "action_valid": True,
            "view": None,
            "privileged": None,
        }
        self._secret: dict[str, Any] = {"opponent": "", "instance": 0, "seed": -1}
        self._hint = ""  # How an answer is written, where the names of the legal actions do not say it.
        self._seat, self._episode = 0, -1
        self._result: dict[str, Any] | None = None
        self._running = self._playing = False
        self._block = array("d")

    # What a subclass says.

    @abstractmethod
    def _draw(self, options: Mapping[str, Any]) -> None:
        """Draws what is fixed for the meta-episode (opponent, seats, instances), from ``self.np_random``."""

    @abstractmethod
    def _begin(self, episode: int) -> None:
        """Begins an episode and plays until the agent must act, or the episode is over."""

    @abstractmethod
    def _read(self, action: Any) -> tuple[ReplyKind, Any]:
        """Reads an action that is not simply the name or id of a legal one.

        Returns:
            What became of it; and if it can be played what :meth:`_play` takes, else None.

        Raises:
            ValueError: An action of the wrong type.
        """

    @abstractmethod
    def _play(self, move: Any) -> float:
        """Plays what ``view.moves`` holds for a legal action, and goes on until the agent must act again, or the end.

        Returns:
            The reward.
        """

    @abstractmethod
    def _collect(self) -> float:
        """Returns the reward of what happened since the last :meth:`_play` or :meth:`_collect` of this episode."""

    @abstractmethod
    def _forfeit(self) -> float:
        """Returns the reward that brings the episode's score to the loss that the rules give."""

    @abstractmethod
    def _outcome(self) -> Outcome:
        """Returns the outcome of the episode that just ended by the rules."""

    def _truncated(self) -> bool:
        """Returns whether a turn limit ended the episode, and not the rules."""
        return False

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
        if seed is not None:
            super().reset(seed=seed)
        if getattr(self, "_rng", None) is not self.np_random:  # Made when it is first asked for.
            self._rng, self._block = self.np_random, array("d")
        self._secret["seed"] = -1 if seed is None else seed
        self._running = self._playing = False
        self._draw(self._checked(options) if options else _NO_OPTIONS)
        self._running = True
        self._last_action = -1
        self._start_episode(0)
        observation, _, _, _, info = self._returned(0.0, False)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays one decision, or leaves phase ``reflect``.

        Args:
            action: In phase ``play`` an action id (array) or a reply (text). In phase ``reflect`` anything.

        Returns:
            Observation, reward, terminated, truncated (a turn limit ended the only episode), info.

        Raises:
            ResetNeeded: The meta-episode has not started, or is over.
            ValueError: An action of the wrong type: not an integer (array) or not a string (text).
        """
        if not self._playing:
            return self._step_outside_play()
        view = self._view
        try:
            move = view.moves[view.spellings[action] if self._text else as_integer(action)]
        except (KeyError, TypeError):
            kind, move = self._read(action)
            if move is None:
                return self._refuse(kind)
        if self._in_a_row:
            self._in_a_row, self._note = 0, ""
        self._length += 1
        reward = self._play(move)
        if self._view.terminal:
            return self._end_episode(reward, forfeit=False)
        self._score += reward
        return self._returned(reward, False)

    def render(self) -> str | None:
        """Returns what the agent sees as text (mode ``ansi``), or writes it to standard output (mode ``human``).

        Raises:
            ResetNeeded: There is nothing to see before the first reset.
        """
        if self._episode < 0:
            raise ResetNeeded("call env.reset() first: there is nothing to render yet")
        self._render_step()
        return self._tell() if self.render_mode == "ansi" else None

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        for name in options:
            if name not in self.option_names:
                raise ValueError(f"unknown reset option {name!r}. {near_matches(str(name), self.option_names)}")
        return options

    # Numbers: those of ``numpy.random.default_rng(seed).random()`` in order, none left out.

    def _uniform(self) -> float:
        """Returns a number in [0, 1) from the environment's generator; blocks make it four times cheaper."""
        if not self._block:
            self._block = self._backwards(_BLOCK)
        return self._block.pop()

    def _uniforms(self, count: int) -> list[float]:
        """Returns several, in order."""
        missing = count - len(self._block)
        if missing > 0:
            self._block = self._backwards(max(missing, _BLOCK)) + self._block
        taken = self._block[: -count - 1 : -1].tolist()
        del self._block[-count:]
        return taken

    def _backwards(self, count: int) -> array[float]:
        """Returns the generator's next numbers, the first one last, where ``pop`` takes it."""
        return array("d", self._rng.random(count)[::-1].tobytes())

    # Episodes and phases.

    def _start_episode(self, episode: int) -> None:
        self._phase, self._episode = _PLAY, episode
        self._score, self._length, self._invalid, self._in_a_row = 0.0, 0, 0, 0
        self._note, self._result = "", None
        self._kinds: dict[str, int] = {}
        self._begin(episode)
        self._told["episode"], self._told["seat"] = episode, self._seat
        self._playing = not self._view.terminal

    def _step_outside_play(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self._running:
            raise ResetNeeded("call env.reset() first: the meta-episode has not started, or is over")
        if self._phase == _REFLECT:
            self._start_episode(self._episode + 1)
        if self._playing:
            return self._returned(0.0, False)
        return self._end_episode(self._collect(), forfeit=False)  # The others ended it before the agent could act.

    def _end_episode(self, reward: float, *, forfeit: bool) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        outcome: Outcome = "loss" if forfeit else self._outcome()
        self._score += reward
        self._result = {
            "reward": self._score,
            "outcome": outcome,
            "length": self._length,
            "invalid": self._invalid,
            "refused": self._kinds,
            "forfeit": forfeit,
        }
        truncated = not forfeit and self._truncated()
        if truncated:
            self._result["truncated"] = True
        last = self._episode + 1 == self.episodes or (self._stop_on_success and outcome == "win")
        self._running, self._playing = not last, False
        if not last:
            self._phase = _REFLECT
        truncated = truncated and self.episodes == 1
        observation, reward, _, _, info = self._returned(reward, last)
        return observation, reward, last and not truncated, truncated, info

    # Actions.

    def _refuse(self, kind: ReplyKind) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._invalid += 1
        self._in_a_row += 1
        self._kinds[kind.value] = self._kinds.get(kind.value, 0) + 1
        self._note = not_played(kind, self._in_a_row, self._max_invalid, self._hint)
        self._refused = kind
        reward = 0.0 - self._penalty
        if self._in_a_row >= self._max_invalid:
            return self._end_episode(reward + self._forfeit(), forfeit=True)
        self._score += reward
        return self._returned(reward, False)

    # What the agent is told.

    def _returned(self, reward: float, terminated: bool) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Returns a step's five values. The info's mask is the observation's; all that can change is new each time."""
        view = self._view
        mask = view.mask.copy() if self._result is None else closed_mask(view, self._phase)
        info = self._told.copy()
        info["action_mask"] = mask
        info["view"] = view
        info["privileged"] = self._secret.copy()
        if self._result is None:
            info["legal_actions"] = view.names
        else:
            info["phase"], info["episode_result"] = self._phase, self._result | {"refused": self._kinds.copy()}
        if self._note:
            info["action_valid"], info["invalid_reason"] = False, self._refused.value
        if self._text:
            observation: Any = self._tell()
        else:
            observation = array_observation(view, mask, self._phase, self._episode, self._last_action, reward)
        if self.render_mode is not None:
            self._render_step()
        return observation, reward, terminated, False, info

    def _tell(self) -> str:
        place = header(self._episode, self.episodes, self._seat if self._others_play else None)
        return tell(place, self._view, self._note, self._result)

    def _render_step(self) -> None:
        if self.render_mode == "human":
            sys.stdout.write(self._tell() + "\n\n")
