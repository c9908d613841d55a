"""Golden transcripts: what a player of each environment reads, as files for people. `make golden` writes them."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tests.conformance.cases import CASES, WORLD_CASES, Case, choose

FOLDER = Path(__file__).parent.parent / "golden"
SEED = 7


def path(case: Case) -> Path:
    """Returns the file of a case."""
    name = str(case).removeprefix("mage/")
    return FOLDER / ("".join(char if char.isalnum() or char in "-_.," else "_" for char in name) + ".txt")


def write(case: Case) -> str:
    """Plays a case by seeded random choices, with one wrong answer, and tells it."""
    env = case.make(interface="text")
    rng = np.random.default_rng(SEED)
    observation, info = env.reset(seed=SEED)
    opponent = info["privileged"]["opponent"]
    against = f", against {opponent}" if opponent else ""
    lines = [f"# {case}, seed {SEED}{against}", "", info["rules"], "", observation, ""]
    over, answered = False, False
    while not over:
        if info["legal_actions"]:
            lines.append(f"    legal: {', '.join(info['legal_actions'])}")
        action = choose(env, info, rng) if answered else "let me think"
        answered = True
        lines.append(f"    {'>' if info['phase'] == 'play' else 'reflection >'} {action}")
        observation, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        lines += [f"    reward {reward:+g}", "", observation, ""]
    return "\n".join(lines)


def main() -> None:
    """Writes all files, and removes those of cases that are gone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True, help="overwrite tests/golden")
    parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for case in (*CASES, *WORLD_CASES):
        path(case).write_text(write(case), encoding="utf-8")


if __name__ == "__main__":
    main()
