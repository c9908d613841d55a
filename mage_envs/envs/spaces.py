"""The spaces of both interfaces."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from gymnasium import spaces

from mage_envs.charset import CHARSET, MAX_TEXT
from mage_envs.games import GameSpec
from mage_envs.worlds import World

PHASES = ("play", "reflect")
_HUGE = float(np.finfo(np.float32).max)


def text_space() -> spaces.Text:
    """Returns the space of all texts that the environment can say, the empty text included.

    All of them share their tables of characters, 60 kB; each has a generator of its own.
    """
    found = spaces.Text.__new__(spaces.Text)
    for name, value in vars(_all_texts()).items():
        setattr(found, name, value)  # One by one: a third of the bytes of a copied dict.
    return found


@cache
def _all_texts() -> spaces.Text:
    return spaces.Text(min_length=0, max_length=MAX_TEXT, charset=CHARSET)


def array_space(spec: GameSpec, episodes: int) -> spaces.Dict:
    """Returns the space of array observations of a game.

    Raises:
        ValueError: OpenSpiel has no tensor for this game.
    """
    if spec.tensor_size == 0:
        raise ValueError(f"OpenSpiel has no tensor for {spec.name!r}: use interface='text'")
    found: dict[str, spaces.Space[Any]] = {
        "observation": spaces.Box(-_HUGE, _HUGE, (spec.tensor_size,), np.float32),
        "action_mask": spaces.MultiBinary(spec.actions),
        "phase": spaces.Discrete(len(PHASES)),
        "episode": spaces.Discrete(episodes),
        "seat": spaces.Discrete(spec.seats),
        "last_action": spaces.Discrete(spec.actions + 1, start=-1),
        "last_reward": spaces.Box(-_HUGE, _HUGE, (1,), np.float32),
    }
    if spec.reveal_size:
        found["revealed"] = spaces.Box(0.0, 1.0, (spec.reveal_size,), np.float32)
    return spaces.Dict(found)


def world_array_space(world: World, episodes: int) -> spaces.Dict:
    """Returns the space of array observations of a world.

    Raises:
        ValueError: The world has no arrays.
    """
    if world.box is None:
        raise ValueError(f"{world.title} has no arrays: use interface='text'")
    shape, low, high, dtype = world.box
    kind = np.uint8 if dtype == "uint8" else np.float32
    return spaces.Dict(
        {
            "observation": spaces.Box(kind(low), kind(high), shape, kind),
            "action_mask": spaces.MultiBinary(world.actions),
            "phase": spaces.Discrete(len(PHASES)),
            "episode": spaces.Discrete(episodes),
            "seat": spaces.Discrete(1),
            "last_action": spaces.Discrete(world.actions + 1, start=-1),
            "last_reward": spaces.Box(-_HUGE, _HUGE, (1,), np.float32),
        }
    )
