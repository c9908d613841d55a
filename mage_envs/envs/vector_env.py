"""Thousands of meta-episodes in one step, as a Gymnasium vector environment: arrays in, arrays out.

Environment i, seeded with s, is decision for decision ``gym.make(...)`` after ``reset(seed=s)``: the same opponent,
seats, instances, observations and rewards, through any number of meta-episodes. See ``docs/vector.md``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mage_envs.envs.checks import check_choice, check_instances, check_int
from mage_envs.envs.game_env import SEAT_ORDERS, MetaGameEnv, refuse_unknown
from mage_envs.envs.vector_checks import (
    Seeds,
    check_actions,
    check_autoreset_mode,
    check_batchable,
    check_mask,
    fresh_seeds,
    spread_seeds,
)
from mage_envs.envs.vector_show import Flags, Infos, Observations, Room
from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.opponents.populations import PopulationLike
from mage_envs.tabular.backends import BACKENDS
from mage_envs.tabular.batch import Batch
from mage_envs.tabular.batch_arrays import ALTERNATE, RANDOM, Rules
from mage_envs.tabular.compiled import CompiledGame, compiled_game

MAX_ENVIRONMENTS = 10_000_000

_ROOMS = 4
"""Steps whose arrays are kept to be used again: what a loop holds on to while it steps."""

_ORDERS = dict(zip(SEAT_ORDERS, (ALTERNATE, RANDOM), strict=True))


class MetaGameVectorEnv(VectorEnv[Observations, Any, npt.NDArray[Any]]):
    """Many :class:`~mage_envs.envs.game_env.MetaGameEnv` of one small game, whose opponents are tables.

    Args:
        num_envs: How many.
        game: See ``MetaGameEnv``; this and the next eight arguments mean the same there.
        episodes: See there.
        population: See there. Opponents that remember or search at random are refused.
        instance: See there.
        seat: See there.
        interface: ``"array"`` only.
        stop_on_success: See there.
        invalid_penalty: See there.
        max_invalid: See there.
        render_mode: None only.
        autoreset_mode: Gymnasium's: what happens when a meta-episode is over.
        copy: Whether every step returns arrays that nobody else holds. False: the same each time, which the next step
            writes over.
        backend: ``"numba"``, ``"numpy"``, or ``"auto"``: numba if it is installed. Both give the same.

    Attributes:
        compiled: The game as arrays; ``compiled.text(infos["view"][i])`` is what environment i shows, in words.
        opponents: Specs of those that may come; ``infos["privileged"]["opponent"]`` counts in this list.
        population: The population that they are drawn from.
        episodes: N.

    Infos hold arrays only: ``action_mask``, ``seat`` and ``phase`` as observed, ``view``, ``invalid`` (whether this
    step's action could not be played), ``privileged`` with ``opponent``, ``instance`` and ``seed`` (−1 unless the
    meta-episode began with a seed), and if an episode ended ``episode_result`` with ``reward``, ``outcome`` (1, 0, −1),
    ``length``, ``invalid`` (all of them illegal: there are no replies), ``forfeit``, valid where ``_episode_result``.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 -- as VectorEnv declares it
    option_names: ClassVar[tuple[str, ...]] = (*MetaGameEnv.option_names, "reset_mask")

    def __init__(
        self,
        num_envs: int = 1,
        game: str = "",
        *,
        episodes: int = 3,
        population: PopulationLike | None = None,
        instance: str = "fresh",
        seat: int | str = "alternate",
        interface: str = "array",
        stop_on_success: bool = False,
        invalid_penalty: float = 0.0,
        max_invalid: int = 3,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        backend: str = "auto",
        **unknown: object,
    ) -> None:
        """Makes the environments; see the class for the arguments.

        Raises:
            ValueError: An unknown name or parameter (near matches are listed), or a value out of range.
            UnsupportedGameError: The game is too large, or an opponent has no table.
        """
        refuse_unknown(unknown, type(self))
        self.num_envs = check_int("num_envs", num_envs, 1, MAX_ENVIRONMENTS)
        check_choice("copy", copy, (True, False))
        check_choice("backend", backend, BACKENDS)
        check_batchable(interface, render_mode)
        self._autoreset = check_autoreset_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self._autoreset}
        # A single environment checks what both have in common, now and whenever options are given.
        self._single = MetaGameEnv(
            game,
            episodes=episodes,
            population=population,
            instance=instance,
            seat=seat,
            stop_on_success=stop_on_success,
            invalid_penalty=invalid_penalty,
            max_invalid=max_invalid,
        )
        self.game_spec, self.population = self._single.game_spec, self._single.population
        self.episodes = self._single.episodes
        self.single_observation_space = self._single.observation_space
        self.single_action_space = self._single.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.compiled = _compiled(self.game_spec)
        rules = Rules(
            episodes=self.episodes,
            seats=self.game_spec.seats,
            replay=instance == "replay",
            stop_on_success=stop_on_success,
            order=_order(seat),
            penalty=float(invalid_penalty),
            max_invalid=int(max_invalid),
            worst=self.game_spec.worst_return,
        )
        self._batch = Batch(self.compiled, self.population, rules, self.num_envs, backend)
        self._copy, self._running = copy, False
        self._rooms: list[Room] = []

    @property
    def opponents(self) -> tuple[str, ...]:
        """Specs of the opponents that may come, and after them those that reset options have named."""
        return self._batch.opponents

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Observations, Infos]:
        """Starts meta-episodes.

        Args:
            seed: None goes on with the present generators, which the first time are made from the system's entropy.
                An integer s seeds the environments with s, s + 1, ...; a list or array has one seed, or None, for each.
            options: ``"reset_mask"``: which environments, bool, shape ``(num_envs,)``. ``"opponent"``, ``"seat"`` and
                ``"instance"`` fix for all of these what would be drawn, as in ``MetaGameEnv``.

        Returns:
            Observations and infos of all environments, those that go on included.

        Raises:
            ValueError: An unknown option, or a value out of range.
            ResetNeeded: The mask leaves out environments that have not started.
        """
        self._check_open()
        seeds = spread_seeds(seed, self.num_envs)
        fixed = dict(options or {})
        mask = check_mask(fixed.pop("reset_mask"), self.num_envs) if "reset_mask" in fixed else None
        if mask is not None and not self._running:
            raise ResetNeeded("call env.reset() without a 'reset_mask' first: no meta-episode has started")
        everyone = np.arange(self.num_envs)
        rows = everyone if mask is None else np.flatnonzero(mask)
        self._draw(rows, seeds[rows], fixed)
        room = self._room()
        self._batch.begin(rows, room.shown)
        if mask is not None:
            self._batch.show(everyone, room.shown)
        room.shown.refused[:] = False
        room.look_again(everyone)
        self._running = True
        return room.observations(), room.infos(room.shown.refused)

    def step(self, actions: npt.ArrayLike) -> tuple[Observations, npt.NDArray[np.float64], Flags, Flags, Infos]:
        """Plays one decision of every environment, leaves phase ``reflect``, or starts the next meta-episode.

        Args:
            actions: Integers, shape ``(num_envs,)``. Any integer that is not legal is counted, and asked again; in
                phase ``reflect``, and where a meta-episode is over, all are the same.

        Returns:
            Observations, rewards, terminations, truncations (all False), infos.

        Raises:
            ResetNeeded: Nothing has started; or something is over and the autoreset mode is ``DISABLED``.
            ValueError: Actions of another shape, or no integers.
        """
        self._check_started()
        self._check_autoreset()
        chosen = check_actions(actions, self.num_envs)
        room = self._room()
        room.truncated[:] = False
        shown = room.shown
        self._batch.step(chosen, room.shares, room.look)
        seen, told = room.observations(), room.infos(shown.refused)
        if shown.ended.any():
            if self._autoreset is AutoresetMode.SAME_STEP and shown.terminated.any():
                seen, told = self._restart(room, told)
            else:
                told |= room.results()
        return seen, shown.reward, shown.terminated, room.truncated, told

    def sample_actions(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Returns a random legal action for every environment; any action where none is asked for.

        Args:
            rng: Gives one number, of which all choices are made.
        """
        self._check_started()
        return self._batch.sample(int(rng.integers(2**63)))

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed of each environment's generator, −1 before the first reset."""
        return tuple(self._batch.seeds.tolist())

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """Copies of the environments' generators as they are now; drawing from them changes no environment."""
        return self._batch.generators()

    # Meta-episodes.

    def _draw(self, rows: npt.NDArray[Any], seeds: npt.NDArray[np.int64], fixed: dict[str, Any]) -> None:
        """Draws new meta-episodes, and puts in what options fix: fixing one changes no other draw."""
        batch = self._batch
        told = self._single.reset(seed=0, options=fixed)[1] if fixed else {}
        opponent = told["privileged"]["opponent"] if "opponent" in fixed else None
        instances = None
        if "instance" in fixed:
            instances = check_instances(fixed["instance"], self.episodes, replay=batch.rules.replay)
        if opponent is not None:
            batch.admit(opponent)
        begun = np.where((seeds < 0) & (batch.seeds[rows] < 0), fresh_seeds(len(rows)), seeds)
        batch.seed(rows[begun >= 0], begun[begun >= 0])
        batch.draw(rows, _order(fixed["seat"]) if "seat" in fixed else None)
        batch.fix(rows, seeds, opponent, instances)

    def _restart(self, room: Room, told: Infos) -> tuple[Observations, Infos]:
        """Starts the next meta-episode where one is over, and puts what was shown at its end under ``final_...``."""
        ended, over = room.shown.ended, room.shown.terminated.copy()
        final = {"final_obs": room.observations(), "_final_obs": over, "_final_info": over}
        final["final_info"] = told | room.results(over)
        again = self._room(room)
        again.go_on_from(room)
        rows = np.flatnonzero(over)
        self._batch.draw(rows)
        self._batch.begin(rows, again.shown)
        again.look_again(rows)
        goes_on = ended & ~over
        found = again.infos(room.shown.refused) | final
        return again.observations(), found | room.results(goes_on) if goes_on.any() else found

    def _room(self, taken: Room | None = None) -> Room:
        """Returns arrays to write to: with ``copy`` such as nobody else holds, else always the first not taken.

        New arrays for every step cost more than the step: the system clears their memory.
        """
        rooms = (room for room in self._rooms if room is not taken and (not self._copy or room.is_free()))
        room = next(rooms, None)
        if room is None:
            room = Room(self._batch)
            self._rooms = [room, *self._rooms[: _ROOMS - 1]] if self._copy else [*self._rooms, room]
        return room

    # Checks.

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("the environments are closed: make new ones")

    def _check_started(self) -> None:
        self._check_open()
        if not self._running:
            raise ResetNeeded("call env.reset() first: no meta-episode has started")

    def _check_autoreset(self) -> None:
        if self._autoreset is AutoresetMode.DISABLED and self._batch.over.any():
            raise ResetNeeded(
                "meta-episodes are over and autoreset_mode is DISABLED: call env.reset(options={'reset_mask': over}), "
                "where over is an array of bools"
            )


class GameVectorEnv(MetaGameVectorEnv):
    """Many single episodes of a small game. See :class:`MetaGameVectorEnv` for the arguments.

    ``episodes``, ``instance`` and ``stop_on_success`` belong to the meta-episode and are refused here.
    """

    def __init__(
        self,
        num_envs: int = 1,
        game: str = "",
        *,
        population: PopulationLike | None = None,
        seat: int | str = "alternate",
        interface: str = "array",
        invalid_penalty: float = 0.0,
        max_invalid: int = 3,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        backend: str = "auto",
        **unknown: object,
    ) -> None:
        """Makes the environments; see :class:`MetaGameVectorEnv` for the arguments and errors."""
        refuse_unknown(unknown, type(self))
        super().__init__(
            num_envs,
            game,
            episodes=1,
            population=population,
            seat=seat,
            interface=interface,
            invalid_penalty=invalid_penalty,
            max_invalid=max_invalid,
            render_mode=render_mode,
            autoreset_mode=autoreset_mode,
            copy=copy,
            backend=backend,
        )


def _order(seat: int | str) -> int:
    return _ORDERS[seat] if isinstance(seat, str) else int(seat)


def _compiled(spec: GameSpec) -> CompiledGame:
    try:
        return compiled_game(spec)
    except UnsupportedGameError as error:
        raise UnsupportedGameError(f"{error}, or use vectorization_mode='sync'") from error
