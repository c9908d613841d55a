"""Values of fields from TOML files: what is no field is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mage_agent.grpo.config import DEFAULTS
from mage_agent.toml_files import read_options
from mage_envs.errors import MageError, near_matches


def check_names(names: Mapping[str, Any], where: str) -> None:
    """Refuses what is no field.

    Args:
        names: Values by name.
        where: Where they come from, for the message.

    Raises:
        MageError: One is not; near matches are listed.
    """
    for name in names:
        if name not in DEFAULTS:
            raise MageError(f"{where}: there is no field {name!r}. {near_matches(name, DEFAULTS)}")


def read_toml(path: Path) -> dict[str, Any]:
    """Reads a TOML file: fields, with ``-`` or ``_``, and perhaps ``preset``.

    Raises:
        MageError: It cannot be read, or says what is no field.
    """
    found = read_options(path)
    check_names({name: value for name, value in found.items() if name != "preset"}, str(path))
    return found
