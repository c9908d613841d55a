"""Vector environments of worlds say in a batch, step for step, what single environments say."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

import mage_envs
from mage_envs.errors import UnsupportedGameError
from mage_envs.worlds import WORLDS
from mage_envs.worlds.sokoban import batch
from tests.envs.world_twins import WorldTwins

IDS = [
    f"mage/{WORLDS.get(name).title}{suffix}"
    for name in WORLDS
    if WORLDS.get(name).batched and f"mage/{WORLDS.get(name).title}-v0" in mage_envs.environment_ids()
    for suffix in ("-v0", "-meta-v0")
]
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
EASY: dict[str, Any] = {"boxes": 1, "max_moves": 3, "pool": 5}


def make(count: int = 3, meta: bool = True, **arguments: Any) -> Any:
    name = f"mage/Sokoban{'-meta' if meta else ''}-v0"
    return gym.make_vec(name, num_envs=count, vectorization_mode="vector_entry_point", **arguments).unwrapped


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("env_id", IDS)
def test_a_batch_is_its_single_environments(env_id: str, mode: AutoresetMode) -> None:
    found = WorldTwins(env_id, 5, mode, invalid_penalty=0.25, max_invalid=2).play(150, seed=3)
    assert found["episodes"] > 10
    assert found["over"] > 5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "arguments",
    [
        {"reward": "shaped", "stop_on_success": True, **EASY},
        {"instance": "fresh", "turns": 5, **EASY},
        {"split": "validation", "turns": 4, "rows": 7, "columns": 9},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_settings(arguments: dict[str, Any], mode: AutoresetMode) -> None:
    twins = WorldTwins("mage/Sokoban-meta-v0", 6, mode, max_invalid=2, invalid_penalty=0.5, **arguments)
    found = twins.play(160, seed=11, illegal=0.2)
    assert found["forfeits"] > 0
    if "boxes" in arguments:
        assert found["wins"] > 0
    if "turns" in arguments:
        assert found["limits"] > 0


def test_the_only_episode_is_truncated_by_the_limit() -> None:
    env = make(meta=False, turns=2)
    env.reset(seed=0)
    env.step([0, 0, 9])
    _, _, terminated, truncated, info = env.step([1, 1, 1])
    assert truncated.tolist() == [True, True, False]
    assert not terminated.any()
    assert info["episode_result"]["truncated"][:2].all()


def test_options() -> None:
    twins = WorldTwins("mage/Sokoban-meta-v0", 3, AutoresetMode.NEXT_STEP, instance="fresh")
    twins.play(30, seed=1, options={"instance": [4, 5, 6]})
    twins.play(30, seed=1, options={"instance": 4})
    with pytest.raises(ValueError, match="instance"):
        twins.vector.reset(options={"instance": "######/#@$. #/######"})
    with pytest.raises(ValueError, match="opponent"):
        twins.vector.reset(options={"opponent": "random"})


def test_wrong_calls_name_the_remedy(tmp_path: Any) -> None:
    env = make(autoreset_mode=AutoresetMode.DISABLED, turns=1, episodes=1)
    with pytest.raises(ResetNeeded):
        env.step([0, 0, 0])
    env.reset(seed=0)
    env.step([0, 0, 0])
    with pytest.raises(ResetNeeded, match="reset_mask"):
        env.step([0, 0, 0])
    with pytest.raises(ValueError, match="actions"):
        env.step([0, 0])
    with pytest.raises(ValueError, match="-meta-"):
        make(meta=False, episodes=2)
    with pytest.raises(ValueError, match="sync"):
        make(interface="text")
    for mode in ("ansi", "rgb_array"):
        with pytest.raises(ValueError, match=rf"{mode}.* use vectorization_mode='sync'"):
            make(render_mode=mode)
    path = tmp_path / "levels.txt"
    path.write_text("#####\n#@$.#\n#####\n")
    with pytest.raises(UnsupportedGameError, match="sync"):
        make(levels=str(path))


@pytest.mark.parametrize("env_id", IDS)
def test_a_pickled_batch_plays_on_alike(env_id: str) -> None:
    env: Any = gym.make_vec(env_id, num_envs=2, vectorization_mode="vector_entry_point")
    env.reset(seed=0)
    again = pickle.loads(pickle.dumps(env))
    for action in (0, 1):
        one, other = env.step([action, action]), again.step([action, action])
        assert one[0]["observation"].tobytes() == other[0]["observation"].tobytes()


def test_rooms_that_are_forgotten_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "_KEPT", 3)
    WorldTwins("mage/Sokoban-meta-v0", 8, AutoresetMode.NEXT_STEP, turns=2).play(40, seed=1)


def test_copies_are_their_own_and_the_others_are_not() -> None:
    for copy in (True, False):
        env = make(copy=copy)
        before, _ = env.reset(seed=0)
        kept = before["observation"].copy()
        for _ in range(5):
            env.step(env.sample_actions(np.random.default_rng(1)))
        assert (before["observation"] == kept).all() == copy


def test_a_pool_holds_so_many_rooms() -> None:
    env = make(count=64, pool=7, episodes=1)
    seen = set()
    for seed in range(4):
        seen.update(env.reset(seed=100 * seed)[1]["privileged"]["instance"].tolist())
    assert len(seen) == 7


def test_without_numba_a_batch_is_its_single_environments_too() -> None:
    code = """
import sys
sys.modules["numba"] = None
from gymnasium.vector import AutoresetMode
from mage_envs.worlds.sokoban import batch
from tests.envs.world_twins import WorldTwins
assert not hasattr(batch.move, "py_func")
arguments = {"boxes": 1, "max_moves": 3, "pool": 5, "reward": "shaped"}
found = WorldTwins("mage/Sokoban-meta-v0", 4, AutoresetMode.SAME_STEP, **arguments).play(70, seed=5)
assert found["wins"] > 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
