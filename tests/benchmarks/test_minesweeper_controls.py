"""The causal controls on a replayed board: what ``minesweeper_logic`` gains is due to its memory of this board."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.plan import make_plan
from benchmarks.runner import run
from benchmarks.suites import Part, Suite
from mage_envs.scenarios import SCENARIOS

AGENT = "minesweeper_logic(remember=true)"
SUITE = Suite("trial", 1, "5x5", (Part(SCENARIOS.get("minesweeper/5x5"), 40, (AGENT,)),))


def shares(control: str, folder: Path) -> list[float]:
    """Returns the share of boards won in each episode."""
    directory = run(make_plan(SUITE, control=control), folder / control, lambda *told: None)
    records = list(directory.records().values())
    assert {record.status for record in records} == {"ok"}
    found: list[float] = np.mean(
        [[episode.reward for episode in record.episodes] for record in records], axis=0
    ).tolist()
    return found


@pytest.mark.parametrize("control", ["no_memory", "shuffled_reflection", "foreign_reflection"])
def test_without_its_own_memory_it_gains_nothing(control: str, tmp_path: Path) -> None:
    own, other = shares("none", tmp_path), shares(control, tmp_path)
    assert own[0] == other[0] < 0.9
    assert own[1:] == [1.0, 1.0]
    assert max(other[1:]) < 0.9
