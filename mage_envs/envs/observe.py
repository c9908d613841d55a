"""What a player is shown of a meta-episode, written once for all adapters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mage_envs.games import View
from mage_envs.text.messages import ending
from mage_envs.worlds import WorldView

_ZERO = np.zeros(1, dtype=np.float32)


def closed_mask(view: View | WorldView, phase: str) -> npt.NDArray[np.int8]:
    """Returns a new action mask for an episode that is over: every action between episodes, none after the last."""
    return _filled(view.spec.actions, phase == "reflect").copy()


def array_observation(
    view: View | WorldView,
    mask: npt.NDArray[np.int8],
    phase: str,
    episode: int,
    last_action: int,
    last_reward: float,
) -> dict[str, Any]:
    """Returns the array observation; see ``MetaGameEnv`` for its parts. All arrays are new."""
    observation: dict[str, Any] = {
        "observation": view.tensor.copy(),
        "action_mask": mask,
        "phase": 1 if phase == "reflect" else 0,
        "episode": episode,
        "seat": view.seat,
        "last_action": last_action,
        "last_reward": np.array((last_reward,), np.float32) if last_reward else _ZERO.copy(),
    }
    if isinstance(view, View) and view.spec.reveal_size:
        observation["revealed"] = view.reveal_array.copy()
    return observation


def tell(header: str, view: View | WorldView, note: str, result: Mapping[str, Any] | None) -> str:
    """Returns the text observation: where the player stands, its view, why its answer was not played, how it ended."""
    said = f"{header}\n{view.text}"
    if note:
        said = f"{said}\n{note}"
    if result is None:
        return said
    return f"{said}\n{ending(result['outcome'], result['reward'], forfeit=result['forfeit'])}"


@lru_cache(maxsize=256)
def _filled(size: int, value: bool) -> npt.NDArray[np.int8]:
    return np.full(size, value, dtype=np.int8)
