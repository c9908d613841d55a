"""A suite of ALFWorld, from plan to board: run by several processes, verified and scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.panels import make_panel
from benchmarks.plan import make_plan
from benchmarks.rows import run_rows
from benchmarks.runner import run
from benchmarks.verification import verify
from mage_envs.errors import VerificationError
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
    plan = make_plan(suite(2, "first_legal", "alfworld_expert", scenario=SCENARIOS.get("alfworld/train")))
    assert dict(plan.manifest.unsupported) == {
        "first_legal": {"alfworld/train": "it plays by arrays, and ALFWorld has text only"}
    }
    assert plan.manifest.config.plays == {"alfworld/train": ("alfworld_expert",)}


@pytest.mark.parametrize(
    ("scenario", "interface"), [("alfworld/train", "text"), ("webshop/test", "text"), ("sokoban/test", "array")]
)
def test_random_plays_the_listed_answers_where_there_are_no_arrays(
    scenario: str, interface: str, tmp_path: Path
) -> None:
    found = suite(15, "random", scenario=SCENARIOS.get(scenario))
    plan = make_plan(found)
    assert not plan.manifest.unsupported
    played = run(plan, tmp_path, ignore_progress, jobs=2)
    records = list(played.records().values())
    assert {record.interface for record in records} == {interface}
    assert {record.status for record in records} == {"ok"}
    episodes = [episode for record in records for episode in record.episodes]
    assert sum(episode.invalid for episode in episodes) == 0
    assert len({episode.actions for episode in episodes}) == len(episodes) == 45
    assert verify(played, make_panel(found), jobs=1, progress=ignore_progress) == 15
    other = {"text": "array", "array": "text"}[interface]
    lines = played.records_path.read_text().replace(f'"interface":"{interface}"', f'"interface":"{other}"', 1)
    played.records_path.write_text(lines)
    with pytest.raises(VerificationError, match=f"recorded, '{interface}' in the manifest"):
        verify(played, make_panel(found), jobs=1, progress=ignore_progress)
