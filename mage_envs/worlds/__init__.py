"""Worlds: tasks for one agent, one file or folder each. ``load_world`` finds a world by its spec."""

from __future__ import annotations

import os
import threading
from functools import lru_cache

from mage_envs.registry import Registry
from mage_envs.spec_strings import Spec, bind_spec, parse_spec
from mage_envs.worlds.base import (
    BestPlay,
    Command,
    Facts,
    InstanceId,
    State,
    Step,
    TensorBox,
    World,
    WorldBatch,
    WorldOutcome,
)
from mage_envs.worlds.views import WorldView

__all__ = [
    "WORLDS", "BestPlay", "Command", "Facts", "InstanceId", "State", "Step", "TensorBox", "World", "WorldBatch",
    "WorldOutcome", "WorldView", "load_world",
]  # fmt: skip

WORLDS: Registry[type[World]] = Registry("world", package=__name__)
"""World files register their class here; the keyword parameters of its ``__init__`` are those of the spec."""

_LOCK = threading.Lock()


def load_world(world: str | Spec) -> World:
    """Finds a world.

    Args:
        world: A name in ``WORLDS`` with parameters: ``"sokoban"``, ``"sokoban(boxes=3)"``.

    Returns:
        The world; specs that mean the same give the same object, and ``world.name`` gives it back. A world that goes by
        environment variables is another one once they change.

    Raises:
        SpecError: A parameter that the world does not have; near matches are listed.
        UnknownNameError: There is no such world.
        ValueError: A parameter out of its range.
    """
    spec = parse_spec(world) if isinstance(world, str) else world
    factory = WORLDS.get(spec.name)
    values = bind_spec(spec, factory, "world")
    surroundings = tuple(os.environ.get(variable, "") for variable in factory.variables)
    return _load(str(Spec(spec.name, (), tuple(values.items()))), surroundings)


def _load(name: str, surroundings: tuple[str, ...]) -> World:
    with _LOCK:  # Two threads must not build the same shared data twice.
        return _make(name, surroundings)


@lru_cache(maxsize=64)
def _make(name: str, _: tuple[str, ...]) -> World:
    spec = parse_spec(name)
    made = WORLDS.get(spec.name)(**dict(spec.kwargs))
    made.name = name
    return made
