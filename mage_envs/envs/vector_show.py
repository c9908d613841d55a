"""What a vector environment returns: observations and infos, from what a batch shows. Arrays only."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mage_envs.tabular.batch_arrays import Shown
from mage_envs.tabular.compiled import CompiledGame

Infos: TypeAlias = dict[str, Any]
Observations: TypeAlias = dict[str, npt.NDArray[Any]]
Flags: TypeAlias = npt.NDArray[np.bool_]


class Pictures:
    """The parts of observations that are looked up by view: OpenSpiel's tensor, and what the end reveals."""

    def __init__(self, game: CompiledGame, count: int) -> None:
        """Keeps the tables that are not empty."""
        self._tables = {"observation": game.tensor}
        if game.spec.reveal_size:
            self._tables["revealed"] = game.revealed
        self._count = count

    def room(self) -> Observations:
        """Returns room for them."""
        return {name: np.empty((self._count, table.shape[1]), table.dtype) for name, table in self._tables.items()}

    def draw(self, views: npt.NDArray[Any], room: Observations) -> None:
        """Looks them up."""
        for name, table in self._tables.items():
            np.take(table, views, axis=0, out=room[name], mode="clip")

    def redraw(self, views: npt.NDArray[Any], rows: npt.NDArray[Any], room: Observations) -> None:
        """Looks some of them up."""
        for name, table in self._tables.items():
            room[name][rows] = table[views[rows]]


def observations(shown: Shown, pictures: Observations) -> Observations:
    """Returns the observations; see ``MetaGameEnv`` for their parts."""
    return {
        **pictures,
        "action_mask": shown.action_mask,
        "phase": shown.phase,
        "episode": shown.episode,
        "seat": shown.seat,
        "last_action": shown.last_action,
        "last_reward": shown.last_reward,
    }


def infos(shown: Shown) -> Infos:
    """Returns the infos of all environments, without results of episodes."""
    return {
        "action_mask": shown.action_mask,
        "phase": shown.phase,
        "seat": shown.seat,
        "view": shown.seen,
        "invalid": shown.refused,
        "privileged": {"opponent": shown.opponent, "instance": shown.instance, "seed": shown.seed},
    }


def results(shown: Shown) -> Infos:
    """Returns the results of the episodes that ended in a step, by Gymnasium's convention: a key and a mask."""
    result = {
        "reward": shown.score,
        "outcome": shown.outcome,
        "length": shown.length,
        "invalid": shown.invalid,
        "forfeit": shown.forfeit,
    }
    return {"episode_result": result, "_episode_result": shown.ended}


def taken(values: dict[str, Any], mask: Flags) -> dict[str, Any]:
    """Returns a copy of arrays, and of dicts of arrays, that is 0 where the mask is not set."""
    rows = np.flatnonzero(mask)
    return {name: taken(part, mask) if isinstance(part, dict) else _rows(part, rows) for name, part in values.items()}


def _rows(array: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    found = np.zeros_like(array)
    found[rows] = array[rows]
    return found
