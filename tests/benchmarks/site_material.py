"""A run and a board full of what a page must survive: hostile names, answers, reflections and errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.columns import header
from benchmarks.leaderboard import write_board
from benchmarks.plan import make_plan
from benchmarks.runner import run
from benchmarks.suites import SUITES
from mage_agent.base import Agent
from tests.benchmarks.fakes import Fake, ignore_progress, make_fake, suite

SIZE = 12
PWN = '<script>pwn()</script><img src=x onerror="pwn()"> \'javascript:pwn()\' " onload=pwn() \u2028 </script>'
HOSTILE = f"hostile {PWN}"
NAMES = ("../../escaped", "javascript:pwn()", '"><svg onload=pwn()>', "=HYPERLINK(1)", "a\\..\\b\x00", "con", "é" * 300)
STRANGE = "../up/<i>scenario</i>"
AGENTS = ("random", "writer", "illegal", "failing_at_seat_1", HOSTILE)
SUITE = suite(SIZE, *AGENTS)


class Hostile(Fake):
    """Answers with markup first, then with a move, and reflects in markup."""

    interface = "text"

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return f"I choose <action>{info['legal_actions'][-1]}</action>" if "invalid_reason" in info else PWN

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> Any:
        if info["seat"] == 1 and info["episode"] == 1:
            raise ConnectionError(PWN)
        return f"After episode {info['episode'] + 1}: {PWN}"


def make_hostile(spec: str) -> Agent:
    return Hostile(spec) if spec == HOSTILE else make_fake(spec)


def register() -> None:
    """Puts the suite where a run's panel is looked up. Callers undo it."""
    SUITES.register(SUITE.name, SUITE)


def play(folder: Path) -> Path:
    """Plays the suite, and returns the run directory."""
    return run(make_plan(SUITE, AGENTS, factory=make_hostile), folder, ignore_progress).path


def write_hostile_board(folder: Path, names: Sequence[str] = NAMES) -> None:
    """Writes a board of another suite, whose rows differ in their names and scores only, the last one the best."""
    same = dict.fromkeys(header(2), "") | {
        **{
            "suite": "strange <b>suite</b>",
            "suite_version": "3",
            "panel": "f" * 64,
            "scenario": "../up/<i>scenario</i>",
        },
        **{"unit": "points", "episodes": "2", "oracle": "no", "model": f"model {PWN}", "memory": "none"},
        **{"control": "none", "verified": "yes", "run": "e" * 64, "n_expected": "5", "n_scored": "5"},
    }
    same |= {name: "0" for name in same if name.startswith("n_") and not same[name]}
    ends = {"": 0.0, "_low": -0.4, "_high": 0.4}
    rows = [
        same | {"agent": name} | {f"score_{n}{end}": str(place + shift) for n in (1, 2) for end, shift in ends.items()}
        for place, name in enumerate(names)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "strange.csv").write_text(write_board(rows), encoding="utf-8", newline="")
