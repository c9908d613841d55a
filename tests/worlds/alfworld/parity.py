"""Our engine against TextWorld, live: every feedback, every list of admissible commands and every won flag.

Run: ``make parity-alfworld``, or ``python -m tests.worlds.alfworld.parity --python PYTHON_WITH_TEXTWORLD [--games 24]
[--steps 30] [--data-dir DIR] [--seed 0]``. Half of the games are published ones, where they are at hand; half are made
households, as files that hold our own domain and grammar, and are played as they are. Walks are random, by verb, with
strings that are no commands among them; half of them begin by moving things about at one place. They end with the
solver's plan: nearly every game is won on both sides. (In a few published games a thing fits nowhere once it is taken.)
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mage_envs.errors import LevelError
from mage_envs.worlds.alfworld import Game, household, solve, write_game
from mage_envs.worlds.alfworld.reference import SIDE
from mage_envs.worlds.alfworld.sources import SPLITS, find_games

JUNK = ("", "put", "take x from y", "look around", " look ", "examine nothing 1", "GO TO FRIDGE 1")
RARELY = ("go", "close", "inventory", "help", "examine")

Told = tuple[str, list[str], bool]


class Job(NamedTuple):
    """A walk in one game: the file, in which dialect each side plays it, the commands, and what ours said."""

    file: str
    dialect: str
    side_dialect: str
    commands: list[str]
    told: list[Told]


def make_job(file: Path, dialect: str, side_dialect: str, rng: random.Random, steps: int) -> Job:
    """Walks through a game at random and then wins it."""
    state = Game.from_file(file, dialect).start()
    commands: list[str] = []
    told: list[Told] = [(state.text, state.admissible(), state.won)]

    def play(command: str) -> None:
        state.step(command)
        commands.append(command)
        told.append((state.text, state.admissible(), state.won))

    stays = steps // 2 if rng.random() < 0.5 else 0  # Where many receptacles stand at one place, which is odd.
    if stays:
        game = state.game
        play(f"go to {game.receptacles[max(game.at, key=len)[0]]}")
    for number in range(steps):
        by_verb: dict[str, list[str]] = {}
        for command in state.admissible():
            if number >= stays or not command.startswith(("go ", "close ")):
                by_verb.setdefault(command.split()[0], []).append(command)
        verbs = [verb for verb in by_verb for _ in range(1 if verb in RARELY else 3)]
        play(rng.choice(JUNK) if rng.random() < 0.05 else rng.choice(by_verb[rng.choice(verbs)]))
    for command in solve(state) or ():
        play(command)
    return Job(str(file), dialect, side_dialect, commands, told)


def jobs(games: int, steps: int, data_dir: str, seed: int, folder: Path) -> Iterator[Job]:
    """Yields walks in published games and in made households, both dialects in turn."""
    published = _published(data_dir)
    rng = random.Random(seed)
    for number in range(games):
        dialect = ("0.4", "0.3")[number // 2 % 2]
        if number % 2 and published:
            yield make_job(rng.choice(published), dialect, dialect, rng, steps)
        else:
            file = folder / f"{number}.tw-pddl"
            write_game(household(seed * 10_000 + number), file, dialect)
            yield make_job(file, dialect, "own", rng, steps)


def _published(data_dir: str) -> list[Path]:
    found: list[Path] = []
    for split in SPLITS:
        try:
            found += find_games(split, data_dir).values()
        except LevelError as error:
            sys.stderr.write(f"without {split}: {error}\n")
    return found


def differences(job: Job, theirs: list[Told]) -> Iterator[str]:
    """Yields what differs, in words."""
    for command, ours, other in zip([None, *job.commands], job.told, theirs, strict=True):
        for name, mine, yours in zip(("feedback", "admissible", "won"), ours, other, strict=True):
            if mine != yours:
                yield f"{job.file} ({job.dialect}) after {command!r}: {name}\n  ours   {mine!r}\n  theirs {yours!r}"


def main() -> int:
    """Compares; returns 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="a Python that has textworld and alfworld")
    parser.add_argument("--games", type=int, default=24)
    parser.add_argument("--steps", type=int, default=30, help="random steps before the solver's plan")
    parser.add_argument("--data-dir", default="", help="ALFWorld's data; default: $ALFWORLD_DATA or ~/.cache/alfworld")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    steps, wrong, won = 0, 0, 0
    kinds: Counter[tuple[str, str]] = Counter()
    side = subprocess.Popen([given.python, str(SIDE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with tempfile.TemporaryDirectory() as folder, side:
        assert side.stdin is not None
        assert side.stdout is not None
        for job in jobs(given.games, given.steps, given.data_dir, given.seed, Path(folder)):
            asked = {"file": job.file, "dialect": job.side_dialect, "commands": job.commands}
            side.stdin.write(json.dumps(asked) + "\n")
            side.stdin.flush()
            answer = side.stdout.readline()
            if not answer:
                raise SystemExit(f"TextWorld died on {job.file}: see above")
            found = list(differences(job, json.loads(answer)))
            sys.stdout.write("".join(f"{each}\n" for each in found))
            steps, wrong, won = steps + len(job.told), wrong + len(found), won + job.told[-1][2]
            kinds["made" if job.side_dialect == "own" else "published", job.dialect] += 1
        side.stdin.close()
    counted = ", ".join(f"{count} {kind} in {dialect}" for (kind, dialect), count in sorted(kinds.items()))
    sys.stdout.write(f"{wrong} differences in {steps} compared steps; games: {counted}; won: {won}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
