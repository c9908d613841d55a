"""Records what TextWorld says to walks in made households: the part of ``make parity-alfworld`` that all tests run.

Run where the households or the engine's words have changed: ``make parity-alfworld`` first, then ``python -m
tests.worlds.alfworld.record --python .venv-alfworld/bin/python``. Households are ours, and so are the domain and the
grammar that TextWorld plays them with: two of each type of task, each in both dialects. A file is a household: the
commands, and for each what was said, which admissible commands came and which went, and whether it was won.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, get_args

from mage_envs.worlds.alfworld import household, write_game
from mage_envs.worlds.alfworld.households import errand_of
from mage_envs.worlds.alfworld.reference import SIDE
from mage_envs.worlds.alfworld.tables import TaskType
from tests.worlds.alfworld.parity import Job, Told, make_job

RECORDED = Path(__file__).parent / "recorded"
DIALECTS = ("0.3", "0.4")
STEPS = 16


def numbers() -> list[int]:
    """Returns the first two households of each type of task."""
    of_task = (islice((n for n in count() if errand_of(n).task == task), 2) for task in get_args(TaskType))
    return sorted(chain.from_iterable(of_task))


def walk(number: int, dialect: str, folder: Path) -> Job:
    """Walks through a household at random, then wins it."""
    file = folder / f"{number}-{dialect}.tw-pddl"
    write_game(household(number), file, dialect)
    return make_job(file, dialect, "own", random.Random(f"{number} {dialect}"), STEPS)


def as_changes(commands: list[str], told: list[Told]) -> Iterator[dict[str, Any]]:
    """Yields the steps of a walk as they are kept: of the admissible commands what changed."""
    before: set[str] = set()
    for command, (feedback, admissible, won) in zip([None, *commands], told, strict=True):
        after = set(admissible)
        yield {
            "command": command, "feedback": feedback, "come": sorted(after - before), "gone": sorted(before - after),
            "won": won,
        }  # fmt: skip
        before = after


def kept() -> Iterator[tuple[int, str, list[str], list[Told]]]:
    """Yields the recorded walks: household, dialect, commands, and what TextWorld said."""
    for file in sorted(RECORDED.glob("*.json"), key=lambda file: int(file.stem)):
        for dialect, steps in json.loads(file.read_text(encoding="utf-8")).items():
            admissible: set[str] = set()
            told: list[Told] = []
            for step in steps:
                admissible = (admissible - set(step["gone"])) | set(step["come"])
                told.append((step["feedback"], sorted(admissible), step["won"]))
            yield int(file.stem), dialect, [step["command"] for step in steps[1:]], told


def main() -> None:
    """Records all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="a Python that has textworld and alfworld")
    side = subprocess.Popen(
        [parser.parse_args().python, str(SIDE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert side.stdin is not None
    assert side.stdout is not None
    RECORDED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, side:
        for number in numbers():
            lines = []
            for dialect in DIALECTS:
                job = walk(number, dialect, Path(folder))
                side.stdin.write(json.dumps({"file": job.file, "dialect": "own", "commands": job.commands}) + "\n")
                side.stdin.flush()
                steps = as_changes(job.commands, json.loads(side.stdout.readline()))
                written = ",\n".join(json.dumps(step) for step in steps)
                lines.append(f"{json.dumps(dialect)}: [\n{written}\n]")
            (RECORDED / f"{number}.json").write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
        side.stdin.close()


if __name__ == "__main__":
    main()
