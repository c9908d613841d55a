"""Which arithmetic a batch uses: numba's if it is installed, else NumPy's. Both give the same."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import cast

from mage_envs.errors import MageError
from mage_envs.tabular.batch_arrays import Backend

BACKENDS = ("auto", "numba", "numpy")


def load_backend(name: str) -> Backend:
    """Imports a backend, and numba with it only here.

    Args:
        name: One of ``BACKENDS``.

    Raises:
        MageError: numba was asked for and is not installed.
    """
    installed = find_spec("numba") is not None
    if name == "numba" and not installed:
        raise MageError("backend='numba' needs numba: pip install 'mage-envs[fast]', or use backend='numpy'")
    chosen = "numba" if name != "numpy" and installed else "numpy"
    return cast("Backend", import_module(f"mage_envs.tabular.batch_{chosen}"))
