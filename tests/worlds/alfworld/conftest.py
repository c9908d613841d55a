from __future__ import annotations

from pathlib import Path

import pytest

from tests.worlds.alfworld.pack import ARCHIVE, PACK, unpacked


@pytest.fixture(scope="session")
def alfworld_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the published games, in ALFWorld's own layout."""
    if not ARCHIVE.is_file():
        pytest.skip(f"the published ALFWorld games are not at {PACK}: set MAGE_ALFWORLD_PACK")
    return unpacked(tmp_path_factory.mktemp("alfworld"))
