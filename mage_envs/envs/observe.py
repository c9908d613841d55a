"""What a player is shown of a meta-episode, written once for all adapters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mage_envs.games import View
from mage_envs.text.messages import ending, header

PHASES = ("play", "reflect")


def open_mask(view: View, phase: str, *, ended: bool) -> npt.NDArray[np.int8]:
    """Returns a new action mask: the legal actions; all between episodes; none after the last one."""
    if not ended:
        return view.mask.copy()
    return np.full(view.spec.actions, phase == "reflect", dtype=np.int8)


def array_observation(
    view: View, mask: npt.NDArray[np.int8], phase: str, episode: int, last_action: int, last_reward: float
) -> dict[str, Any]:
    """Returns the array observation; see ``MetaGameEnv`` for its parts. All arrays are new."""
    observation: dict[str, Any] = {
        "observation": view.tensor.copy(),
        "action_mask": mask,
        "phase": 1 if phase == "reflect" else 0,
        "episode": episode,
        "last_action": last_action,
        "last_reward": np.array((last_reward,), np.float32),
    }
    if view.spec.reveal_size:
        observation["revealed"] = view.reveal_array.copy()
    return observation


def tell(view: View, episode: int, episodes: int, note: str, result: Mapping[str, Any] | None) -> str:
    """Returns the text observation: where the player stands, its view, why its answer was not played, how it ended."""
    lines = [header(episode, episodes, view.seat, view.spec.seats), view.text]
    if note:
        lines.append(note)
    if result is not None:
        lines.append(ending(result["outcome"], result["reward"], forfeit=result["forfeit"]))
    return "\n".join(lines)
