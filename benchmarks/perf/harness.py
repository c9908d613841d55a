"""What share of ``benchmark run quick`` goes to the harness, and not to games, opponents and agents.

Run: ``python -m benchmarks.perf.harness [META_EPISODES]``. Plays the suite in one process, counts the time inside
environments (games and opponents) and inside agents, and prints the rest as a share of all: imports, panel, records,
files, statistics, the board. The goal is less than 20 %.
"""

from __future__ import annotations

import time

_BEGUN = time.perf_counter()  # Before the imports below, which count as well.

import io  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from rich.console import Console  # noqa: E402

from benchmarks.asking import Call  # noqa: E402
from benchmarks.plan import make_plan  # noqa: E402
from benchmarks.rows import run_rows  # noqa: E402
from benchmarks.runner import run  # noqa: E402
from benchmarks.suites import SUITES  # noqa: E402
from benchmarks.tables import board  # noqa: E402
from mage_envs.envs.meta_episode import MetaEpisodeEnv  # noqa: E402

_inside = {"games and opponents": 0.0, "agents": 0.0}


def _timed(function: Callable[..., Any], place: str) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        begun = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            _inside[place] += time.perf_counter() - begun

    return timed


def main(meta_episodes: int | None) -> None:
    """Measures and prints."""
    for name in ("reset", "step"):
        setattr(MetaEpisodeEnv, name, _timed(getattr(MetaEpisodeEnv, name), "games and opponents"))
    setattr(Call, "__call__", _timed(Call.__call__, "agents"))  # noqa: B010 - mypy knows that it is not ours to set
    plan = make_plan(SUITES.get("quick"), meta_episodes=meta_episodes)
    planned = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        directory = run(plan, Path(folder) / "run", lambda done, total, errors: None)
        played = time.perf_counter()
        rows = run_rows(directory, plan.panel, directory.records().values(), verified=False)
    Console(file=io.StringIO(), width=100).print(board(rows))
    whole = time.perf_counter() - _BEGUN
    lines = {"imports and plan": planned - _BEGUN, "board": whole - (played - _BEGUN)} | _inside
    lines["records and scheduling"] = whole - sum(lines.values())
    for name, seconds in lines.items():
        print(f"{name:24s} {seconds:7.2f} s {seconds / whole:6.1%}")  # noqa: T201
    outside = 1 - sum(_inside.values()) / whole
    print(f"outside games, opponents and agents: {outside:.1%} of {whole:.1f} s for {len(plan.tasks)} meta-episodes")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else None)
