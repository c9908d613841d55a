"""A strategy from a file: JSON that maps information states to the probabilities of actions.

``{"0": {"pass": 0.7, "bet": 0.3}, "0pb": {"pass": 1.0}, ...}`` is the beginning of one for Kuhn poker. A key is
``View.key``, which is OpenSpiel's information-state string (for Tic-Tac-Toe and Connect Four the board as OpenSpiel
prints it). An action is a name that the environment takes, or an OpenSpiel id; what is left out has probability 0.
States that the file lacks may exist as long as they are never met: a table for one seat is enough to play that seat.
A file is read once a process.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mage_envs.errors import MageError, SpecError, near_matches
from mage_envs.games import GameSpec, View, fold
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent

Entry: TypeAlias = Mapping[str, float]

_TOLERANCE = 1e-6


class Tabular(Opponent):
    """Plays the probabilities of a JSON file."""

    summary = "plays the probabilities that a JSON file lists for each information state"

    def __init__(self, game: GameSpec, path: str) -> None:
        """Reads the file.

        Args:
            game: The game that the file is for.
            path: Of the file, relative to the working directory.

        Raises:
            SpecError: The file cannot be read, or an entry is not a distribution; the message names file and key.
        """
        super().__init__(game)
        if not isinstance(path, str):
            raise SpecError(f"path must be the quoted name of a JSON file, got {path!s}")
        self._path = path
        self._entries, self._digest = _read(Path(path))
        self._known: dict[str, Distribution] = {}

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Looks the information state up.

        Raises:
            MageError: The file has no entry for it, or one with an action that is not legal there.
        """
        found = self._known.get(view.key)
        if found is None:
            found = self._known[view.key] = self._distribution(view)
        return found, memory

    def describe(self) -> str:
        """Adds what the file held when it was read."""
        return f"{super().describe()}; {len(self._entries)} states, sha256 {self._digest[:16]}"

    def _distribution(self, view: View) -> Distribution:
        entry = self._entries.get(view.key)
        if entry is None:
            raise MageError(f"{self._path} has no entry for {view.key!r} of {self.game.name!r}; it has "
                            f"{len(self._entries)}, such as {next(iter(self._entries))!r}")  # fmt: skip
        chances = dict.fromkeys(view.legal, 0.0)
        for name, probability in entry.items():
            action = view.spellings.get(fold(name), int(name) if name.isdecimal() else None)
            if action not in chances:
                raise MageError(f"{self._path}, entry {view.key!r}: {name!r} is not legal there. "
                                f"{near_matches(name, view.names)}")  # fmt: skip
            chances[action] += probability
        return tuple(chances.values())


def _read(path: Path) -> tuple[Mapping[str, Entry], str]:
    try:
        data = path.read_bytes()
        entries = json.loads(data, object_pairs_hook=_no_doubles)
    except OSError as error:
        raise SpecError(f"cannot read the table {str(path)!r}: {error.strerror}; path is relative to "
                        f"{str(Path.cwd())!r}") from error  # fmt: skip
    except ValueError as error:
        raise SpecError(f"the table {str(path)!r} is no JSON: {error}") from error
    if not isinstance(entries, dict) or not entries:
        raise SpecError(f"the table {str(path)!r} must be a JSON object from information states to probabilities")
    for key, entry in entries.items():
        if problem := _problem(entry):
            raise SpecError(f"the table {str(path)!r}, entry {key!r}: {problem}")
    return entries, hashlib.sha256(data).hexdigest()


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands there twice")
    return found


def _problem(entry: object) -> str:
    """Says what keeps an entry from being a distribution; empty if nothing does."""
    if not isinstance(entry, dict):
        return f"must map actions to probabilities, got {entry!r}"
    for action, p in entry.items():
        if isinstance(p, bool) or not isinstance(p, int | float) or not 0.0 <= p <= 1.0:
            return f"the probability of {action!r} must be a number in 0..1, got {p!r}"
    total = math.fsum(entry.values())
    return "" if abs(total - 1.0) <= _TOLERANCE else f"the probabilities must add up to 1, they add up to {total:g}"


OPPONENTS.register("tabular", Tabular)
