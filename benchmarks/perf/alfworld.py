"""Speed of the ALFWorld engine, against TextWorld on the same games in the same run if it is at hand.

Run: ``python -m benchmarks.perf.alfworld [--data-dir DIR] [--peer-python PYTHON_WITH_TEXTWORLD]``. Standard output gets
one line, ``alfworld_steps_per_s=… alfworld_load_ms=… …``; standard error gets the rest. Games are those of
``valid_seen``, ``valid_unseen`` and ``valid_train`` that are there, else made households. One core does all of it; a
step is a random possible command, its feedback, and the sorted list of the commands that are possible then. Our own
times are those of the processor, in the best of several rounds, since other work on the machine comes in bursts.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium as gym

import mage_envs  # noqa: F401 -- registers the ids
from mage_envs.errors import LevelError
from mage_envs.worlds.alfworld import Game, household
from mage_envs.worlds.alfworld.reference import SIDE
from mage_envs.worlds.alfworld.sources import find_games

SPLITS = ("valid_seen", "valid_unseen", "valid_train")
STEPS, ROUNDS, MADE = 50, 5, 474
PEER_GAMES, PEER_STEPS = 4, 20
ENVIRONMENTS = 16


def best(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Returns the processor's seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def files_in(data_dir: str) -> list[Path]:
    """Returns the game files that are there."""
    found: list[Path] = []
    for split in SPLITS:
        try:
            found += find_games(split, data_dir).values()
        except LevelError:
            continue
    return found


def walk(game: Game, seed: int, steps: int = STEPS) -> list[tuple[str, str]]:
    """Plays random possible commands; returns them with what was said to each."""
    rng, state = random.Random(seed), game.start()
    possible = state.admissible()
    told = []
    for _ in range(steps):
        command = rng.choice(possible)
        told.append((command, state.step(command)))
        possible = state.admissible()
    return told


def loading(files: Sequence[Path]) -> dict[str, float]:
    """Returns milliseconds of loading a file, or of making a household where there are none, and megabytes of each."""
    some = files[:100]

    def load() -> list[Game]:
        return [Game.from_file(file) for file in some] or [Game.from_layout(household(n)) for n in range(100)]

    count = len(some) or 100
    tracemalloc.start()
    kept = load()
    megabytes = tracemalloc.get_traced_memory()[0] / count / 1e6
    tracemalloc.stop()
    del kept
    return {"alfworld_load_ms": best(load) / count * 1e3, "alfworld_game_mb": megabytes}


def stepping(games: Sequence[Game]) -> dict[str, float]:
    """Returns steps a second, microseconds of restoring a start, and the size of a pickled state."""
    seconds = best(lambda: [walk(game, 0) for game in games])
    first = games[0].start()
    restored = best(lambda: [first.copy() for _ in range(10_000)]) / 10_000
    return {
        "alfworld_steps_per_s": len(games) * STEPS / seconds,
        "alfworld_restore_us": restored * 1e6,
        "alfworld_state_kb": len(pickle.dumps(first)) / 1e3,
    }


def threads_agree(games: Sequence[Game]) -> bool:
    """Whether 8 threads that play the same games at once tell what one tells."""
    serial = [walk(game, 1) for game in games]
    with ThreadPoolExecutor(8) as pool:
        return all(found == serial for found in pool.map(lambda _: [walk(game, 1) for game in games], range(8)))


def processes_work() -> bool:
    """Whether 16 environments play in as many processes and tell what 16 in this one tell."""
    told = []
    for mode in ("async", "sync"):
        # In shared memory Gymnasium pads texts to their longest, and hands them out padded.
        options = {"shared_memory": False} if mode == "async" else {}
        envs: Any = gym.make_vec(
            "mage/ALFWorld-v0", num_envs=ENVIRONMENTS, vectorization_mode=mode, vector_kwargs=options
        )
        seen = [tuple(envs.reset(seed=5)[0])]
        seen += [tuple(envs.step(("look",) * ENVIRONMENTS)[0]) for _ in range(3)]
        envs.close()
        told.append(seen)
    return told[0] == told[1]


def against_textworld(files: Sequence[Path], python: str) -> dict[str, float]:
    """Returns steps a second and seconds of loading of TextWorld, on a few of the games."""
    jobs = [
        {
            "file": str(file),
            "dialect": "0.3",
            "commands": [command for command, _ in walk(Game.from_file(file, "0.3"), 2)],
        }
        for file in random.Random(0).sample(list(files), PEER_GAMES + 1)
    ]
    times: dict[int, list[float]] = {0: [], PEER_STEPS: []}
    with subprocess.Popen([python, str(SIDE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdin is not None
        assert peer.stdout is not None
        for job in jobs:
            for count in (0, PEER_STEPS):
                begun = time.perf_counter()
                peer.stdin.write(json.dumps({**job, "commands": job["commands"][:count]}) + "\n")
                peer.stdin.flush()
                peer.stdout.readline()
                times[count].append(time.perf_counter() - begun)
        peer.stdin.close()
    return {  # The first game also imports. The second job of a game goes on where the first one ended.
        "textworld_load_s": statistics.median(times[0][1:]),
        "textworld_steps_per_s": PEER_STEPS / statistics.median(times[PEER_STEPS][1:]),
    }


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default="", help="ALFWorld's data; default: $ALFWORLD_DATA or ~/.cache/alfworld")
    parser.add_argument("--peer-python", help="a Python that has textworld and alfworld")
    given = parser.parse_args()
    files = files_in(given.data_dir)
    games = [Game.from_file(file) for file in files] or [Game.from_layout(household(n)) for n in range(MADE)]
    print(f"{len(games)} {'published games' if files else 'made households'}", file=sys.stderr)  # noqa: T201
    figures: dict[str, Any] = {**loading(files), **stepping(games)}
    figures["alfworld_threads_agree"] = threads_agree(games[:60])
    figures["alfworld_processes_agree"] = processes_work()
    if files and given.peer_python:
        figures |= against_textworld(files, given.peer_python)
    line = " ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}" for name, value in figures.items()
    )
    print(line)  # noqa: T201


if __name__ == "__main__":
    main()
