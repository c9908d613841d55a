"""Tables from TOML files that users write."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from mage_envs.errors import MageError


def read_table(path: Path, *, of: str = "") -> dict[str, Any]:
    """Reads a TOML file.

    Args:
        path: The file, in UTF-8.
        of: What it holds, for the message: ``prices``.

    Returns:
        The file's table.

    Raises:
        MageError: It cannot be read, or is not TOML.
    """
    what = f"{of} from {path}" if of else str(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MageError(f"cannot read {what}: {error.strerror}") from error
    except ValueError as error:
        raise MageError(f"{path} is not TOML: {error}") from error


def read_options(path: Path) -> dict[str, Any]:
    """Reads a TOML file of options, whose names may have ``-`` or ``_``. Returns them with ``_``.

    Raises:
        MageError: It cannot be read, is not TOML, or says an option in both ways.
    """
    found: dict[str, Any] = {}
    for name, value in read_table(path).items():
        field = name.replace("-", "_")
        if field in found:
            raise MageError(f"{path} says {field} twice, with - and with _: leave one out")
        found[field] = value
    return found
