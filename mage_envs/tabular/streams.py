"""The random numbers of thousands of environments at once: bit for bit those of ``numpy.random.default_rng(seed)``.

A stream is PCG64, the 128-bit generator "XSL-RR" of the PCG family (M. E. O'Neill, HMC-CS-2014-0905, 2014), with the
state that NumPy's ``SeedSequence``, which follows her ``seed_seq``, makes of a seed. Streams are one array of unsigned
64-bit words, shape ``(4, n)``; its rows are the high and low halves of the state, then those of the increment:

    state' = state * MULTIPLIER + increment                  modulo 2**128
    output = (high ^ low) rotated right by high >> 58        of the new state
    double = (output >> 11) * 2**-53

Check: the first double of seed 0 is 0.6369616873214543; O'Neill's ``pcg64`` demo, started at (42, 54), puts out
0x86b1da1d72062b68 first.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_integer
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint64]
HalfWords: TypeAlias = npt.NDArray[np.uint32]
Seeds: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
Selection: TypeAlias = npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_] | slice

U = np.uint64
"""Words meet unsigned constants only: mixed with signed ones, type checkers and Numba make signed or floats of them."""

MULTIPLIER_HIGH, MULTIPLIER_LOW = U(2549297995355413924), U(4865540595714422341)
UNIT = np.float64(2.0**-53)

# SeedSequence: starts and multipliers of the two hashes, and how two words are mixed.
_POOL = 4
_HASH_A, _HASH_B = (0x43B0D7E5, 0x931E8875), (0x8B51F9DD, 0x58F38DED)
_MIX_LEFT, _MIX_RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)

_MASK_32, _MASK_64 = U((1 << 32) - 1), (1 << 64) - 1
_LOW_32, _HIGH_32 = MULTIPLIER_LOW & _MASK_32, MULTIPLIER_LOW >> U(32)


def seeded(seeds: Seeds) -> Words:
    """Returns a stream for each seed, as ``numpy.random.default_rng(seed)`` starts it.

    Args:
        seeds: Integers in 0..2**128 - 1, shape ``(n,)``. Arrays and ranges below 2**64 are the fast way.

    Returns:
        Streams, shape ``(4, n)``.

    Raises:
        ValueError: A seed is out of range, or the array has another shape.
    """
    low, high = _halves(seeds)
    words = [(half >> U(shift)).astype(np.uint32) for half in (low, high) for shift in (0, 32)]
    return started(*_generate_state(_mix_entropy(words)))


def started(state_high: Words, state_low: Words, sequence_high: Words, sequence_low: Words) -> Words:
    """Returns PCG64 streams with given initial states and sequence numbers (PCG's ``srandom``)."""
    streams = np.zeros((4, len(state_high)), np.uint64)
    streams[2] = sequence_high << U(1) | sequence_low >> U(63)  # The increment is odd: 2 * sequence + 1.
    streams[3] = sequence_low << U(1) | U(1)
    streams[:2] = _sum(streams[2], streams[3], state_high, state_low)  # A step from state 0 leads to the increment.
    streams[:2] = _step(*streams)
    return streams


def draw(streams: Words, which: Selection = slice(None)) -> npt.NDArray[np.float64]:
    """Draws the next number in [0, 1) of some streams, and advances these, in place.

    Args:
        streams: All streams, shape ``(4, n)``.
        which: Indices (none of them twice), a mask or a slice; all streams if it is left out.

    Returns:
        One number for each selected stream, in the order of the selection.
    """
    return (draw_words(streams, which) >> U(11)) * UNIT


def draw_words(streams: Words, which: Selection = slice(None)) -> Words:
    """Draws 64 random bits of some streams; see :func:`draw`."""
    state = _step(*streams[:, which])
    streams[0, which], streams[1, which] = state
    return _output(*state)


# PCG64 on halves. All of it is modulo 2**64, which arrays of unsigned words are by themselves.


def _step(high: Words, low: Words, increment_high: Words, increment_low: Words) -> tuple[Words, Words]:
    product_high = _carried(low) + high * MULTIPLIER_LOW + low * MULTIPLIER_HIGH
    return _sum(product_high, low * MULTIPLIER_LOW, increment_high, increment_low)


def _output(high: Words, low: Words) -> Words:
    folded, turn = high ^ low, high >> U(58)
    turned: Words = folded >> turn
    turned |= folded << ((U(64) - turn) & U(63))
    return turned


def _carried(low: Words) -> Words:
    """Returns the high half of the 128-bit product ``low * MULTIPLIER_LOW``: long multiplication with 32-bit digits."""
    units, tens = low & _MASK_32, low >> U(32)
    middle = tens * _LOW_32 + (units * _LOW_32 >> U(32))
    other = units * _HIGH_32 + (middle & _MASK_32)
    carried: Words = tens * _HIGH_32 + (middle >> U(32)) + (other >> U(32))
    return carried


def _sum(high: Words, low: Words, more_high: Words, more_low: Words) -> tuple[Words, Words]:
    total = low + more_low
    carry = (total < low).astype(np.uint64)
    return high + more_high + carry, total


# SeedSequence on arrays of 32-bit words.


def _halves(seeds: Seeds) -> tuple[Words, Words]:
    """Returns the low and the high 64 bits of each seed."""
    if isinstance(seeds, np.ndarray) and seeds.dtype.kind in "iu":
        if seeds.ndim != 1:
            raise ValueError(f"seeds must have shape (n,), got {seeds.shape}")
        _check(seeds.min(initial=0), 0)
        return seeds.astype(np.uint64), np.zeros(len(seeds), np.uint64)
    if isinstance(seeds, range) and seeds and 0 <= min(seeds[0], seeds[-1]) <= max(seeds[0], seeds[-1]) <= _MASK_64:
        steps = np.arange(len(seeds), dtype=np.uint64) * U(seeds.step & _MASK_64)
        return steps + U(seeds.start), np.zeros(len(seeds), np.uint64)
    whole = [as_integer(seed) for seed in seeds]
    _check(min(whole, default=0), max(whole, default=0))
    low = np.array([seed & _MASK_64 for seed in whole], np.uint64)
    return low, np.array([seed >> 64 for seed in whole], np.uint64)


def _check(least: int, most: int) -> None:
    for seed in (least, most):
        if not 0 <= seed < 1 << 128:
            raise ValueError(f"seeds must be in 0..2**128 - 1, got {seed}")


class _Hash:
    """A hash of words whose constant changes with every use, in the same way for all streams."""

    def __init__(self, start: int, multiplier: int) -> None:
        self._constant, self._multiplier = start, multiplier

    def __call__(self, words: HalfWords) -> HalfWords:
        words = words ^ np.uint32(self._constant)
        self._constant = self._constant * self._multiplier & 0xFFFFFFFF
        return _folded(words * np.uint32(self._constant))


def _folded(words: HalfWords) -> HalfWords:
    return words ^ words >> np.uint32(16)


def _mix_entropy(words: list[HalfWords]) -> list[HalfWords]:
    """Returns the pool, in which every word depends on every word of the seed."""
    hashed = _Hash(*_HASH_A)
    pool = [hashed(word) for word in words]
    for source in range(_POOL):
        for target in range(_POOL):
            if source != target:
                pool[target] = _folded(pool[target] * _MIX_LEFT - hashed(pool[source]) * _MIX_RIGHT)
    return pool


def _generate_state(pool: list[HalfWords]) -> list[Words]:
    """Returns four 64-bit words, the low half of each first."""
    hashed = _Hash(*_HASH_B)
    halves = [hashed(word).astype(np.uint64) for word in pool * 2]
    return [low | high << U(32) for low, high in zip(halves[::2], halves[1::2], strict=True)]
