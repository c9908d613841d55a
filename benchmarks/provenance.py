"""Where a run was made: commit, versions of packages, facts of the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import benchmarks

PACKAGES = ("mage-envs", "open_spiel", "numpy")
"""Packages whose version can change a result: a run is not resumed with others."""


def package_versions() -> dict[str, str]:
    """Returns the versions of the packages that compute results."""
    return {name: version(name) for name in PACKAGES}


def host_facts() -> dict[str, str]:
    """Returns what is worth knowing of the machine; no name of a person or host."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "cpus": str(os.cpu_count()),
    }


def commit() -> str:
    """Returns the commit of the checkout that this code runs from.

    Returns:
        The hash, followed by ``+`` if files of the packages differ from it; ``unknown`` if git cannot tell; empty for
        an installed wheel.
    """
    root = Path(benchmarks.__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return ""
    try:
        head = _git(root, "rev-parse", "HEAD")
        changed = _git(root, "status", "--porcelain", "--", "benchmarks", "mage_agent", "mage_envs")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + "+" * bool(changed)


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()
