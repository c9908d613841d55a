"""A suite of a world, from plan to board: run by several processes, verified, scored; who cannot play is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import leaderboards
from benchmarks.leaderboard import read_board
from benchmarks.panels import make_panel
from benchmarks.plan import make_plan
from benchmarks.rows import run_rows
from benchmarks.run_directory import RunDirectory
from benchmarks.runner import run
from benchmarks.suites import SUITES
from benchmarks.verification import verify
from mage_envs.errors import VerificationError
from mage_envs.scenarios import SCENARIOS
from tests.benchmarks.fakes import ignore_progress, suite

SUITE = suite(
    40,
    "sokoban_solver",
    "sokoban_explorer",
    "random",
    "thompson",
    scenario=SCENARIOS.get("sokoban/test"),
)


@pytest.fixture
def played(tmp_path: Path) -> RunDirectory:
    return run(make_plan(SUITE), tmp_path, ignore_progress, jobs=2)


def test_a_run_is_scored_and_verified(played: RunDirectory) -> None:
    panel = make_panel(SUITE)
    assert verify(played, panel, jobs=2, progress=ignore_progress) == 3 * 40
    rows = {row["agent"]: row for row in run_rows(played, panel, played.records().values(), verified=True)}
    assert float(rows["sokoban_solver"]["score_3"]) == 1.0
    explorer = [float(rows["sokoban_explorer"][f"score_{n}"]) for n in (1, 2, 3)]
    assert explorer[0] < explorer[1] <= explorer[2]
    assert float(rows["sokoban_explorer"]["gain_low"]) > 0
    assert (rows["sokoban_solver"]["oracle"], rows["sokoban_explorer"]["oracle"]) == ("yes", "no")
    assert [rows["random"][name] for name in ("equilibrium", "ceiling", "adaptive_3")] == ["", "1", "1"]
    assert float(rows["sokoban_solver"]["regret"]) == 0.0
    assert float(rows["random"]["regret"]) == 3.0 - sum(float(rows["random"][f"score_{n}"]) for n in (1, 2, 3))


def test_who_plays_games_only_is_named(played: RunDirectory) -> None:
    unsupported = make_plan(SUITE).manifest.unsupported
    assert list(unsupported) == ["thompson"]
    assert "plays games, not the world Sokoban" in str(unsupported["thompson"])


def test_a_touched_turn_limit_does_not_verify(played: RunDirectory) -> None:
    path = played.records_path
    path.write_text(path.read_text().replace(',"truncated":true', "", 1))
    with pytest.raises(VerificationError, match="truncated False recorded"):
        verify(played, make_panel(SUITE), jobs=1, progress=ignore_progress)


EXPLORERS = {
    "sokoban/test": "sokoban_explorer",
    "sokoban/large": "sokoban_explorer",
    "minesweeper/test": "minesweeper_logic(remember=true)",
    "minesweeper/5x5": "minesweeper_logic(remember=true)",
    "webshop/test": "webshop_explorer",
    "alfworld/test": "alfworld_seeker(remember=true)",
}
"""Who remembers what earlier episodes of a replayed instance showed."""


@pytest.mark.parametrize("scenario", EXPLORERS)
def test_the_curve_of_an_explorer_rises(scenario: str, tmp_path: Path) -> None:
    found = suite(
        512 if scenario.startswith("webshop/") else 128, EXPLORERS[scenario], scenario=SCENARIOS.get(scenario)
    )
    directory = run(make_plan(found), tmp_path, ignore_progress)
    (row,) = run_rows(directory, make_panel(found), directory.records().values(), verified=False)
    measure = "win" if scenario.startswith("webshop/") else "score"  # There what does not win scores, too.
    assert float(row[f"{measure}_1"]) < float(row[f"{measure}_2"]) <= float(row[f"{measure}_3"])
    assert float(row[f"{measure}_1_high"]) < float(row[f"{measure}_3_low"])
    assert float(row["gain_low"]) > (0.05 if measure == "score" else 0.0)


def test_on_the_board_memory_of_a_replayed_instance_is_what_gains() -> None:
    rows = {(row["scenario"], row["agent"].partition(", exact")[0]): row
            for row in read_board(Path(leaderboards.__file__).parent / "worlds.csv")
            if row["suite_version"] == str(SUITES.get("worlds").version)}  # fmt: skip
    for scenario in ("sokoban/test", "sokoban/three_boxes", "sokoban/large"):
        gains = rows[scenario, "sokoban_explorer"]
        assert float(gains["score_1_high"]) < float(gains["score_3_low"])
        assert float(rows[scenario, "sokoban_greedy"]["gain_high"]) < 0.03 < float(gains["gain_low"])
        assert float(rows[scenario, "sokoban_solver"]["regret"]) == 0.0
    for size in ("test", "5x5", "7x7", "8x8"):
        gains = rows[f"minesweeper/{size}", "minesweeper_logic(remember=true"]
        assert float(gains["score_1_high"]) < float(gains["score_3_low"])
        assert float(rows[f"minesweeper/{size}", "minesweeper_logic(remember=false"]["gain"]) == 0.0
    for scenario in ("test", "heldout_categories", "heldout_phrasing", "heldout_size", "heldout"):
        shopper = rows[f"webshop/{scenario}", "webshop_explorer(looks=3)"]
        assert float(shopper["win_1_high"]) < float(shopper["win_3_low"])
        assert float(rows[f"webshop/{scenario}", "webshop_rerank(looks=3)"]["gain"]) == 0.0
    for scenario in ("test", "task_types", "rooms", "pairs"):
        seeker = rows[f"alfworld/{scenario}", "alfworld_seeker(remember=true)"]
        assert float(seeker["score_1_high"]) < float(seeker["score_3_low"])
        assert float(rows[f"alfworld/{scenario}", "alfworld_seeker(remember=false)"]["gain_low"]) <= 0.0
    fresh = rows["minesweeper/fresh", "minesweeper_logic(remember=true"]
    assert float(fresh["gain_low"]) < 0.0 < float(fresh["gain_high"])
    assert float(fresh["score_1_low"]) < float(fresh["adaptive_1"]) < float(fresh["score_1_high"])
