"""Settings of all tests: property tests draw the same examples everywhere, and a slow machine does not fail them."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("mage", deadline=None, derandomize=True)
settings.load_profile("mage")
