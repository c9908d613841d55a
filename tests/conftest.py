"""Settings of all tests: property tests draw the same examples everywhere, and a slow machine does not fail them."""

from __future__ import annotations

import os
import tempfile

from hypothesis import settings

settings.register_profile("mage", deadline=None, derandomize=True)
settings.load_profile("mage")

# What tests keep on disk is this run's own: the first process makes the folder, those that it starts inherit it.
if "MAGE_CACHE" not in os.environ:
    _cache = tempfile.TemporaryDirectory(prefix="mage-cache-")
    os.environ["MAGE_CACHE"] = _cache.name
