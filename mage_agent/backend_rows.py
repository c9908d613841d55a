"""What backends there are, in the words of their files."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from mage_agent.backends.base import BACKENDS

_NAME = re.compile(r"^(The backend )?``\w+``: ")


def backend_rows() -> Iterator[tuple[str, str]]:
    """Yields for every backend its name and what it is: the first line of the file that registers it."""
    for name in BACKENDS:
        told = sys.modules[BACKENDS.get(name).__module__].__doc__ or ""
        yield name, _NAME.sub("", told.split("\n", maxsplit=1)[0]).replace("``", "")
