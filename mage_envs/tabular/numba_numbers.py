"""The random numbers of :mod:`~mage_envs.tabular.streams` and :mod:`~mage_envs.games.chance` one by one, in numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite.ir import IntType
from numba.extending import intrinsic

from mage_envs.cache import content_key
from mage_envs.tabular.streams import MULTIPLIER_HIGH, MULTIPLIER_LOW

F = TypeVar("F", bound=Callable[..., Any])

_HIGH, _LOW = np.uint64(MULTIPLIER_HIGH), np.uint64(MULTIPLIER_LOW)
_ONE, _11, _58, _63, _64 = np.uint64(1), np.uint64(11), np.uint64(58), np.uint64(63), np.uint64(64)
_GAMMA, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31 = np.uint64(27), np.uint64(30), np.uint64(31)


# Without counting references to arrays, which took nine tenths of the time; so compiled code may make no arrays.
_OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False, "_nrt": False}
_njit: Any = numba.njit


def compiled(function: F) -> F:
    """Compiles a function when it is first called, and keeps the code on disk where numba finds a folder for it."""
    try:
        kernel = _njit(cache=True, **_OPTIONS)(function)
        # numba looks at the time of the function's own file only; what is compiled into it lies in others as well.
        kernel._cache._cache_file._source_stamp = _stamp()
    except (RuntimeError, AttributeError):  # No folder can be written, or this numba keeps files in another way.
        return cast("F", _njit(**_OPTIONS)(function))
    return cast("F", kernel)


def inlined(function: F) -> F:
    """Compiles a function as a part of those that call it."""
    return cast("F", _njit(forceinline=True, **_OPTIONS)(function))


@cache
def _stamp() -> str:
    """Returns a key of all code of this folder."""
    return content_key(*(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py"))))


def _high_product(_context: Any, _one: Any, _other: Any) -> Any:
    """Returns the high 64 bits of the product of two 64-bit numbers: one instruction, which Python has no word for."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = [builder.zext(argument, IntType(128)) for argument in arguments]
        shifted = builder.lshr(builder.mul(*wide), IntType(128)(64))
        return builder.trunc(shifted, IntType(64))

    return numba.uint64(numba.uint64, numba.uint64), generate


high_product: Any = intrinsic(_high_product)


@inlined
def splitmix64(seed: np.uint64, index: np.uint64) -> np.uint64:
    """Returns output number ``index`` (from 0) of the SplitMix64 stream of a seed."""
    z = seed + (index + _ONE) * _GAMMA
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


@inlined
def to_uniform(word: np.uint64) -> float:
    """Returns the number in [0, 1) that 64 random bits give."""
    return np.int64(word >> _11) * 2.0**-53


@inlined
def next_word(stream: Any) -> Any:
    """Draws 64 random bits of a stream, the record of its four words, and advances it: PCG64."""
    high, low = advanced(stream.high, stream.low, stream.increment_high, stream.increment_low)
    stream.high, stream.low = high, low
    return output(high, low)


@inlined
def advanced(high: np.uint64, low: np.uint64, increment_high: np.uint64, increment_low: np.uint64) -> Any:
    """Returns the next state of a PCG64 stream, its high and its low half."""
    product, total = low * _LOW, low * _LOW + increment_low
    carried = high_product(low, _LOW) + np.uint64(total < product)
    return carried + high * _LOW + low * _HIGH + increment_high, total


@inlined
def output(high: np.uint64, low: np.uint64) -> Any:
    """Returns the 64 random bits that a state of PCG64 stands for."""
    folded, turn = high ^ low, high >> _58
    return folded >> turn | folded << ((_64 - turn) & _63)
