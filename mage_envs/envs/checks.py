"""Checks of arguments, shared by all adapters. Each error says the range or the choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mage_envs.errors import near_matches

MAX_INSTANCE = 2**53 - 1
"""Largest instance id: every JSON reader keeps integers up to here exactly."""

MAX_PENALTY = 1e9
"""Far from what the float32 of ``last_reward`` holds."""


def check_known(unknown: Mapping[str, object], init: Callable[..., None]) -> None:
    """Refuses arguments that an ``__init__`` does not take.

    Raises:
        ValueError: With near matches.
    """
    known = [name for name in init.__annotations__ if name not in ("unknown", "return")]
    for name in unknown:
        raise ValueError(f"unknown argument {name!r}. {near_matches(name, known)}")


def check_int(name: str, value: object, low: int, high: int) -> int:
    """Returns an integer in ``low..high``.

    Raises:
        ValueError: It is none; the message says the range.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer in {low}..{high}, got {value!r}")
    return int(value)


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuses a value that is not among the choices.

    Raises:
        ValueError: The message lists the choices, near ones first.
    """
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
        hint = near_matches(value, [str(choice) for choice in choices]) if isinstance(value, str) else ""
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}. {hint}".rstrip())


def check_penalty(value: object) -> float:
    """Returns an invalid-answer penalty.

    Raises:
        ValueError: It is no number, or out of range.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, int | float) or not 0.0 <= plain <= MAX_PENALTY:
        raise ValueError(f"invalid_penalty must be a number of at least 0 and at most {MAX_PENALTY:g}, got {value!r}")
    return float(plain)


def check_instances(given: Any, episodes: int, *, replay: bool) -> list[int]:
    """Returns instance ids, one an episode, from one id or, unless it is replayed, one an episode.

    Raises:
        ValueError: Another count, or an id outside ``0..MAX_INSTANCE``.
    """
    plain = given.tolist() if isinstance(given, np.ndarray) else given
    ids = [plain] if isinstance(plain, int | np.integer) else plain
    if not isinstance(ids, list | tuple) or len(ids) not in (1, 1 if replay else episodes):
        count = "" if replay else f" or {episodes} ids"
        raise ValueError(f"option 'instance' must be one id{count} (integers), got {given!r}")
    checked = [check_int("option 'instance'", value, 0, MAX_INSTANCE) for value in ids]
    return checked * episodes if len(checked) == 1 else checked
