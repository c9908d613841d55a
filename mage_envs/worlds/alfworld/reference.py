"""TextWorld itself as the engine, in a process of its own: slow, and to compare with only.

``engine="textworld"`` plays a game there. It needs a Python that has ``textworld`` and ``alfworld``: this one, or the
one that ``$MAGE_TEXTWORLD_PYTHON`` names, so that their many requirements need not be installed here. A state is the
game and the commands so far; the process goes on where it is asked to go on, and plays from the start where it is not.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import weakref
from functools import cache
from pathlib import Path

from mage_envs.errors import MageError
from mage_envs.worlds.alfworld.game import Game
from mage_envs.worlds.alfworld.layout import Layout
from mage_envs.worlds.alfworld.writer import write_game

SIDE = Path(__file__).with_name("textworld_side.py")
"""The program of the process."""

_REMEDY = (
    "install textworld==1.7.0 and alfworld==0.4.2 (make parity-alfworld makes .venv-alfworld with them), and name that "
    "Python in MAGE_TEXTWORLD_PYTHON"
)


class TextWorldState:
    """Where a game stands in TextWorld; used as :class:`~mage_envs.worlds.alfworld.State` is.

    Attributes:
        game: The same game in our engine, for its names and its task.
        text: What the player was told last.
        won: Whether the goal is reached.
    """

    __slots__ = ("_commands", "_dialect", "_file", "_possible", "game", "text", "won")

    def __init__(self, game: Game, file: Path, dialect: str) -> None:
        """Makes the first state of a game.

        Args:
            game: The game in our engine.
            file: Its file.
            dialect: ``"0.3"`` or ``"0.4"``, or ``"own"``: as the file says.

        Raises:
            MageError: TextWorld does not run; the message says what it needs.
        """
        self.game, self._file, self._dialect = game, str(file), dialect
        self._commands: tuple[str, ...] = ()
        self._ask()

    def step(self, command: str) -> str:
        """Carries out a command; returns the feedback, which is also :attr:`text`."""
        self._commands = (*self._commands, command)
        self._ask()
        return self.text

    def admissible(self) -> list[str]:
        """Returns the commands that are possible, sorted."""
        return list(self._possible)

    def copy(self) -> TextWorldState:
        """Returns a state that goes on by itself."""
        twin = TextWorldState.__new__(TextWorldState)
        for name in self.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin

    def _ask(self) -> None:
        self.text, self._possible, self.won = _process(os.getpid()).ask(self._file, self._dialect, self._commands)


def written(layout: Layout, number: int, dialect: str) -> Path:
    """Returns the file of a made household, which is written until this process ends."""
    file = Path(_folder(os.getpid()).name) / f"{number}-{dialect}.tw-pddl"
    if not file.exists():
        write_game(layout, file, dialect)
    return file


@cache
def _folder(_: int) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mage-alfworld-")


@cache
def _process(_: int) -> _Process:
    """Returns the process of one of ours, by its id: a fork gets its own, since a pipe has one reader."""
    return _Process()


class _Process:
    """A process that plays in TextWorld."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._python = os.environ.get("MAGE_TEXTWORLD_PYTHON") or sys.executable
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        try:
            self._running = subprocess.Popen(
                [self._python, str(SIDE)], stdin=pipe, stdout=pipe, stderr=nowhere, text=True
            )
        except OSError as error:
            raise MageError(f"TextWorld does not run in {self._python!r} ({error.strerror}): {_REMEDY}") from error
        self.close = weakref.finalize(self, _end, self._running)

    def ask(self, file: str, dialect: str, commands: tuple[str, ...]) -> tuple[str, list[str], bool]:
        """Returns what TextWorld says after some commands: feedback, possible commands, whether the game is won."""
        running = self._running
        assert running.stdin is not None
        assert running.stdout is not None
        with self._lock:
            try:
                running.stdin.write(json.dumps({"file": file, "dialect": dialect, "commands": commands}) + "\n")
                running.stdin.flush()
                answer = running.stdout.readline()
            except (BrokenPipeError, ValueError):  # It has ended, or was closed.
                answer = ""
        if not answer:
            self.close()
            _process.cache_clear()  # The next one may find what this one did not.
            raise MageError(f"TextWorld does not run in {self._python!r}: {_REMEDY}")
        feedback, possible, won = json.loads(answer)[-1]
        return feedback, possible, won


def _end(running: subprocess.Popen[str]) -> None:
    """Ends a process: it stops when it is asked nothing more."""
    assert running.stdin is not None
    assert running.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        running.stdin.close()
    running.stdout.close()
    running.wait()
