"""SplitMix64 against its published stream, and as numbers in [0, 1)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_envs.games.chance import chance_uniform, chance_uniforms, splitmix64

REFERENCE = (
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
)
"""First outputs for seed 1234567 (Rosetta Code, from S. Vigna's splitmix64.c)."""


@pytest.mark.parametrize(("index", "output"), list(enumerate(REFERENCE)))
def test_reference_stream(index: int, output: int) -> None:
    assert splitmix64(1234567, index) == output


@given(st.integers(0, 2**64 - 1), st.integers(0, 10_000))
def test_uniform_is_in_range(instance: int, index: int) -> None:
    assert 0.0 <= chance_uniform(instance, index) < 1.0


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1) | st.integers(0, 100))))
def test_arrays_give_the_same(pairs: list[tuple[int, int]]) -> None:
    instances, events = np.array(pairs, np.uint64).reshape(-1, 2).T
    assert chance_uniforms(instances, events).tolist() == [chance_uniform(*pair) for pair in pairs]


def test_instances_against_one_event_number_and_several() -> None:
    instances = np.arange(50) * 2**47
    assert chance_uniforms(instances, np.array(3)).tolist() == [chance_uniform(k, 3) for k in instances.tolist()]
    table = chance_uniforms(instances[:, None], np.arange(4))
    assert table.tolist() == [[chance_uniform(k, event) for event in range(4)] for k in instances.tolist()]
