"""Plays a vector environment of a world and single environments side by side, and compares all that they say."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

OUTCOMES = {"win": 1, "loss": -1}


class WorldTwins:
    """A vector environment, and single ones with the same seeds."""

    def __init__(self, env_id: str, count: int, mode: AutoresetMode, **arguments: Any) -> None:
        self.vector: Any = gym.make_vec(
            env_id, num_envs=count, vectorization_mode="vector_entry_point", autoreset_mode=mode, **arguments
        ).unwrapped
        self.singles = [gym.make(env_id, **arguments).unwrapped for _ in range(count)]
        self.mode, self.count = mode, count
        self.over = np.zeros(count, dtype=np.bool_)

    def play(
        self, steps: int, seed: int, illegal: float = 0.1, options: dict[str, Any] | None = None
    ) -> dict[str, int]:
        """Plays; returns how often what happened."""
        rng = np.random.default_rng(seed)
        observation, info = self.vector.reset(seed=seed, options=options)
        self.now = [env.reset(seed=seed + i, options=options) for i, env in enumerate(self.singles)]
        self._compare(observation, info)
        found = {"episodes": 0, "wins": 0, "forfeits": 0, "limits": 0, "over": 0}
        for _ in range(steps):
            if self.mode is AutoresetMode.DISABLED and self.over.any():
                for number in np.flatnonzero(self.over):
                    self.now[number] = self.singles[number].reset()
                self._compare(*self.vector.reset(options={"reset_mask": self.over.copy()}))
                self.over[:] = False
                continue
            actions = self.vector.sample_actions(rng)
            wild = rng.random(self.count) < illegal
            actions = np.where(wild, rng.integers(-3, 15, self.count), actions)
            observation, rewards, terminated, truncated, info = self.vector.step(actions)
            for number in range(self.count):
                self._step(number, int(actions[number]), rewards, terminated, truncated, info)
            self._compare(observation, info)
            for told in (info, info.get("final_info", {})):
                which = told.get("_episode_result", np.zeros(self.count, dtype=np.bool_))
                result = told.get("episode_result", {})
                found["episodes"] += int(which.sum())
                for name, key, value in (
                    ("wins", "outcome", 1),
                    ("forfeits", "forfeit", True),
                    ("limits", "truncated", True),
                ):
                    found[name] += int((result[key][which] == value).sum()) if result else 0
            found["over"] += int((terminated | truncated).sum())
        return found

    def _step(self, number: int, action: int, rewards: Any, terminated: Any, truncated: Any, info: Any) -> None:
        env = self.singles[number]
        if self.over[number] and self.mode is AutoresetMode.NEXT_STEP:
            self.now[number] = env.reset()
            assert (rewards[number], terminated[number], truncated[number]) == (0.0, False, False)
            assert not info["invalid"][number]
            self.over[number] = False
            return
        observation, reward, ends, cut, single = env.step(action)
        assert np.float64(reward).tobytes() == rewards[number].tobytes()
        assert (ends, cut) == (terminated[number], truncated[number])
        assert ("invalid_reason" in single) == info["invalid"][number]
        over, told = ends or cut, info
        if over and self.mode is AutoresetMode.SAME_STEP:
            assert info["_final_obs"][number]
            told = info["final_info"]
            _same(observation, info["final_obs"], number)
        self._compare_result(number, single.get("episode_result"), told)
        self.over[number], self.now[number] = over, (observation, single)
        if over and self.mode is AutoresetMode.SAME_STEP:
            self.now[number] = env.reset()
            self.over[number] = False

    def _compare_result(self, number: int, result: dict[str, Any] | None, told: dict[str, Any]) -> None:
        said = told.get("_episode_result", np.zeros(self.count))[number]
        assert said == (result is not None)
        if result is None:
            return
        expected = {"truncated": False, **result, "outcome": OUTCOMES[result["outcome"]]}
        del expected["refused"]
        assert {name: array[number] for name, array in told["episode_result"].items()} == expected

    def _compare(self, observation: dict[str, Any], info: dict[str, Any]) -> None:
        assert observation in self.vector.observation_space
        for number, (single, told) in enumerate(self.now):
            _same(single, observation, number)
            assert info["privileged"]["instance"][number] == told["privileged"]["instance"]
            assert info["privileged"]["seed"][number] == told["privileged"]["seed"]


def _same(single: dict[str, Any], batch: dict[str, Any], number: int) -> None:
    assert single.keys() == batch.keys()
    for name, value in single.items():
        found, expected = batch[name][number], np.asarray(value)
        assert found.dtype == expected.dtype, name
        assert found.tobytes() == expected.tobytes(), name
