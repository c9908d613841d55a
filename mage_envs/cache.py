"""What costs time to compute and never changes, kept on disk: arrays under a content key.

A file is an uncompressed NumPy archive, read without pickle, written beside its place and moved there in one step. So
a kill leaves the old file or none, several processes may write at once, and a file from elsewhere cannot run code.
The folder is the environment variable ``MAGE_CACHE``, else the user's cache folder; ``MAGE_CACHE=off`` keeps nothing.
Deleting the folder is safe.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import platformdirs

T = TypeVar("T")
Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

VARIABLE = "MAGE_CACHE"
_log = logging.getLogger(__name__)


def folder() -> Path | None:
    """Returns the folder of the cache, which need not exist; None if nothing is to be kept."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.casefold() == "off":
        return None
    return Path(chosen) if chosen else platformdirs.user_cache_path("mage-envs", appauthor=False)


def content_key(*parts: str | bytes) -> str:
    """Returns one key for everything that decides a content: 32 hexadecimal digits.

    >>> content_key("a", "bc") == content_key("ab", "c")
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:32]


def load(kind: str, key: str, decode: Callable[[Arrays], T]) -> T | None:
    """Reads what :func:`store` wrote.

    Args:
        kind: Names the sort of content in the file's name.
        key: From :func:`content_key`.
        decode: From the arrays by name to the content. What it raises means that they are not what they should be.

    Returns:
        The content; None if there is none, or the file is damaged (which is logged).
    """
    path = _path(kind, key)
    if path is None:
        return None
    try:
        with path.open("rb") as file, np.lib.npyio.NpzFile(file, own_fid=False, allow_pickle=False) as archive:
            return decode(dict(archive))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except Exception as error:  # noqa: BLE001 -- a damaged file fails in any way, and what it held can be made again
        _log.warning("%s is damaged and will be written anew: %s: %s", path, type(error).__name__, error)
        return None


def store(kind: str, key: str, arrays: Arrays) -> None:
    """Writes arrays, whole or not at all. A folder that cannot be written is logged, and nothing is kept."""
    path = _path(kind, key)
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        _log.warning("nothing is kept on disk: %s. Set %s to a folder that can be written", error, VARIABLE)


def _path(kind: str, key: str) -> Path | None:
    place = folder()
    return None if place is None else place / f"{kind}-{key}.npz"
