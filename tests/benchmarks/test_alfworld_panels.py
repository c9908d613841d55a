"""Panels of ALFWorld: every game is won by a plan; of files each comes once, and records say which file it was."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.panels import Panel, make_panel
from benchmarks.plan import make_plan
from benchmarks.runner import run
from benchmarks.suites import SUITES, Suite
from benchmarks.verification import verify
from mage_envs.errors import LevelError, VerificationError
from mage_envs.scenarios import SCENARIOS, Scenario
from mage_envs.worlds import load_world
from mage_envs.worlds.alfworld import household, solve, write_game
from mage_envs.worlds.alfworld.households import errand_of
from tests.benchmarks.fakes import ignore_progress, suite

# The fixture of the published games: a test that takes it skips without them.
from tests.worlds.alfworld.conftest import alfworld_data  # noqa: F401

PUBLISHED = {"valid_seen": 140, "valid_unseen": 134}


def scenario(split: str, data: Path) -> Scenario:
    found = SCENARIOS.get(f"alfworld/{split}")
    return replace(found, arguments=(*found.arguments, ("data_dir", str(data))))


def games_of(panel: Panel) -> Iterator[str]:
    """Yields the game of each meta-episode, and sees that the solver's plan wins it."""
    env: Any = panel.suite.make_env(panel.suite.parts[0].scenario, "text").unwrapped
    for entry in panel.entries:
        _, info = env.reset(seed=entry.seed)
        for command in solve(info["view"].whole_state.house) or ():
            *_, info = env.step(command)
        assert info["episode_result"]["outcome"] == "win"
        yield env.instances[0]


PANELS = [
    replace(SUITES.get(name), parts=(part,))  # The entries are as in the whole suite.
    for name in SUITES
    for part in SUITES.get(name).parts
    if part.scenario.name.startswith("alfworld/") and not part.scenario.needs_data
]


@pytest.mark.parametrize("own", PANELS, ids=lambda own: f"{own.name} {own.parts[0].scenario.name}")
def test_every_household_of_a_suite_is_another_and_is_won_by_the_solver(own: Suite) -> None:
    games = list(games_of(make_panel(own)))
    assert len(set(games)) == len(games) == own.parts[0].meta_episodes


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """ALFWorld's layout with seven games of ours."""
    for number in range(7):
        folder = tmp_path / f"json_2.1.1/valid_unseen/{errand_of(number).task}-X-None-Y-1/trial_{number}"
        folder.mkdir(parents=True)
        write_game(household(number), folder / "game.tw-pddl")
    return tmp_path


def test_every_game_of_a_folder_comes_as_often_as_the_others(made: Path) -> None:
    panel = make_panel(suite(21, scenario=scenario("valid_unseen", made)))
    seen = list(games_of(panel))
    assert len(set(seen[:7])) == 7
    assert set(Counter(seen).values()) == {3}


def test_records_name_the_file(made: Path, tmp_path: Path) -> None:
    own = suite(7, "alfworld_expert", scenario=scenario("valid_unseen", made))
    panel = make_panel(own)
    directory = run(make_plan(own), tmp_path / "run", ignore_progress, jobs=1)
    assert verify(directory, panel, jobs=1, progress=ignore_progress) == 7
    for record in directory.records().values():
        for episode in record.episodes:
            file = made / "json_2.1.1" / episode.instance / "game.tw-pddl"
            assert episode.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    lines = directory.records_path.read_text()
    directory.records_path.write_text(lines.replace(episode.sha256, "0" * 64, 1))
    with pytest.raises(VerificationError, match="sha256 '0000"):
        verify(directory, panel, jobs=1, progress=ignore_progress)


def test_another_file_is_another_panel(made: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    shutil.copytree(made / "json_2.1.1", twin / "json_2.1.1")
    (changed, *_) = (twin / "json_2.1.1").rglob("game.tw-pddl")
    changed.write_text(changed.read_text() + " ")
    first, second = (scenario("valid_unseen", folder).as_dict() for folder in (made, twin))
    assert first["data"] != second["data"]
    changed.write_text(changed.read_text()[:-1])
    assert first["data"] == load_world(f'alfworld(source=valid_unseen, data_dir="{twin}/.")').data
    assert load_world("alfworld").data == ""


def test_without_data_the_error_names_path_and_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    for split in PUBLISHED:
        with pytest.raises(LevelError) as caught:
            make_panel(suite(2, scenario=SCENARIOS.get(f"alfworld/{split}")))
        assert str(tmp_path / "json_2.1.1" / split) in str(caught.value)
        assert "alfworld-download --data-dir" in str(caught.value)


@pytest.mark.parametrize("split", PUBLISHED)
def test_a_panel_of_published_games_has_each_once_and_all_are_won(split: str, alfworld_data: Path) -> None:  # noqa: F811
    panel = make_panel(suite(PUBLISHED[split], scenario=scenario(split, alfworld_data)))
    games = list(games_of(panel))
    assert len(set(games)) == len(games) == PUBLISHED[split]
