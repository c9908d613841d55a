"""A private stream of the C library's ``random()``, so that C++ code which draws from it can be repeated.

``random()`` has one state for the whole process. :class:`PrivateRandom` owns another, and swaps it in for the length
of a ``with`` block: what runs inside draws from the private stream, and the process's own is as it was afterwards.
Blocks must not overlap between threads; hold :data:`LIBC_LOCK`. Streams are those of the platform's C library.
"""

from __future__ import annotations

import ctypes
import os
from threading import Lock
from types import TracebackType

from mage_envs.errors import MageError

_STATE_BYTES = 128  # The size that gives the additive generator that random() has by default.

# PyDLL keeps the interpreter lock, so that no other Python thread can draw between two of these calls' halves.
_LIBC = ctypes.PyDLL(None)
_LIBC.initstate.argtypes = (ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t)
_LIBC.initstate.restype = ctypes.c_void_p
_LIBC.setstate.argtypes = (ctypes.c_void_p,)
_LIBC.setstate.restype = ctypes.c_void_p

LIBC_LOCK = Lock()
"""Guards the process-wide state while a private stream is swapped in."""

# A fork while another thread holds the lock would leave the child locked for ever, with a foreign stream swapped in.
os.register_at_fork(before=LIBC_LOCK.acquire, after_in_parent=LIBC_LOCK.release, after_in_child=LIBC_LOCK.release)


class PrivateRandom:
    """One stream, seeded as ``srandom(seed)`` would."""

    def __init__(self, seed: int) -> None:
        """Seeds the stream; ``seed`` is in 0..2**32 - 1. Hold :data:`LIBC_LOCK`."""
        self._state = ctypes.create_string_buffer(_STATE_BYTES)
        self._outer: int | None = None
        _swap(_LIBC.initstate(seed, self._state, _STATE_BYTES))

    def __enter__(self) -> None:
        """Swaps the stream in."""
        self._outer = _swap(ctypes.addressof(self._state))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Swaps the process's own stream back in."""
        _swap(self._outer)


def _swap(state: int | None) -> int:
    previous = _LIBC.setstate(state) if state else None
    if not previous:
        raise MageError("the C library refused to change the state of random()")
    return int(previous)
