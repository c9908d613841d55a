"""The characters of observations."""

from __future__ import annotations

from mage_envs.charset import CHARSET, printable


def test_observations_have_no_character_that_their_space_has_not() -> None:
    """Among them control characters, tabs and line ends, alone and in a text."""
    for char in [*map(chr, range(0x3000)), "\U0001f600", "\ud800"]:
        for text in (char, f"a{char}\nb"):
            assert (printable(text) == text) == (char in CHARSET)
            assert set(printable(text)) <= set(CHARSET)
