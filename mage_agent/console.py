"""Where the command ``mage-agent`` writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import shutil

from rich.console import Console

WIDTH = min(100, shutil.get_terminal_size((100, 24)).columns)

out = Console(width=WIDTH, highlight=False)
err = Console(width=WIDTH, highlight=False, stderr=True)
