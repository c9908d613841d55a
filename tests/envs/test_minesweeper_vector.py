"""Boards of MineSweeper in a batch are, step for step, those of single environments, whatever the first cell may be."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from mage_envs.worlds import load_world
from mage_envs.worlds.minesweeper import Setting, bits, lay_out
from mage_envs.worlds.minesweeper.batch import _orders
from tests.envs.world_twins import WorldTwins

SETTINGS: dict[str, dict[str, Any]] = {
    "risky": {"rows": 4, "columns": 7, "mines": 1},
    "safe": {"first_click": "safe", "mines": 12, "instance": "fresh"},
    "full": {"first_click": "safe", "rows": 3, "columns": 3, "mines": 8},
    "zero": {"first_click": "zero", "mines": 9, "stop_on_success": True},
    "crowded": {"first_click": "zero", "rows": 4, "columns": 4, "mines": 7},
    "given": {"first_click": "given", "mines": 4, "split": "test"},
    "no_guess": {"first_click": "given", "no_guess": True, "mines": 6, "turns": 5},
    "large": {"rows": 16, "columns": 30, "mines": 60, "first_click": "zero", "instance": "fresh"},
}


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name: str, mode: AutoresetMode) -> None:
    twins = WorldTwins("mage/MineSweeper-meta-v0", 6, mode, max_invalid=2, invalid_penalty=0.5, **SETTINGS[name])
    found = twins.play(250, seed=11)
    assert found["episodes"] > 10
    if name in ("risky", "full"):
        assert found["wins"] > 0


def test_flags_and_moved_mines_move_by_move() -> None:
    """Flags before and after the first reveal; the first cell is one with a mine, so that mines move."""
    world = load_world("minesweeper(mines=12, first_click=zero)")
    instance = next(i for i in range(99) if lay_out(Setting(mines=12), i).play.board.mines >> 14 & 1)
    batch, state = world.batch(2), world.start(instance)
    batch.start(np.array([0, 1]), np.array([5, instance]))
    for action in (36 + 14, 36 + 14, 36 + 0, 14, 36 + 35, 36 + 35):
        state, reward, _ = world.step(state, action)
        rewards, outcomes = batch.step(np.array([1]), np.array([action]))
        assert (rewards[0], outcomes[0]) == (reward, 0)
        assert (batch.observations[1] == world.tensor(state)).all()
        assert np.flatnonzero(batch.mask[1]).tolist() == list(world.legal(state))


def test_orders_are_those_of_single_boards() -> None:
    numbers = np.array([0, 1, 12345, 2**53 - 1])
    orders = _orders(numbers, 900, 40)
    for number, order in zip(numbers.tolist(), orders, strict=True):
        mines = lay_out(Setting(30, 30, 40), number).play.board.mines
        assert sorted(order.tolist()) == list(bits(mines))


def test_plain_python_plays_the_same() -> None:
    """Without numba, in another process."""
    found = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == digest()


CODE = """
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "numba" else found(name, *more)
from tests.envs.test_minesweeper_vector import digest
import sys
assert "numba" not in sys.modules
print(digest())
"""


def digest() -> str:
    """Returns what a batch shows after some steps, as one number."""
    import hashlib

    env: Any = gym.make_vec(
        "mage/MineSweeper-meta-v0", 20, "vector_entry_point", mines=6, first_click="zero", instance="fresh"
    ).unwrapped
    observations, _ = env.reset(seed=1)
    rng, sha = np.random.default_rng(2), hashlib.sha256()
    for _ in range(60):
        observations, rewards, *_ = env.step(env.sample_actions(rng))
        sha.update(observations["observation"].tobytes() + rewards.tobytes())
    return sha.hexdigest()
