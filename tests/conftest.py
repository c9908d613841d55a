"""Settings of all tests: property tests draw the same examples everywhere, and a slow machine does not fail them."""

from __future__ import annotations

import os
import tempfile

from hypothesis import settings

settings.register_profile("mage", deadline=None, derandomize=True)
settings.load_profile("mage")

# One thread for torch: with a busy neighbour two are slower by several times. Models come from this disk only.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

# What tests keep on disk is this run's own: the first process makes the folder, those that it starts inherit it.
if "MAGE_CACHE" not in os.environ:
    _cache = tempfile.TemporaryDirectory(prefix="mage-cache-")
    os.environ["MAGE_CACHE"] = _cache.name
