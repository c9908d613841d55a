"""Results by what is known of the instances: right numbers, and a table that fits the terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks.breakdown import ALL, breakdown
from benchmarks.panels import make_panel
from benchmarks.plan import make_plan
from benchmarks.report import print_breakdown
from benchmarks.run_directory import RunDirectory
from benchmarks.runner import run
from benchmarks.suites.base import Suite
from mage_envs.errors import MageError, UnknownNameError
from mage_envs.scenarios import SCENARIOS
from mage_envs.worlds.alfworld.households import errand_of
from tests.benchmarks.fakes import ignore_progress, suite
from tests.benchmarks.test_cli import Terminal

SUITE = suite(60, "random", "alfworld_seeker(remember=true)", scenario=SCENARIOS.get("alfworld/test"))
TASKS = {
    "look_at_obj_in_light",
    "pick_and_place_simple",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return run(make_plan(SUITE), tmp_path_factory.mktemp("run"), ignore_progress, jobs=2)


def printed(played: RunDirectory, own: Suite, fact: str, width: int) -> str:
    told = io.StringIO()
    out = Console(width=width, file=told, highlight=False)
    print_breakdown(out, played, make_panel(own), played.records().values(), fact)
    return told.getvalue()


def test_every_value_has_the_numbers_of_its_meta_episodes(played: RunDirectory) -> None:
    records = list(played.records().values())
    found = breakdown(played, make_panel(SUITE), records, "task_type")
    assert [share.agent for share in found] == sorted(
        (share.agent for share in found), key=lambda name: name != "random"
    )
    for agent in played.manifest.config.plays["alfworld/test"]:
        own = [share for share in found if share.agent == agent]
        assert own[0].value == ALL
        assert {share.value for share in own[1:]} == TASKS
        assert sum(share.metrics.n_scored for share in own[1:]) == own[0].metrics.n_scored == 60
        for share in own:
            chosen = [
                record
                for record in records
                if record.agent == agent and share.value in (ALL, errand_of(int(record.episodes[0].instance)).task)
            ]
            scores = np.array([[episode.reward for episode in record.episodes] for record in chosen])
            for number, episode in enumerate(share.metrics.episodes):
                assert episode.score.value == pytest.approx(scores[:, number].mean())
                assert episode.passed.value == pytest.approx(scores[:, : number + 1].max(1).mean())
                assert episode.passed.low is not None


@pytest.mark.parametrize("width", [80, 100])
def test_the_table_fits_the_terminal(played: RunDirectory, width: int) -> None:
    said = printed(played, SUITE, "task_type", width)
    assert max(map(len, said.splitlines())) <= width
    assert re.search(r"^alfworld/test$", said, re.MULTILINE)
    assert ("episode 2" in said) == (width == 100)
    assert len(re.findall(r" (\d+)$", said, re.MULTILINE)) == 10


def test_numbers_are_sorted_as_numbers(played: RunDirectory) -> None:
    found = breakdown(played, make_panel(SUITE), played.records().values(), "solver_steps")
    steps = [int(share.value) for share in found if share.agent == "random" and share.value != ALL]
    assert steps == sorted(steps)
    assert len(steps) > 3


def test_what_cannot_be_broken_down_is_said(played: RunDirectory) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'task_type'"):
        breakdown(played, make_panel(SUITE), played.records().values(), "task_typ")
    for own in (suite(2, "random"), suite(2, "random", scenario=SCENARIOS.get("alfworld/fresh"))):
        with pytest.raises(MageError, match="this run has none"):
            breakdown(played, make_panel(own), (), "task_type")


def test_where_the_first_win_ends_it_only_shares_are_shown(tmp_path: Path) -> None:
    own = suite(8, "alfworld_expert", scenario=SCENARIOS.get("alfworld/test"), stop_on_success=True)
    said = printed(run(make_plan(own), tmp_path, ignore_progress, jobs=1), own, "task_type", 80)
    assert "episode" not in said.split("Mean score")[0]
    assert re.search(r"alfworld_expert +1\.000 ±\.\d+ +8$", said, re.MULTILINE)


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(monkeypatch, capsys)
    said = terminal("run", "worlds", "--agent", "random", "--meta-episodes", "6", "--jobs", "1", "--out", "r")
    assert said.code == 0, said.err
    said = terminal("show", "r", "--by", "optimal_moves")
    assert said.code == 0, said.err
    assert "sokoban/test" in said.out
    assert "minesweeper" not in said.out
    said = terminal("show", "r", "--by", "optimal_move")
    assert (said.code, said.out) == (2, "")
    assert "Did you mean 'optimal_moves'" in said.err
    assert "--by is of a run" in terminal("show", "worlds", "--by", "task_type").err
