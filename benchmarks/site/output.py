"""The files of a site: where they may go, what they are called, and data as scripts.

A page that was opened from the file system may not read other files, but it may add script tags. So data is a script
that hands one value to the page.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.panels import canonical_json
from mage_envs.errors import RecordError

DATA = "data"
ASSETS = "assets"
INDEX = "index.html"
MARKER = ".mage-site"
_READABLE = 40
_DIGEST = 12
_STATIC = files("benchmarks.site") / "static"


def prepare_folder(folder: Path) -> None:
    """Makes the folder of a site, or empties the one that an earlier build left.

    Args:
        folder: The folder. Of a site that is built anew everything but ``assets/``, ``data/`` and ``index.html`` stays.

    Raises:
        RecordError: It holds other files and no site, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not (folder / MARKER).exists():
            raise RecordError(f"{folder} is not empty and holds no site: choose another --out")
        (folder / MARKER).write_text("benchmark site builds this folder anew; what you add beside it stays.\n")
        for name in (DATA, ASSETS):
            if (folder / name).exists():
                shutil.rmtree(folder / name)
            (folder / name).mkdir()
        _copy_static(folder)
    except OSError as error:
        raise RecordError(f"cannot write the site into {folder}: {error.strerror}") from error


def safe_name(*parts: Any) -> str:
    """Derives a file name that no part can lead out of its folder, and that is unique to the parts.

    >>> safe_name("kuhn/train", "../../etc/passwd")
    'kuhn-train-etc-passwd-90fabb619100'
    """
    readable = re.sub(r"[^a-z0-9]+", "-", "-".join(map(str, parts)).lower())[:_READABLE].strip("-")
    digest = hashlib.sha256(canonical_json(list(parts)).encode()).hexdigest()[:_DIGEST]
    return f"{readable}-{digest}" if readable else digest


def write_data(folder: Path, name: str, value: Any) -> None:
    """Writes ``data/<name>.js``.

    Args:
        folder: The site.
        name: From :func:`safe_name`.
        value: A JSON value.

    Raises:
        RecordError: It cannot be written.
    """
    path = folder / DATA / f"{name}.js"
    try:
        path.write_text(f"MAGE.put({_script_json(name)}, {_script_json(value)});\n", encoding="ascii")
    except OSError as error:
        raise RecordError(f"cannot write {path}: {error.strerror}") from error


def _script_json(value: Any) -> str:
    """Writes JSON that is also a script, wherever it stands: ASCII, and with nothing that HTML could read as a tag."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _copy_static(folder: Path) -> None:
    for name, content in _static_files():
        (folder / (name if name == INDEX else f"{ASSETS}/{name}")).write_bytes(content)


def _static_files() -> Iterator[tuple[str, bytes]]:
    for entry in sorted(_STATIC.iterdir(), key=lambda entry: entry.name):
        yield entry.name, entry.read_bytes()
