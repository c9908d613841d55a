"""Loading a model: whatever a library raises becomes one line with a remedy; the hub is asked first if it is there."""

from __future__ import annotations

import os
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from mage_agent.backends.base import BackendError
from mage_agent.backends.local_files import is_path

HUB = "https://huggingface.co"

LONGEST = 200
"""Most characters of a library's own message that are repeated."""

PATIENCE = 3.0
"""Seconds after which the hub counts as out of reach."""


@contextmanager
def loading(what: str, remedy: str) -> Iterator[None]:
    """Turns whatever is raised inside into one line.

    Args:
        what: What is loaded: "the model x".
        remedy: What to do if it fails.

    Raises:
        BackendError: Something was raised. One that is a BackendError stays as it is.
    """
    try:
        yield
    except BackendError:
        raise
    except Exception as error:  # A library raises what it likes: AssertionError, SafetensorError, ImportError …
        raise BackendError(f"cannot load {what}: {in_one_line(error)}. {remedy}") from error


def in_one_line(error: BaseException) -> str:
    r"""Returns what an error says, without line breaks and not too long; its type where it says nothing.

    >>> in_one_line(OSError("no such file:\n  x.json."))
    'no such file: x.json'
    >>> in_one_line(AssertionError())
    'AssertionError'
    """
    said = " ".join(str(error).split())
    short = said if len(said) <= LONGEST else f"{said[:LONGEST]} …"
    return short.rstrip(".: ") or type(error).__name__


def only_here(name: str) -> bool:
    """Whether a hub id must be looked for in what was downloaded earlier: the hub is out of reach, or asked to be.

    Asking once is quick; a library that finds out by itself tries for half a minute, and says so line by line.

    Args:
        name: Folder, or hub id.
    """
    if Path(name).is_dir() or is_path(name):
        return False
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return True
    address = urlsplit(os.environ.get("HF_ENDPOINT") or HUB)
    if address.hostname is None or _by_proxy(address.scheme, address.hostname):
        return False
    try:
        port = address.port or (80 if address.scheme == "http" else 443)
        socket.create_connection((address.hostname, port), timeout=PATIENCE).close()
    except (OSError, ValueError):
        return True
    return False


def remedy_for(name: str, offline: bool) -> str:
    """Returns what to do when a model or tokenizer does not load.

    Args:
        name: Folder, or hub id.
        offline: What :func:`only_here` says of it.
    """
    if Path(name).is_dir():
        return f"If files in {name} are damaged or incomplete, copy or download the folder again"
    folder = "a local folder that holds it, such as ./my-model"
    if is_path(name):
        return f"There is no such folder: name {folder}"
    if offline:
        return f"The hub is out of reach and it was not downloaded earlier: name {folder}, or go online"
    return f"Look at the hub id and the revision, or name {folder}"


def _by_proxy(scheme: str, host: str) -> bool:
    proxies = urllib.request.getproxies()
    return (scheme in proxies or "all" in proxies) and not urllib.request.proxy_bypass(host)


@contextmanager
def no_progress_bars() -> Iterator[None]:
    """Keeps the progress bars of transformers out of our own."""
    from transformers.utils import logging

    enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if enabled:
            logging.enable_progress_bar()
