"""Faults that a server can be told to have, as data, and who meets them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from email.utils import formatdate
from typing import TypeAlias

REFUSALS: dict[str, tuple[int, Callable[[float], dict[str, str]]]] = {
    "429": (429, lambda seconds: {}),
    "429-seconds": (429, lambda seconds: {"Retry-After": f"{seconds:g}"}),
    "429-date": (429, lambda seconds: {"Retry-After": formatdate(time.time() + seconds, usegmt=True)}),
    "429-ms": (429, lambda seconds: {"retry-after-ms": f"{seconds * 1000:g}"}),
    "500": (500, lambda seconds: {}),
    "502": (502, lambda seconds: {}),
    "503": (503, lambda seconds: {"Retry-After": f"{seconds:g}"}),
}
"""Faults that are a status and headers, by the seconds that the client shall wait."""

TRANSIENT = (*REFUSALS, "reset", "slow", "half", "cut", "hang")
"""Faults after which the same request can be sent again; the others are odd replies, and the model's own."""

FAULTS = (*TRANSIENT, "empty", "null", "null-reasoning")
"""All faults."""

Chooser: TypeAlias = Callable[[bytes, int], "str | None"]
"""From the body of a request, and how often it came before, to the fault that it meets."""


def never(_body: bytes, _before: int) -> str | None:
    """Chooses no fault."""
    return None


def at_rate(rate: float, seed: int, kinds: Sequence[str] = TRANSIENT) -> Chooser:
    """Chooses a fault with this probability for each request.

    Args:
        rate: Probability, from 0 to 1.
        seed: Another seed is another choice.
        kinds: The faults, each as likely.

    Returns:
        The chooser: a function of the seed, the request, and how often it came.
    """

    def choose(body: bytes, before: int) -> str | None:
        key = hashlib.sha256(f"{seed}/{before}/".encode() + body).digest()
        share = int.from_bytes(key[:6], "big") / 2**48
        return kinds[int(share / rate * len(kinds))] if share < rate else None

    return choose


def in_order(*kinds: str | None) -> Chooser:
    """Chooses these faults for the first requests, whatever they are, and none for later ones."""
    left = list(kinds)
    return lambda body, before: left.pop(0) if left else None
