"""Registers every game and world under ``mage/<Title>-v0`` (one episode) and ``mage/<Title>-meta-v0`` (N episodes)."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from mage_envs.games import GAMES
from mage_envs.worlds import WORLDS, World

SINGLE = "mage_envs.envs.game_env:GameEnv"
META = "mage_envs.envs.game_env:MetaGameEnv"
WORLD_SINGLE = "mage_envs.envs.world_env:WorldEnv"
WORLD_META = "mage_envs.envs.world_env:MetaWorldEnv"
VECTOR_WORLD_SINGLE = "mage_envs.envs.world_vector_env:WorldVectorEnv"
VECTOR_WORLD_META = "mage_envs.envs.world_vector_env:MetaWorldVectorEnv"
VECTOR_SINGLE = "mage_envs.envs.vector_env:GameVectorEnv"
VECTOR_META = "mage_envs.envs.vector_env:MetaGameVectorEnv"


def register_environments() -> None:
    """Registers all ids with Gymnasium. Called by ``import mage_envs``; calling it again changes nothing."""
    for name in GAMES:
        _register(GAMES.get(name)().title, {"game": name})
    _register("OpenSpiel", {})
    for name in WORLDS:
        _register_world(WORLDS.get(name), {"world": name})


def environment_ids() -> list[str]:
    """Returns all registered ids of this package, sorted."""
    return sorted(name for name in gym.registry if name.startswith("mage/"))


def _register(title: str, arguments: dict[str, Any]) -> None:
    for suffix, entry_point, vector in (("-v0", SINGLE, VECTOR_SINGLE), ("-meta-v0", META, VECTOR_META)):
        # The environments check the order of calls and their spaces are tested, so that wrappers would only cost time.
        gym.register(
            f"mage/{title}{suffix}",
            entry_point=entry_point,
            vector_entry_point=vector,
            kwargs=arguments,
            order_enforce=False,
            disable_env_checker=True,
        )


def _register_world(world: type[World], arguments: dict[str, Any]) -> None:
    points = (("-v0", WORLD_SINGLE, VECTOR_WORLD_SINGLE), ("-meta-v0", WORLD_META, VECTOR_WORLD_META))
    for suffix, entry_point, vector in points:
        gym.register(
            f"mage/{world.title}{suffix}",
            entry_point=entry_point,
            vector_entry_point=vector if world.batched else None,
            kwargs=arguments,
            order_enforce=False,
            disable_env_checker=True,
        )
