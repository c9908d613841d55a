"""What a vector environment returns: observations and infos, made of what a batch shows. Arrays only."""

from __future__ import annotations

from sys import getrefcount
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mage_envs.tabular.batch import Batch
from mage_envs.tabular.batch_arrays import Shown

Infos: TypeAlias = dict[str, Any]
Observations: TypeAlias = dict[str, npt.NDArray[Any]]
Flags: TypeAlias = npt.NDArray[np.bool_]

_LASTING = ("action_mask", "phase", "episode", "seat", "last_action", "last_reward", "seen",
            "instance", "opponent", "seed")  # fmt: skip


class Room:
    """Room for all arrays of a step.

    Attributes:
        shown: What the batch shows.
        shares: The same by the batch's shares.
        truncated: Nothing ever is.
    """

    def __init__(self, batch: Batch) -> None:
        """Makes the arrays."""
        game = batch.game
        self._tables = {"observation": game.tensor}
        if game.spec.reveal_size:
            self._tables["revealed"] = game.revealed
        self.shown = batch.room()
        count = len(batch.seeds)
        self._seen = {name: np.empty((count, table.shape[1]), table.dtype) for name, table in self._tables.items()}
        self.truncated = np.zeros(count, np.bool_)
        self.shares = [Shown(*(array[share] for array in self.shown)) for share in batch.shares]
        self._shares = [
            [(table, self.shown.seen[share], self._seen[name][share]) for name, table in self._tables.items()]
            for share in batch.shares
        ]
        self._arrays = (*self.shown, *self._seen.values(), self.truncated)
        self._references = self._count()

    def is_free(self) -> bool:
        """Whether nobody else holds any of the arrays, so that writing over them is as good as making new ones."""
        return self._count() == self._references

    def _count(self) -> int:
        return sum(map(getrefcount, self._arrays))

    def look(self, share: int) -> None:
        """Looks up OpenSpiel's tensor, and what the end reveals, for the views that are shown of a share."""
        for table, views, seen in self._shares[share]:
            np.take(table, views, axis=0, out=seen, mode="clip")

    def look_again(self, rows: npt.NDArray[Any]) -> None:
        """Does the same for some environments."""
        for name, table in self._tables.items():
            self._seen[name][rows] = table[self.shown.seen[rows]]

    def go_on_from(self, room: Room) -> None:
        """Takes over what another room shows of the environments as they are."""
        for name in _LASTING:
            np.copyto(getattr(self.shown, name), getattr(room.shown, name))
        for name, array in self._seen.items():
            np.copyto(array, room._seen[name])

    def observations(self) -> Observations:
        """Returns the observations; see ``MetaGameEnv`` for their parts."""
        shown = self.shown
        return {
            **self._seen,
            "action_mask": shown.action_mask,
            "phase": shown.phase,
            "episode": shown.episode,
            "seat": shown.seat,
            "last_action": shown.last_action,
            "last_reward": shown.last_reward,
        }

    def infos(self, invalid: Flags) -> Infos:
        """Returns the infos of all environments, without results of episodes."""
        shown = self.shown
        return {
            "action_mask": shown.action_mask,
            "phase": shown.phase,
            "seat": shown.seat,
            "view": shown.seen,
            "invalid": invalid,
            "privileged": {"opponent": shown.opponent, "instance": shown.instance, "seed": shown.seed},
        }

    def results(self, mask: Flags | None = None) -> Infos:
        """Returns the results of the episodes that ended, or of some, by Gymnasium's convention: a key and a mask."""
        shown = self.shown
        result = {
            "reward": shown.score,
            "outcome": shown.outcome,
            "length": shown.length,
            "invalid": shown.invalid,
            "forfeit": shown.forfeit,
        }
        if mask is None:
            return {"episode_result": result, "_episode_result": shown.ended}
        chosen = {name: np.where(mask, array, 0).astype(array.dtype) for name, array in result.items()}
        return {"episode_result": chosen, "_episode_result": mask}
