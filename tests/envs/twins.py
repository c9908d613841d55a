"""Plays a vector environment and single environments side by side, and compares all that they say."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from tests.conformance.cases import Case

OUTCOMES = {"win": 1, "draw": 0, "loss": -1}

POPULATIONS = {
    "KuhnPoker": {"random": 1, "first_legal": 1, "conservative": 2, "aggressive": 1, "intermediate": 0.3, "cfr": 1},
    "LeducPoker": {"random": 1, "constant(action=call)": 1, "cfr(iterations=10)": 2},
    "TicTacToe": {"random": 1, "first_legal": 2, "pattern(order=corners)": 1},
}
ANY_GAME = {"random": 1, "first_legal": 1}


def make_vector(case: Case, count: int, **kwargs: Any) -> Any:
    return gym.make_vec(
        case.id, num_envs=count, vectorization_mode="vector_entry_point", **{**case.kwargs, **kwargs}
    ).unwrapped


class Twins:
    """A vector environment, and single ones with the same seeds."""

    def __init__(self, case: Case, count: int, mode: AutoresetMode, backend: str, **kwargs: Any) -> None:
        arguments = {"population": POPULATIONS.get(case.id.split("/")[1].split("-")[0], ANY_GAME), **kwargs}
        self.vector = make_vector(case, count, autoreset_mode=mode, backend=backend, **arguments)
        self.singles = [case.make(**arguments) for _ in range(count)]
        self.mode, self.count = mode, count
        self.over = np.zeros(count, np.bool_)

    def play(self, steps: int, seed: int, illegal: float = 0.25) -> dict[str, int]:
        """Plays; returns how often what happened."""
        rng = np.random.default_rng(seed)
        observation, info = self.vector.reset(seed=seed)
        self.now = [env.reset(seed=seed + number) for number, env in enumerate(self.singles)]
        self._compare(observation, info)
        found = {"episodes": 0, "meta-episodes": 0, "forfeits": 0, "refused": 0}
        for _ in range(steps):
            if self.mode is AutoresetMode.DISABLED and self.over.any():
                self._compare(*self._reset_what_is_over())
                continue
            actions = self.vector.sample_actions(rng)
            self._check_sampled(actions)
            wild = rng.random(self.count) < illegal
            actions = np.where(wild, rng.integers(-3, 15, self.count), actions)
            observation, rewards, terminated, truncated, info = self.vector.step(actions)
            assert not truncated.any()
            for number in range(self.count):
                self._step_one(number, int(actions[number]), rewards, terminated, info)
            self._compare(observation, info)
            results = [info, info.get("final_info", {})]
            found["episodes"] += sum(int(each["_episode_result"].sum()) for each in results if "episode_result" in each)
            found["forfeits"] += sum(
                int(each["episode_result"]["forfeit"].sum()) for each in results if "episode_result" in each
            )
            found["meta-episodes"] += int(terminated.sum())
            found["refused"] += int(info["invalid"].sum())
        return found

    def _reset_what_is_over(self) -> Any:
        for number in np.flatnonzero(self.over):
            self.now[number] = self.singles[number].reset()
        found = self.vector.reset(options={"reset_mask": self.over.copy()})
        self.over[:] = False
        return found

    def _check_sampled(self, actions: Any) -> None:
        for number, (_, info) in enumerate(self.now):
            legal = info["view"].legal if info["phase"] == "play" and "episode_result" not in info else ()
            assert actions[number] in (legal or range(self.vector.single_action_space.n))

    def _step_one(self, number: int, action: int, rewards: Any, terminated: Any, info: dict[str, Any]) -> None:
        env = self.singles[number]
        if self.over[number] and self.mode is AutoresetMode.NEXT_STEP:
            self.now[number] = env.reset()
            assert (rewards[number], terminated[number], info["invalid"][number]) == (0.0, False, False)
            self.over[number] = False
            return
        observation, reward, over, _, single = env.step(action)
        assert np.float64(reward).tobytes() == rewards[number].tobytes()
        assert over == terminated[number]
        assert ("invalid_reason" in single) == info["invalid"][number]
        told = info
        if over and self.mode is AutoresetMode.SAME_STEP:
            assert info["_final_obs"][number]
            assert info["_final_info"][number]
            told = info["final_info"]
            _same(observation, info["final_obs"], number)
            assert not info.get("_episode_result", np.zeros(self.count))[number]
        self._compare_result(number, single.get("episode_result"), told)
        self.over[number] = over
        self.now[number] = (observation, single)
        if over and self.mode is AutoresetMode.SAME_STEP:
            self.now[number] = env.reset()
            self.over[number] = False

    def _compare_result(self, number: int, result: dict[str, Any] | None, told: dict[str, Any]) -> None:
        if result is None:
            assert not told.get("_episode_result", np.zeros(self.count))[number]
            return
        assert told["_episode_result"][number]
        expected = {**result, "outcome": OUTCOMES[result["outcome"]]}
        assert expected.pop("refused") == ({"illegal": result["invalid"]} if result["invalid"] else {})
        assert {name: array[number] for name, array in told["episode_result"].items()} == expected

    def _compare(self, observation: dict[str, Any], info: dict[str, Any]) -> None:
        assert observation in self.vector.observation_space
        for number, (single, told) in enumerate(self.now):
            _same(single, observation, number)
            secret = {name: array[number] for name, array in info["privileged"].items()}
            secret["opponent"] = self.vector.opponents[secret["opponent"]]
            assert secret == told["privileged"]
            assert self.vector.compiled.keys[info["view"][number]] == told["view"].key
            assert info["phase"][number] == (told["phase"] == "reflect")


def _same(single: dict[str, Any], batch: dict[str, Any], number: int) -> None:
    assert single.keys() == batch.keys()
    for name, value in single.items():
        found, expected = batch[name][number], np.asarray(value)
        assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes()), name
