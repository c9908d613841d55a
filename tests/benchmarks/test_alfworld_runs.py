"""A suite of ALFWorld, from plan to board: run by several processes, verified and scored."""

from __future__ import annotations

from pathlib import Path

from benchmarks.panels import make_panel
from benchmarks.plan import make_plan
from benchmarks.rows import run_rows
from benchmarks.runner import run
from benchmarks.verification import verify
from mage_envs.scenarios import SCENARIOS
from tests.benchmarks.fakes import ignore_progress, suite

SUITE = suite(
    60,
    "alfworld_expert",
    "alfworld_seeker",
    "alfworld_seeker(remember=true)",
    scenario=SCENARIOS.get("alfworld/train"),
)


def test_a_run_is_scored_and_verified(tmp_path: Path) -> None:
    panel = make_panel(SUITE)
    played = run(make_plan(SUITE), tmp_path, ignore_progress, jobs=2)
    assert verify(played, panel, jobs=2, progress=ignore_progress) == 3 * 60
    rows = {row["agent"]: row for row in run_rows(played, panel, played.records().values(), verified=True)}
    assert float(rows["alfworld_expert"]["score_3"]) == 1.0
    assert rows["alfworld_expert"]["oracle"] == "yes"
    remembers, forgets = rows["alfworld_seeker(remember=true)"], rows["alfworld_seeker(remember=false)"]
    assert float(remembers["gain_low"]) > 0.3
    assert float(remembers["score_3"]) > float(forgets["score_3"]) + 0.3


def test_who_plays_by_arrays_is_named() -> None:
    plan = make_plan(suite(2, "random", "alfworld_expert", scenario=SCENARIOS.get("alfworld/train")))
    assert dict(plan.manifest.unsupported) == {
        "random": {"alfworld/train": "it plays by arrays, and ALFWorld has text only"}
    }
    assert plan.manifest.config.plays == {"alfworld/train": ("alfworld_expert",)}
