"""Loops that numba compiles if it is installed, and that are plain Python, with equal results, if it is not.

Modules of such loops are imported where they are first needed: numba takes half a second to import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

from mage_envs.cache import content_key

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compiles a function when it is first called, and keeps the code on disk where numba finds a folder for it.

    Args:
        function: Integer and float arithmetic on NumPy arrays; the functions that it calls are compiled ones.

    Returns:
        The compiled function; the function itself without numba.
    """
    if find_spec("numba") is None:
        return function
    import numba

    kernel: Any = numba.njit(nogil=True, error_model="numpy")(function)
    try:
        kernel.enable_caching()
        # numba looks at the time of the function's own file only; what is compiled into it may lie in others.
        kernel._cache._cache_file._source_stamp = _stamp(
            str(Path(sys.modules[function.__module__].__file__ or "").parent)
        )
    except (RuntimeError, AttributeError):  # No folder can be written, or this numba keeps files in another way.
        return cast("F", numba.njit(nogil=True, error_model="numpy")(function))
    return cast("F", kernel)


@cache
def _stamp(folder: str) -> str:
    """Returns a key of all code of a folder."""
    return content_key(*(file.read_bytes() for file in sorted(Path(folder).glob("*.py"))))
