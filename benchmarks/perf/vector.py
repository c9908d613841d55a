"""Game moves a second of the vector environments, against pgx in the same run.

Run: ``python -m benchmarks.perf.vector [--peer-python PATH]``; PATH is an interpreter that has pgx, if this one has
not. Standard output gets one line, ``moves_per_s_kuhn=… moves_per_s_tictactoe=…``; standard error gets the rest.

A move is a decision of any seat; chance, and the free step between two episodes, are none. Every environment is
``make_vec`` with its default options (three episodes, next-step resets, new arrays every step) against a mixed
population of tables, and the random legal actions are drawn inside the timed loop. The best round of the better of two
batches counts, for us and for pgx; rounds are short, because other work on the machine comes in bursts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import mage_envs  # noqa: F401 -- registers the ids
from benchmarks.perf import env_step
from mage_envs.tabular.compiled import CompiledGame

BATCHES = (1_024, 8_192)
CURVE = (256, 1_024, 4_096, 16_384, 65_536)
SECONDS = 0.02
ROUNDS = 60

GAMES = {
    "kuhn": ("mage/KuhnPoker-meta-v0", ("conservative", "aggressive", "intermediate", "random")),
    "tictactoe": ("mage/TicTacToe-meta-v0", ("random", "pattern(order=corners)", "pattern(order=centre)")),
}
PGX = {"kuhn": "kuhn_poker", "tictactoe": "tic_tac_toe"}


def make(game: str, count: int, **options: Any) -> Any:
    """Makes environments of a game, and plays until they are out of step with each other."""
    name, population = GAMES[game]
    env: Any = gym.make_vec(
        name,
        num_envs=count,
        vectorization_mode="vector_entry_point",
        population=dict.fromkeys(population, 1.0),
        **options,
    ).unwrapped
    env.reset(seed=0)
    run(env, np.random.default_rng(0), 50)
    return env


def run(env: Any, rng: np.random.Generator, steps: int) -> None:
    """Plays random legal actions: what is timed."""
    for _ in range(steps):
        env.step(env.sample_actions(rng))


def step_cost(env: Any) -> float:
    """Returns the seconds of one step of one environment, choosing included, in the best round."""
    rng = np.random.default_rng(1)
    begun = time.perf_counter()
    run(env, rng, 5)
    steps = max(1, round(5 * SECONDS / (time.perf_counter() - begun)))
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        run(env, rng, steps)
        best = min(best, time.perf_counter() - begun)
    return best / (steps * int(env.num_envs))


def moves_per_step(game: str, count: int = 8_192, steps: int = 300) -> float:
    """Returns the moves of all seats to a step of an environment: those of all episodes that end."""
    env = make(game, count)
    depth = depths(env.compiled)[env.compiled.witness]
    rng, moves = np.random.default_rng(2), 0
    for _ in range(steps):
        infos = env.step(env.sample_actions(rng))[4]
        moves += int(depth[infos["view"][infos["_episode_result"]]].sum())
    return moves / steps / count


def depths(game: CompiledGame) -> np.ndarray[Any, Any]:
    """Returns how many moves lead to each state."""
    depth = np.zeros(game.states, np.int64)
    for state in range(1, game.states):
        source = game.source[game.parent[state]]
        depth[state] = depth[source] + (game.actor[source] >= 0)
    return depth


def pgx_rates(python: str) -> dict[str, dict[str, float]]:
    """Returns pgx's moves a second by game and batch; nothing if the interpreter has no pgx."""
    script = Path(__file__).with_name("pgx_peer.py")
    done = subprocess.run([python, str(script)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        say(f"no pgx: {done.stderr.strip().splitlines()[-1]}")
        return {}
    found: dict[str, dict[str, float]] = json.loads(done.stdout)["moves_per_s"]
    return found


def resident() -> int:
    """Returns the bytes of memory that this process holds (Linux)."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def memory(game: str) -> str:
    """Says what an environment takes: its state, what a step returns, and how much the process grows."""
    few, many = 8_192, 262_144
    env = make(game, few)
    state = sum(array.nbytes for array in (env._batch._state.records, env._batch._state.instances))
    state += env._batch._state.seats.nbytes
    observations, rewards, terminated, truncated, infos = env.step(env.sample_actions(np.random.default_rng(0)))
    returned = sum(array.nbytes for array in _arrays([observations, rewards, terminated, truncated, infos]))
    before = resident()
    kept = make(game, many)
    growth = (resident() - before) / kept.num_envs
    return f"{state / few:.0f} bytes of state, {returned / few:.0f} returned by a step, resident {growth:.0f}"


def _arrays(value: Any) -> list[Any]:
    """Returns all arrays, each once."""
    found: dict[int, Any] = {}
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, np.ndarray):
            found[id(part)] = part
        else:
            pending += part.values() if isinstance(part, dict) else part
    return list(found.values())


def rates(game: str, ratio: float, **options: Any) -> dict[int, float]:
    """Returns the moves a second by batch."""
    return {count: ratio / step_cost(make(game, count, **options)) for count in BATCHES}


def slow_peers() -> dict[str, float]:
    """Returns the moves a second of a bare pyspiel loop and of PettingZoo's Tic-Tac-Toe, if it is installed."""
    plays: dict[str, Callable[[], int]] = {env_step.BARE: env_step.bare}
    try:
        env_step._PEER = env_step._peer()  # type: ignore[attr-defined, unused-ignore]
        plays["pettingzoo tictactoe_v3"] = env_step.pettingzoo
    except SystemExit as error:
        say(str(error))
    return {name: 1.0 / min(env_step.loop_cost(play) for _ in range(5)) for name, play in plays.items()}


def say(line: str) -> None:
    """Writes a line to standard error."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="Speed of the vector environments.")
    parser.add_argument("--peer-python", default=sys.executable, help="an interpreter that has pgx")
    peer = parser.parse_args().peer_python
    ratio = {game: moves_per_step(game) for game in GAMES}
    first = {game: rates(game, ratio[game]) for game in GAMES}
    theirs = pgx_rates(peer)
    second = {game: rates(game, ratio[game]) for game in GAMES}  # On both sides of the peer, in the same weather.
    best = {game: max(*first[game].values(), *second[game].values()) for game in GAMES}
    slow = slow_peers()
    for game in GAMES:
        report(game, ratio[game], best[game], theirs.get(PGX[game], {}), slow)
    print(" ".join(f"moves_per_s_{game}={best[game]:.0f}" for game in GAMES))  # noqa: T201


def report(game: str, ratio: float, best: float, theirs: dict[str, float], slow: dict[str, float]) -> None:
    """Says on standard error what there is to a figure."""
    say(f"{game}: {best / 1e6:.1f} million moves a second, {ratio:.2f} moves a step of an environment")
    others: dict[str, dict[str, Any]] = {"copy=False": {"copy": False}, "backend='numpy'": {"backend": "numpy"}}
    for name, options in others.items():
        say(f"  {name}: {max(rates(game, ratio, **options).values()) / 1e6:.1f} million")
    for batch, rate in theirs.items():
        say(f"  pgx, batch {batch}: {rate / 1e6:.2f} million")
    if theirs:
        say(f"  {best / max(theirs.values()):.1f} times pgx")
    for name, rate in slow.items():
        say(f"  {best / rate:.0f} times {name} ({rate / 1e6:.3f} million)")
    curve = {count: step_cost(make(game, count)) for count in CURVE}
    say("  ns a step of one environment: " + ", ".join(f"{count}: {1e9 * cost:.0f}" for count, cost in curve.items()))
    say(f"  memory of one environment: {memory(game)}")


if __name__ == "__main__":
    main()
