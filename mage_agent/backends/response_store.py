"""Replies on disk, by key: an SQLite file that several processes may use at once, and that a kill leaves whole."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from pathlib import Path

from mage_agent.backends.base import BackendError, Completion

VERSION = 1
"""Of the table and of what a key is made of. Files of other versions are other files."""

NAME = f"responses-v{VERSION}.sqlite3"

PATIENCE = 30.0
"""Seconds to wait for another process that writes."""

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL, digest TEXT NOT NULL)"
_log = logging.getLogger(__name__)


class ResponseStore:
    """The file, open. Used by one thread at a time.

    Attributes:
        path: Where it is.
    """

    def __init__(self, folder: Path) -> None:
        """Opens the file in a folder, or makes both.

        Raises:
            BackendError: It cannot, or the file is damaged.
        """
        self.path = folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(self.path, PATIENCE, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise BackendError(f"cannot open the response cache {self.path}: {error}") from error
        try:
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")  # A power cut may lose the last replies, not the file.
            self._base.execute(_TABLE)
        except sqlite3.Error as error:
            self._base.close()
            raise self._unusable(error) from error

    def get(self, key: str) -> Completion | None:
        """Returns the reply under a key, marked as cached; None if there is none.

        Raises:
            BackendError: The file is damaged.
        """
        try:
            row = self._base.execute("SELECT reply, digest FROM replies WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        if row is None:
            return None
        reply, digest = row
        if digest != _digest(key, reply):
            raise self._unusable("a reply is not what was written")
        return Completion(*json.loads(reply))._replace(cached=True)

    def put(self, key: str, completion: Completion) -> None:
        """Keeps a reply, if there is none under the key. If it cannot be kept, that is logged: the reply is good."""
        reply = json.dumps(completion[:-1])
        try:
            self._base.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (key, reply, _digest(key, reply)))
        except sqlite3.Error as error:
            _log.warning("a reply is not kept in %s: %s", self.path, error)

    def close(self) -> None:
        """Closes the file."""
        self._base.close()

    def _unusable(self, reason: object) -> BackendError:
        return BackendError(
            f"the response cache {self.path} cannot be used: {reason}. If it is damaged, delete it: "
            "its replies will be asked for again"
        )


def _digest(key: str, reply: str) -> str:
    return hashlib.sha256(f"{key}\n{reply}".encode()).hexdigest()
