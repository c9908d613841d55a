"""The other side of the parity job: plays commands in TextWorld. Runs in an environment with textworld and alfworld.

It imports nothing of this project. A line of standard input is a job: ``{"file": …, "dialect": …, "commands": […]}``.
Each line of standard output is what TextWorld said to it: ``[[feedback, admissible commands, won], …]``, the intro
first. A file in dialect 0.4 is played with the domain and grammar of the installed alfworld, one in ``"own"`` as it is.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any


def main() -> None:
    """Answers jobs until there are none."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # TextWorld and its planner print.
    for line in sys.stdin:
        job = json.loads(line)
        out.write(json.dumps(play(job["file"], job["dialect"], job["commands"])) + "\n")
        out.flush()


def play(file: str, dialect: str, commands: list[str]) -> list[tuple[str, list[str], bool]]:
    """Plays commands from the start of a game."""
    import textworld
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler

    infos = textworld.EnvInfos(admissible_commands=True, won=True)
    with tempfile.TemporaryDirectory() as folder:
        path = file if dialect == "own" else _translated(file, dialect, Path(folder))
        env = textworld.start(path, infos, wrappers=[AlfredDemangler()])
        found = [_told(env.reset())]
        for command in commands:
            found.append(_told(env.step(command)[0]))
    return found


def _told(state: Any) -> tuple[str, list[str], bool]:
    return state["feedback"], state["admissible_commands"], bool(state["won"])


def _translated(file: str, dialect: str, folder: Path) -> str:
    """Writes a published file in a dialect; the files of 2.1.1 are in 0.3."""
    if dialect == "0.3":
        return file
    import alfworld

    data = Path(str(alfworld.__file__)).parent / "data"
    held = json.loads(Path(file).read_text(encoding="utf-8"))
    task = held["grammar"].split("Your task is to: ", 1)[1].split('"', 1)[0].removesuffix(".")
    held["pddl_domain"] = (data / "alfred.pddl").read_text(encoding="utf-8")
    held["grammar"] = (data / "alfred.twl2").read_text(encoding="utf-8").replace("UNKNOWN GOAL", task)
    path = folder / "game.tw-pddl"
    path.write_text(json.dumps(held), encoding="utf-8")
    return str(path)


if __name__ == "__main__":
    main()
