"""The other side of the reference engine: plays commands in TextWorld, where textworld and alfworld are installed.

It imports nothing of this project. A line of standard input is a job: ``{"file": …, "dialect": …, "commands": […]}``.
Each line of standard output is what TextWorld said to it: ``[[feedback, admissible commands, won], …]``, the intro
first. A file in dialect 0.4 is played with the domain and grammar of the installed alfworld, one in ``"own"`` as it is.
A job that goes on where the last one ended is not played from the start again.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

Told = tuple[str, list[str], bool]


class Player:
    """Plays jobs one after the other, and keeps the last game."""

    def __init__(self) -> None:
        """Has no game yet."""
        self._game: tuple[str, str] = ("", "")
        self._env: Any = None
        self._commands: list[str] = []
        self._told: list[Told] = []

    def play(self, file: str, dialect: str, commands: list[str]) -> list[Told]:
        """Plays commands from the start of a game."""
        if (file, dialect) != self._game:
            self._env, self._game, self._told = _load(file, dialect), (file, dialect), []
        if not self._told or commands[: len(self._commands)] != self._commands:
            self._told, self._commands = [_told(self._env.reset())], []
        for command in commands[len(self._commands) :]:
            self._told.append(_told(self._env.step(command)[0]))
            self._commands.append(command)
        return self._told


def main() -> None:
    """Answers jobs until there are none."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # TextWorld and its planner print.
    player = Player()
    for line in sys.stdin:
        job = json.loads(line)
        out.write(json.dumps(player.play(job["file"], job["dialect"], job["commands"])) + "\n")
        out.flush()


def _load(file: str, dialect: str) -> Any:
    textworld = import_module("textworld")
    names = import_module("alfworld.agents.environment.alfred_tw_env").AlfredDemangler
    infos = textworld.EnvInfos(admissible_commands=True, won=True)
    with tempfile.TemporaryDirectory() as folder:
        path = file if dialect == "own" else _translated(file, dialect, Path(folder))
        return textworld.start(path, infos, wrappers=[names()])


def _told(state: Any) -> Told:
    return state["feedback"], state["admissible_commands"], bool(state["won"])


def _translated(file: str, dialect: str, folder: Path) -> str:
    """Writes a published file in a dialect; the files of 2.1.1 are in 0.3."""
    if dialect == "0.3":
        return file
    data = Path(str(import_module("alfworld").__file__)).parent / "data"
    held = json.loads(Path(file).read_text(encoding="utf-8"))
    task = held["grammar"].split("Your task is to: ", 1)[1].split('"', 1)[0].removesuffix(".")
    held["pddl_domain"] = (data / "alfred.pddl").read_text(encoding="utf-8")
    held["grammar"] = (data / "alfred.twl2").read_text(encoding="utf-8").replace("UNKNOWN GOAL", task)
    path = folder / "game.tw-pddl"
    path.write_text(json.dumps(held), encoding="utf-8")
    return str(path)


if __name__ == "__main__":
    main()
