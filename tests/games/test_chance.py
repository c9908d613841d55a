"""SplitMix64 against its published stream, and as numbers in [0, 1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_envs.games.chance import chance_uniform, splitmix64

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
