"""Vector environments: Gymnasium's lose no final reward, and ours say in a batch what single environments say."""

from __future__ import annotations

from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import mage_envs  # noqa: F401 -- registers the ids
from mage_envs.envs import vector_env
from mage_envs.errors import UnsupportedGameError
from mage_envs.games import load_game_spec
from mage_envs.tabular.compiled import CompiledGame, compile_game, compiled_game
from tests.conformance.cases import CASES, Case
from tests.envs.twins import Twins, make_vector

COUNT, STEPS = 3, 40
FEW_STATES = 20_000


def _scores(mode: str, autoreset: AutoresetMode, interface: str) -> list[list[float]]:
    """Steps a vector environment and returns the episode scores that each copy reported."""
    env = gym.make_vec(
        "mage/KuhnPoker-meta-v0",
        num_envs=COUNT,
        vectorization_mode=mode,
        vector_kwargs={"autoreset_mode": autoreset},
        interface=interface,
    )
    env.reset(seed=[1, 2, 3])
    action: Any = ("pass",) * COUNT if interface == "text" else np.zeros(COUNT, dtype=np.int64)
    scores: list[list[float]] = [[] for _ in range(COUNT)]
    for _ in range(STEPS):
        observation, _, _, _, info = env.step(action)
        assert observation in env.observation_space
        for source in (info, info.get("final_info", {})):
            for index in np.flatnonzero(source.get("_episode_result", np.zeros(COUNT))):
                scores[index].append(float(source["episode_result"]["reward"][index]))
    env.close()
    return scores


def _expected(autoreset: AutoresetMode) -> list[list[float]]:
    found = []
    for seed in (1, 2, 3):
        env = gym.make("mage/KuhnPoker-meta-v0")
        env.reset(seed=seed)
        scores, over = [], False
        for _ in range(STEPS):
            if over and autoreset is AutoresetMode.NEXT_STEP:
                env.reset()
                over = False
                continue
            _, _, over, _, info = env.step(0)
            if "episode_result" in info:
                scores.append(info["episode_result"]["reward"])
            if over and autoreset is AutoresetMode.SAME_STEP:
                env.reset()
                over = False
        found.append(scores)
    return found


@pytest.mark.parametrize("interface", ["array", "text"])
@pytest.mark.parametrize("autoreset", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_no_final_reward_is_lost(mode: str, autoreset: AutoresetMode, interface: str) -> None:
    assert _scores(mode, autoreset, interface) == _expected(autoreset)


@cache
def _small_game(name: str) -> CompiledGame | None:
    """Returns a game that has few states, None for others: they would take too long here."""
    try:
        compile_game(load_game_spec(name), FEW_STATES)
    except UnsupportedGameError:
        return None
    return compiled_game(name)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_batch_is_its_single_environments(case: Case, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if backend == "numba":
        pytest.importorskip("numba", reason="numba is not installed: pip install 'mage-envs[fast]'")
    if _small_game(case.make().game_spec.name) is None:
        monkeypatch.setattr(vector_env, "compiled_game", lambda spec: compile_game(spec, FEW_STATES))
        with pytest.raises(UnsupportedGameError, match="vectorization_mode='sync'"):
            make_vector(case, 2, population="random", backend=backend)
        return
    twins = Twins(case, 9, AutoresetMode.NEXT_STEP, backend, invalid_penalty=0.25, max_invalid=2)
    assert min(twins.play(70, seed=3).values()) > 0
