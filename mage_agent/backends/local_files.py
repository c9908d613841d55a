"""Where a local model's files are, and which weights they hold: for backends that load a model themselves."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from mage_agent.backends.base import BackendError

FINGERPRINT_LENGTH = 16

_HASHED = ("*.safetensors", "*.json", "*.jinja", "*.model")
"""Weights, configuration, tokenizer and chat template: all that decides what a model answers."""


def need(what: str, extra: str, *modules: str) -> None:
    """Makes sure that modules are installed.

    Raises:
        BackendError: One is not; the message has the command that installs it.
    """
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise BackendError(f"{what} needs {', '.join(missing)}: not installed; pip install 'mage-envs[{extra}]'")


def is_path(name: str) -> bool:
    """Whether a name can only be that of a folder, and is no hub id: ``name`` or ``owner/name``."""
    return name.startswith(("/", ".", "~")) or name.count("/") > 1 or "\\" in name


def local_folder(model: str) -> Path | None:
    """Returns the folder that a model's name means; None if it is a hub id, ``name`` or ``owner/name``.

    Raises:
        BackendError: The name can only be a folder, and there is none; or the folder holds no model.
    """
    folder = Path(model).expanduser()
    if not folder.is_dir():
        if is_path(model):
            raise BackendError(f"there is no folder {folder}: name a folder that holds a model, or a hub id")
        return None
    if not (folder / "config.json").is_file():
        raise BackendError(f"{folder} holds no config.json: name the folder that a model was saved to")
    if not any(folder.glob("*.safetensors")):
        raise BackendError(
            f"{folder} holds no *.safetensors, and other weights are not loaded, as they can run code: "
            "load the model with transformers where you trust it, and save it with save_pretrained"
        )
    return folder


def fingerprint(folder: Path) -> str:
    """Returns the first 16 hexadecimal digits of a SHA-256 over the model's files: names and contents.

    It reads every byte, about a second for a gigabyte, which warms the disk's cache for the loading that follows.
    """
    total = hashlib.sha256()
    for file in sorted({file for pattern in _HASHED for file in folder.glob(pattern) if file.is_file()}):
        with file.open("rb") as opened:
            total.update(f"{file.name}\0{hashlib.file_digest(opened, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()[:FINGERPRINT_LENGTH]


def revision_of(folder: Path, asked: str) -> str:
    """Returns a folder's fingerprint.

    Args:
        folder: The folder of a model.
        asked: The revision that the settings ask for; empty: any.

    Raises:
        BackendError: The folder holds another one.
    """
    found = fingerprint(folder)
    if asked and asked != found:
        raise BackendError(
            f"{folder} holds revision {found}, and not {asked}: leave --revision out, or name what is there"
        )
    return found
