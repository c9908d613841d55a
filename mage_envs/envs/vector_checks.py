"""Checks of what a vector environment is given, in the forms that Gymnasium's own take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from mage_envs.envs.checks import check_choice
from mage_envs.envs.meta_episode import Interface

Seeds: TypeAlias = int | Sequence[int | None] | npt.NDArray[Any] | None

MAX_SEED = 2**63 - 1
"""Largest seed of an environment in a batch: infos hold it as int64."""


def spread_seeds(seed: Seeds, count: int) -> npt.NDArray[np.int64]:
    """Returns a seed for each environment: s, s + 1, ... from an integer s; −1 where none is given.

    Raises:
        ValueError: Another count, no integers, or a seed out of range.
    """
    if seed is None:
        return np.full(count, -1, np.int64)
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
        if not 0 <= seed <= MAX_SEED - count:
            raise ValueError(f"seed must be in 0..2**63 - 1 for every environment, got {seed}")
        return int(seed) + np.arange(count, dtype=np.int64)
    given = np.asarray(seed)
    if given.shape != (count,):
        raise ValueError(f"seed must be an integer, or one seed for each of {count} environments, got {seed!r:.80}")
    if given.dtype == object:
        missing = np.equal(given, None)  # type: ignore[call-overload]
        return _checked(np.where(missing, -1, given), missing.astype(np.bool_))
    return _checked(given, np.zeros(count, np.bool_))


def fresh_seeds(count: int) -> npt.NDArray[np.int64]:
    """Returns seeds from the system's entropy."""
    return (np.random.SeedSequence().generate_state(count, np.uint64) >> np.uint64(1)).astype(np.int64)


def check_mask(mask: Any, count: int) -> npt.NDArray[np.bool_]:
    """Returns the mask of the environments to reset.

    Raises:
        TypeError: It is no array of bools, as in Gymnasium.
        ValueError: It has another shape, or resets nothing.
    """
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        kind = mask.dtype if isinstance(mask, np.ndarray) else type(mask).__name__
        raise TypeError(f"option 'reset_mask' must be an array of bools, got {kind}")
    if mask.shape != (count,) or not mask.any():
        raise ValueError(f"option 'reset_mask' must have shape ({count},) and a True in it, got {mask!r:.80}")
    return mask


def check_actions(actions: npt.ArrayLike, count: int) -> npt.NDArray[np.int64]:
    """Returns the actions of all environments.

    Raises:
        ValueError: Another shape, or no integers.
    """
    given = np.asarray(actions)
    if given.shape != (count,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"actions must be an array of {count} integers, one for each environment, "
            f"got shape {given.shape} of {given.dtype}"
        )
    return np.ascontiguousarray(given, np.int64)


def check_batchable(interface: str, render_mode: str | None) -> None:
    """Refuses what only single environments do.

    Raises:
        ValueError: With the vectorization mode that has it.
    """
    check_choice("interface", interface, get_args(Interface))
    check_choice("render_mode", render_mode, (None, "ansi", "human", "rgb_array"))
    if interface == "text":
        raise ValueError("a batch has arrays only: for interface='text' use vectorization_mode='sync' or 'async'")
    if render_mode is not None:
        raise ValueError(
            f"a batch renders nothing: for render_mode={render_mode!r} use vectorization_mode='sync' "
            "(in a game's batch, env.compiled.text(infos['view'][i]) says what environment i shows)"
        )


def check_autoreset_mode(value: AutoresetMode | str) -> AutoresetMode:
    """Returns the mode.

    Raises:
        ValueError: There is none of that name.
    """
    if not isinstance(value, AutoresetMode):
        check_choice("autoreset_mode", value, [mode.value for mode in AutoresetMode])
    return AutoresetMode(value)


def _checked(seeds: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    given = np.array(seeds.tolist()) if seeds.dtype == object else seeds
    valid = given.dtype.kind in "iu" and bool(np.all(missing | ((given >= 0) & (given <= MAX_SEED))))
    if not valid:
        raise ValueError(f"each seed must be None or an integer in 0..2**63 - 1, got {seeds!r:.80}")
    return given.astype(np.int64)
