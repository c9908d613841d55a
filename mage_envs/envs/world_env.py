"""Worlds as Gymnasium environments: one agent on one hidden task, or on a new one in each episode."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar, get_args

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from mage_envs.envs.actions import read_command
from mage_envs.envs.checks import check_choice, check_int
from mage_envs.envs.meta_episode import Instance, MetaEpisodeEnv
from mage_envs.envs.spaces import text_space, world_array_space
from mage_envs.errors import SpecError
from mage_envs.games.base import Outcome
from mage_envs.spec_strings import Spec, parse_spec
from mage_envs.text.messages import world_rules
from mage_envs.text.parser import ReplyKind
from mage_envs.worlds import Command, InstanceId, State, World, WorldView, load_world

MAX_TURNS = 1_000_000

_OF_THE_SERIES = ("episodes", "instance", "stop_on_success")


class MetaWorldEnv(MetaEpisodeEnv):
    """N episodes of a world in a row.

    Args:
        world: Name of a world with parameters: ``"sokoban"``, ``"sokoban(boxes=3)"``.
        episodes: N, in 1..100000.
        instance: ``"replay"`` repeats the instance in every episode; ``"fresh"`` draws a new one for each.
        turns: Limit of an episode. In ``text`` a turn is one answer, in ``array`` one action. None: the world's own.
        interface: ``"array"`` or ``"text"``. None: ``"array"`` if the world has arrays.
        stop_on_success: Whether the first win ends the meta-episode.
        invalid_penalty: What an answer that cannot be played costs, in reward; at least 0.
        max_invalid: So many such answers in a row lose the episode.
        render_mode: ``"ansi"``, ``"human"``, ``"rgb_array"`` (in worlds that draw pictures) or None.
        **parameters: Parameters of the world, by name, such as ``boxes=3``.

    Observation (``array``): a dict of ``observation`` (the world's array), ``action_mask`` (int8, shape (actions,)),
    ``phase`` (0 play, 1 reflect), ``episode`` (0-based), ``seat`` (always 0), ``last_action`` (the last played action,
    −1 before the first), ``last_reward`` (float32, shape (1,)). Observation (``text``): the view in words.

    Action: an action id (``array``) or a reply (``text``), such as ``"<action>up, left</action>"``.

    Reward: what the world says; its ``unit`` names it.

    Reset options: ``instance``: one id, or unless it is replayed a list of N ids. Same seed, same draws: one uniform
    number an episode, in order, all of them at the reset.

    Info: as for games, without an opponent; ``privileged`` also has ``known``: pairs of what is proven of
    the instance. A world may add what is public of a step.

    ``terminated`` says that the rules ended the last episode, ``truncated`` that the turn limit ended the only one
    (``episodes=1``). Where N is above 1, ``episode_result["truncated"]`` says it, and the meta-episode always ends with
    ``terminated``. An episode that the limit ends is a loss.

    Attributes:
        world: The world.
        instance: ``"fresh"`` or ``"replay"``.
        turns: Limit of an episode.
    """

    __slots__ = ("_first", "_instances", "_news", "_paid", "_replay", "_spaces", "_state", "_turn")

    metadata = {**MetaEpisodeEnv.metadata, "render_modes": ["ansi", "human", "rgb_array"]}  # noqa: RUF012
    option_names: ClassVar[tuple[str, ...]] = ("instance",)
    _others_play: ClassVar[bool] = False
    _view: WorldView
    _news: Mapping[str, Any] | None

    def __init__(
        self,
        world: str = "",
        *,
        episodes: int = 3,
        instance: str = "replay",
        turns: int | None = None,
        interface: str | None = None,
        stop_on_success: bool = False,
        invalid_penalty: float = 0.0,
        max_invalid: int = 3,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        """Makes the environment; see the class for the arguments.

        Raises:
            ValueError: An unknown name or parameter (near matches are listed), or a value out of range.
        """
        spec = parse_spec(world)
        more = tuple((name, _plain(name, value)) for name, value in parameters.items())
        self.world: World = load_world(Spec(spec.name, spec.args, (*spec.kwargs, *more)))
        if not self.world.pictures:
            self.metadata = MetaEpisodeEnv.metadata
        interface = self.world.interfaces[0] if interface is None else interface
        super().__init__(
            interface=interface,
            episodes=episodes,
            stop_on_success=stop_on_success,
            invalid_penalty=invalid_penalty,
            max_invalid=max_invalid,
            render_mode=render_mode,
        )
        check_choice("interface", interface, self.world.interfaces)
        check_choice("instance", instance, get_args(Instance))
        self._replay = instance == "replay"
        self.instance: Instance = "replay" if self._replay else "fresh"
        own = self.world.turns * (1 if self._text else self.world.moves_per_turn)
        self.turns = own if turns is None else check_int("turns", turns, 1, MAX_TURNS)
        self._hint = self.world.hint
        self._told["rules"] = world_rules(
            self.world.rules, self.turns, self.episodes, instance, stop_on_success=stop_on_success
        )
        self._first: tuple[InstanceId, State] | None = None
        self._spaces: tuple[spaces.Space[Any] | None, spaces.Space[Any] | None] = None, None

    # Spaces are made when they are asked for: of thousands of environments few are asked. None is shared, because each
    # has a generator of its own.

    @property
    def observation_space(self) -> spaces.Space[Any]:
        """The space of observations."""
        found, other = self._spaces
        if found is None:
            found = text_space() if self._text else world_array_space(self.world, self.episodes)
            self._spaces = found, other
        return found

    @observation_space.setter
    def observation_space(self, space: spaces.Space[Any]) -> None:
        self._spaces = space, self._spaces[1]

    @property
    def action_space(self) -> spaces.Space[Any]:
        """The space of actions."""
        other, found = self._spaces
        if found is None:
            found = text_space() if self._text else spaces.Discrete(self.world.actions)
            self._spaces = other, found
        return found

    @action_space.setter
    def action_space(self, space: spaces.Space[Any]) -> None:
        self._spaces = self._spaces[0], space

    @property
    def instances(self) -> tuple[InstanceId, ...]:
        """The instance of each episode of this meta-episode: privileged, as in info."""
        return tuple(self._instances)

    @property
    def max_invalid(self) -> int:
        """So many answers in a row that cannot be played lose the episode."""
        return self._max_invalid

    @property
    def invalid_penalty(self) -> float:
        """What each of them costs."""
        return self._penalty

    @property
    def forfeit_score(self) -> float:
        """The score of a forfeited episode: as if it had been played as badly as can be, to the last turn."""
        moves = self.turns * (self.world.moves_per_turn if self._text else 1)
        return self.world.worst_score + self.world.worst_move * moves

    @property
    def stops_on_success(self) -> bool:
        """Whether the first win ends the meta-episode."""
        return self._stop_on_success

    # Draws.

    def _draw(self, options: Mapping[str, Any]) -> None:
        """Draws the instances; fixing them leaves the generator where it would be."""
        draws = self._uniforms(self.episodes)
        if "instance" in options:
            self._instances = self._check_instances(options["instance"])
        elif self._replay:
            self._instances = [self.world.draw(draws[0])] * self.episodes
        else:
            self._instances = [self.world.draw(u) for u in draws]

    def _check_instances(self, given: Any) -> list[InstanceId]:
        plain = given.tolist() if isinstance(given, np.ndarray) else given
        ids = list(plain) if isinstance(plain, list | tuple) else [plain]
        if len(ids) not in (1, 1 if self._replay else self.episodes):
            count = "" if self._replay else f" or {self.episodes} ids"
            raise ValueError(f"option 'instance' must be one id{count}, got {len(ids)}")
        checked = [self.world.check_instance(value) for value in ids]
        return checked * self.episodes if len(checked) == 1 else checked

    # Play.

    def _begin(self, episode: int) -> None:
        instance = self._secret["instance"] = self._instances[episode]
        if self._first is None or self._first[0] != instance:
            self._first = instance, self.world.start(instance)
            self._secret["known"] = tuple(self.world.known(self._first[1]).items())
        self._turn, self._paid, self._news = 0, 0.0, None
        self._see(self._first[1])

    def _see(self, state: State) -> None:
        self._state = state
        self._view = WorldView(self.world, state, self._turn, self.turns)

    def _read(self, action: Any) -> tuple[ReplyKind, Command | None]:
        self._news = None
        return read_command(self._view, action, text=self._text)

    def _play(self, move: Command) -> float:
        state, reward, self._news = self.world.step(self._state, move)
        self._last_action = move if isinstance(move, int) else -1
        self._turn += 1
        self._paid += reward
        self._see(state)
        return reward

    def _returned(self, reward: float, terminated: bool) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        returned = super()._returned(reward, terminated)
        if self._news:
            returned[4].update(self._news)
        return returned

    def _collect(self) -> float:
        return 0.0

    def _forfeit(self) -> float:
        return self.forfeit_score - self._paid

    def _outcome(self) -> Outcome:
        return self.world.outcome(self._state) or "loss"

    def _truncated(self) -> bool:
        return self._view.truncated

    def render(self) -> Any:
        """Returns a picture (mode ``rgb_array``, uint8, shape (height, width, 3)), or as for every environment.

        Raises:
            ResetNeeded: There is nothing to see before the first reset.
        """
        if self.render_mode != "rgb_array":
            return super().render()
        if self._episode < 0:
            raise ResetNeeded("call env.reset() first: there is nothing to render yet")
        picture: npt.NDArray[np.uint8] = self._view.picture()
        return picture


class WorldEnv(MetaWorldEnv):
    """One episode of a world. See :class:`MetaWorldEnv` for the arguments.

    ``episodes``, ``instance`` and ``stop_on_success`` belong to the meta-episode and are refused here.
    """

    __slots__ = ()

    def __init__(self, world: str = "", **arguments: Any) -> None:
        """Makes the environment; see :class:`MetaWorldEnv` for the arguments and errors.

        Raises:
            ValueError: An argument that belongs to the meta-episode, or as there.
        """
        for name in _OF_THE_SERIES:
            if name in arguments:
                raise ValueError(f"{name!r} belongs to the meta-episode: use the id with '-meta-' in it")
        super().__init__(world, episodes=1, **arguments)


def _plain(name: str, value: Any) -> Any:
    """Returns a parameter as a spec holds it; a path as text."""
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(plain, bool | int | float | str | np.integer | np.floating | Spec):
        raise SpecError(f"{name}={value!r} cannot stand in a spec: give a number, true or false, or text")
    return plain
