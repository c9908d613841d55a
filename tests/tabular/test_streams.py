"""Streams on arrays against NumPy's own generators, one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_envs.tabular.streams import draw, draw_words, seeded, started

EDGES = [0, 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**64, 2**96, 2**127, 2**128 - 1]


def generators(seeds: Sequence[int]) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in seeds]


def test_the_stated_numbers() -> None:
    assert draw(seeded([0])).tolist() == [0.6369616873214543]
    zero = np.zeros(1, np.uint64)
    demo = started(zero, zero + 42, zero, zero + 54)
    published = [0x86B1DA1D72062B68, 0x1304AA46C9853D39, 0xA3670E9E0DD50358, 0xF9090E529A7DAE00, 0xC85B9FD837996F2C]
    assert [int(draw_words(demo)[0]) for _ in published] == published  # pcg-c, test-high/expected/check-pcg64


@given(st.lists(st.integers(0, 2**128 - 1) | st.integers(0, 2**64 - 1) | st.sampled_from(EDGES), max_size=20))
def test_the_state_is_numpys(seeds: list[int]) -> None:
    streams = seeded(seeds)
    assert (streams.shape, streams.dtype) == ((4, len(seeds)), np.uint64)
    for column, rng in zip(streams.T.tolist(), generators(seeds), strict=True):
        state = rng.bit_generator.state["state"]
        assert column == [part for word in (state["state"], state["inc"]) for part in (word >> 64, word & (2**64 - 1))]


def test_thousands_of_draws() -> None:
    streams = seeded(EDGES)
    drawn = np.array([draw(streams) for _ in range(5_000)])
    for rng, column in zip(generators(EDGES), drawn.T, strict=True):
        assert (column == rng.random(5_000)).all()


def test_only_what_is_selected_advances() -> None:
    seeds, rng = range(500), np.random.default_rng(2**40)
    streams, own = seeded(seeds), generators(seeds)
    for _ in range(50):
        which = rng.permutation(500)[: rng.integers(501)]
        assert draw(streams, which).tolist() == [own[k].random() for k in which]
        mask = rng.random(500) < 0.3
        assert draw(streams, mask).tolist() == [own[k].random() for k in np.flatnonzero(mask)]
    assert draw(streams, slice(10, 20)).tolist() == [each.random() for each in own[10:20]]
    assert draw(streams).tolist() == [each.random() for k, each in enumerate(own)]


@pytest.mark.parametrize(
    "seeds",
    [
        range(7, 2000, 3),
        range(2000, -1, -7),
        range(2**64 - 4, 2**64),
        range(2**64 - 1, 0, -(2**62)),
        range(2**64 - 4, 2**64 + 4),
        range(0),
        np.arange(5, dtype=np.uint8),
        np.array([0, 2**63 - 1]),
        np.array([2**64 - 1], np.uint64),
        np.array([3, 2**100], object),
        [np.int64(4), 5],
    ],
)
def test_whatever_holds_the_seeds(seeds: Sequence[int]) -> None:
    assert draw(seeded(seeds)).tolist() == [rng.random() for rng in generators([int(seed) for seed in seeds])]


@pytest.mark.parametrize("seeds", [[0, -1], [2**128], range(-1, 5), np.array([3, -5]), np.array([2**200], object)])
def test_seeds_out_of_range(seeds: Sequence[int]) -> None:
    with pytest.raises(ValueError, match=r"seeds must be in 0\.\.2\*\*128 - 1, got"):
        seeded(seeds)


def test_seeds_of_another_kind() -> None:
    with pytest.raises(ValueError, match=r"seeds must have shape \(n,\), got \(2, 2\)"):
        seeded(np.zeros((2, 2), int))
    with pytest.raises(TypeError):
        seeded([1.5])  # type: ignore[list-item]
