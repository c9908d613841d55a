"""Thousands of meta-episodes of a world in one step, as a Gymnasium vector environment: arrays in, arrays out.

Environment i, seeded with s, is step for step ``gym.make(...)`` after ``reset(seed=s)``: the same instances,
observations, rewards and ends, through any number of meta-episodes. What a move does is the world's own batch; what
an episode, a refused action or a turn limit is stands here, with arrays, as it stands in ``meta_episode`` and
``world_env``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mage_envs.envs.checks import check_int
from mage_envs.envs.vector_checks import (
    Seeds,
    check_actions,
    check_autoreset_mode,
    check_batchable,
    check_mask,
    fresh_seeds,
    spread_seeds,
)
from mage_envs.envs.world_env import MetaWorldEnv, WorldEnv
from mage_envs.errors import UnsupportedGameError
from mage_envs.tabular import streams

MAX_ENVIRONMENTS = 10_000_000

Flags: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]
Infos: TypeAlias = dict[str, Any]

_KEPT = 4
"""Arrays that are kept to be used again: what a loop holds on to while it steps."""

_UNHELD = 2  # References to an array that only a list holds, that of the call that counts included.
_PLAY, _REFLECT, _OVER = range(3)


class MetaWorldVectorEnv(VectorEnv[dict[str, Any], Any, npt.NDArray[Any]]):
    """Many :class:`~mage_envs.envs.world_env.MetaWorldEnv` of one world.

    Args:
        num_envs: How many.
        world: See ``MetaWorldEnv``.
        interface: ``"array"`` only.
        render_mode: None only.
        autoreset_mode: Gymnasium's: what happens when a meta-episode is over.
        copy: Whether every step returns arrays of its own. False: the same each time, which the next step writes over.
        **arguments: As ``MetaWorldEnv`` takes them.

    Attributes:
        world: The world.
        episodes: N.

    Infos hold arrays only: ``phase``, ``invalid`` (whether this step's action could not be played), ``privileged`` with
    ``instance`` and ``seed`` (−1 unless the meta-episode began with a seed), and if an episode ended
    ``episode_result`` with ``reward``, ``outcome`` (1 or −1), ``length``, ``invalid``, ``forfeit``, ``truncated``,
    valid where ``_episode_result``.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 -- as VectorEnv declares it
    _single_class: ClassVar[type[MetaWorldEnv]] = MetaWorldEnv

    def __init__(
        self,
        num_envs: int = 1,
        world: str = "",
        *,
        interface: str = "array",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        **arguments: Any,
    ) -> None:
        """Makes the environments; see the class for the arguments.

        Raises:
            ValueError: An unknown name or parameter (near matches are listed), or a value out of range.
            UnsupportedGameError: The world has no batch.
        """
        check_batchable(interface, render_mode)
        self.num_envs = check_int("num_envs", num_envs, 1, MAX_ENVIRONMENTS)
        self._autoreset = check_autoreset_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self._autoreset}
        # A single environment checks what both have in common.
        self._single = self._single_class(world, interface="array", **arguments)
        self.world, self.episodes = self._single.world, self._single.episodes
        if not self.world.batched:
            raise UnsupportedGameError(f"{self.world.title} has no batch: use vectorization_mode='sync'")
        self.single_observation_space = self._single.observation_space
        self.single_action_space = self._single.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._batch = self.world.batch(self.num_envs)
        self._copy, self._started = bool(copy), False
        self._make_arrays()

    def _make_arrays(self) -> None:
        count = self.num_envs
        self._status = np.zeros(count, dtype=np.int64)
        self._episode = np.zeros(count, dtype=np.int64)
        self._length, self._invalid = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self._in_a_row, self._last_action = np.zeros(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
        self._score, self._paid = np.zeros(count), np.zeros(count)
        self._reward = np.zeros(count)
        self._instances = np.zeros((count, self.episodes), dtype=np.int64)
        self._instance, self._everyone = np.zeros(count, dtype=np.int64), np.arange(count)
        self._free: list[npt.NDArray[Any]] = []
        self._streams = np.zeros((4, count), dtype=np.uint64)
        self._seeded = np.zeros(count, dtype=np.bool_)
        self._seeds = np.full(count, -1, dtype=np.int64)

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], Infos]:
        """Starts meta-episodes.

        Args:
            seed: None goes on with the present generators, which the first time are made from the system's entropy.
                An integer s seeds the environments with s, s + 1, ...; a list or array has one seed, or None, for each.
            options: ``"reset_mask"``: which environments, bool, shape ``(num_envs,)``. ``"instance"``: one number, or
                unless it is replayed one for each episode.

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
        if mask is not None and not self._started:
            raise ResetNeeded("call env.reset() without a 'reset_mask' first: no meta-episode has started")
        rows = self._everyone if mask is None else np.flatnonzero(mask)
        instances = self._fixed_instances(fixed) if fixed else None
        self._seed(rows, seeds[rows])
        self._draw(rows)
        self._seeds[rows] = seeds[rows]
        if instances is not None:
            self._instances[rows] = instances
        self._begin(rows)
        self._started = True
        self._reward[rows] = 0.0
        return self._observations(), self._infos(np.zeros(self.num_envs, dtype=np.bool_))

    def step(self, actions: npt.ArrayLike) -> tuple[dict[str, Any], npt.NDArray[np.float64], Flags, Flags, Infos]:
        """Plays one move of every environment, leaves phase ``reflect``, or starts the next meta-episode.

        Args:
            actions: Integers, shape ``(num_envs,)``. Any integer that is no legal action is counted, and asked again;
                in phase ``reflect``, and where a meta-episode is over, all are the same.

        Returns:
            Observations, rewards, terminations, truncations, infos.

        Raises:
            ResetNeeded: Nothing has started; or something is over and the autoreset mode is ``DISABLED``.
            ValueError: Actions of another shape, or no integers.
        """
        self._check_started()
        chosen = check_actions(actions, self.num_envs)
        if self._autoreset is AutoresetMode.DISABLED and (self._status == _OVER).any():
            raise ResetNeeded(
                "meta-episodes are over and autoreset_mode is DISABLED: call env.reset(options={'reset_mask': over}), "
                "where over is an array of bools"
            )
        status = self._status.copy()
        self._reward = np.zeros(self.num_envs)
        self._restart(np.flatnonzero(status == _OVER))
        self._next_episode(np.flatnonzero(status == _REFLECT))
        refused = (status == _PLAY) & ~self._is_legal(chosen)
        forfeit = self._refuse(refused)
        outcome = self._play(np.flatnonzero((status == _PLAY) & ~refused), chosen)
        limit = (status == _PLAY) & ~refused & (outcome == 0) & (self._length >= self._single.turns)
        outcome[forfeit | limit] = -1
        ended = outcome != 0
        over = ended & ((self._episode + 1 == self.episodes) | (self._single.stops_on_success & (outcome == 1)))
        self._status[ended] = np.where(over[ended], _OVER, _REFLECT)
        truncated = over & limit & (self.episodes == 1)
        told = self._infos(refused)
        results = self._results(outcome, forfeit, limit)
        rewards, seen = self._reward, self._observations()
        if self._autoreset is AutoresetMode.SAME_STEP and over.any():
            final = {"final_obs": seen, "_final_obs": over, "final_info": told | results(over), "_final_info": over}
            self._reward = np.where(over, 0.0, rewards)
            self._restart(np.flatnonzero(over))
            seen, told, ended = self._observations(), self._infos(refused) | final, ended & ~over
        return seen, rewards, over & ~truncated, truncated, told | results(ended)

    def sample_actions(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Returns a random legal action for every environment; any action where none is asked for."""
        self._check_started()
        chances = self._mask() * rng.random((self.num_envs, self.world.actions))
        chosen: npt.NDArray[np.int64] = chances.argmax(axis=1)
        return chosen

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed with which each meta-episode began, −1 if it had none."""
        return tuple(self._seeds.tolist())

    # Meta-episodes.

    def _seed(self, rows: Rows, seeds: Rows) -> None:
        """Seeds generators: those that are given a seed, and those that never had one from the system's entropy."""
        given = np.where((seeds < 0) & ~self._seeded[rows], fresh_seeds(len(rows)), seeds)
        new = given >= 0
        if new.any():
            self._streams[:, rows[new]] = streams.seeded(given[new])
            self._seeded[rows[new]] = True

    def _draw(self, rows: Rows) -> None:
        """Draws instances: one number an episode, whether or not it is used."""
        self._seeds[rows] = -1
        for episode in range(self.episodes):
            numbers = streams.draw(self._streams, rows)
            if episode == 0 or self._single.instance == "fresh":
                drawn = np.array([self.world.draw(u) for u in numbers.tolist()], dtype=np.int64)
            self._instances[rows, episode] = drawn

    def _fixed_instances(self, fixed: dict[str, Any]) -> npt.NDArray[np.int64]:
        """Returns the instances that options name; the single environment checks them."""
        self._single.reset(seed=0, options=fixed)
        found = np.array(self._single.instances)
        if found.dtype.kind != "i":
            raise ValueError(f"a batch takes numbers as instances, got {fixed['instance']!r}")
        return found

    def _restart(self, rows: Rows) -> None:
        if len(rows):
            self._draw(rows)
            self._begin(rows)

    def _begin(self, rows: Rows) -> None:
        """Begins the first episode of meta-episodes."""
        self._episode[rows], self._last_action[rows] = 0, -1
        self._start(rows)

    def _next_episode(self, rows: Rows) -> None:
        if len(rows):
            self._episode[rows] += 1
            self._start(rows)

    def _start(self, rows: Rows) -> None:
        for numbers in (self._length, self._invalid, self._in_a_row, self._score, self._paid):
            numbers[rows] = 0
        self._status[rows] = _PLAY
        self._instance[rows] = self._instances[rows, self._episode[rows]]
        self._batch.start(rows, self._instance[rows])

    # Actions.

    def _is_legal(self, actions: npt.NDArray[np.int64]) -> Flags:
        known = (actions >= 0) & (actions < self.world.actions)
        mask = self._batch.mask[self._everyone, np.where(known, actions, 0)]
        legal: Flags = known & (mask == 1)
        return legal

    def _refuse(self, refused: Flags) -> Flags:
        """Counts what cannot be played. Returns who loses the episode by it."""
        if not refused.any():
            return refused
        self._invalid[refused] += 1
        self._in_a_row[refused] += 1
        self._reward[refused] = 0.0 - self._single.invalid_penalty
        forfeit = refused & (self._in_a_row >= self._single.max_invalid)
        self._reward[forfeit] += self._single.forfeit_score - self._paid[forfeit]
        self._score[refused] += self._reward[refused]
        return forfeit

    def _play(self, rows: Rows, actions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Plays legal actions. Returns how the rules ended each environment's episode: 1, −1, or 0 if they did not."""
        outcome = np.zeros(self.num_envs, dtype=np.int64)
        rewards, outcome[rows] = self._batch.step(rows, actions[rows])
        self._in_a_row[rows] = 0
        self._length[rows] += 1
        self._last_action[rows] = actions[rows]
        self._paid[rows] += rewards
        self._score[rows] += rewards
        self._reward[rows] = rewards
        return outcome

    # What is shown.

    def _mask(self) -> npt.NDArray[np.int8]:
        """Returns the masks, new: every action between episodes, none after the last."""
        mask = self._batch.mask.copy()
        mask[self._status == _REFLECT] = 1
        mask[self._status == _OVER] = 0
        return mask

    def _observations(self) -> dict[str, Any]:
        return {
            "observation": self._copied() if self._copy else self._batch.observations,
            "action_mask": self._mask(),
            "phase": (self._status == _REFLECT).astype(np.int64),
            "episode": self._episode.copy(),
            "seat": np.zeros(self.num_envs, dtype=np.int64),
            "last_action": self._last_action.copy(),
            "last_reward": self._reward.astype(np.float32)[:, None],
        }

    def _copied(self) -> npt.NDArray[Any]:
        """Returns a copy of what is shown, in an array that nobody holds any more, if there is one.

        A new array for every step costs more than the step: the system clears its memory.
        """
        for number in range(len(self._free)):
            if sys.getrefcount(self._free[number]) == _UNHELD:
                np.copyto(self._free[number], self._batch.observations)
                return self._free[number]
        self._free = [self._batch.observations.copy(), *self._free[: _KEPT - 1]]
        return self._free[0]

    def _infos(self, refused: Flags) -> Infos:
        return {
            "phase": (self._status == _REFLECT).astype(np.int64),
            "invalid": refused,
            "privileged": {"instance": self._instance.copy(), "seed": self._seeds.copy()},
        }

    def _results(self, outcome: npt.NDArray[np.int64], forfeit: Flags, limit: Flags) -> Callable[[Flags], Infos]:
        """Returns what tells the results of those episodes of this step that one asks for."""
        result = {
            "reward": self._score.copy(),
            "outcome": outcome,
            "length": self._length.copy(),
            "invalid": self._invalid.copy(),
            "forfeit": forfeit,
            "truncated": limit,
        }
        return lambda which: {"episode_result": result, "_episode_result": which} if which.any() else {}

    # Checks.

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("the environments are closed: make new ones")

    def _check_started(self) -> None:
        self._check_open()
        if not self._started:
            raise ResetNeeded("call env.reset() first: no meta-episode has started")


class WorldVectorEnv(MetaWorldVectorEnv):
    """Many single episodes of a world. See :class:`MetaWorldVectorEnv` for the arguments.

    ``episodes``, ``instance`` and ``stop_on_success`` belong to the meta-episode and are refused here.
    """

    _single_class: ClassVar[type[MetaWorldEnv]] = WorldEnv
