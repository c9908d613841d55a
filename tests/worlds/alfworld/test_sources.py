"""Where games are found, and what is said where they are not."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from mage_envs.errors import LevelError
from mage_envs.worlds import load_world
from mage_envs.worlds.alfworld import household, write_game
from mage_envs.worlds.alfworld.sources import data_folder, find_games, task_type_of
from tests.worlds.alfworld.pack import needs_pack


def _kept(folder: Path, *names: str) -> Path:
    for number, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        write_game(household(number), folder / name / "game.tw-pddl")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """ALFWorld's own layout, with games of ours."""
    split = tmp_path / "json_2.1.1" / "valid_seen"
    _kept(
        split,
        "pick_and_place_simple-Mug-None-Desk-3/trial_1",
        "pick_cool_then_place_in_recep-Mug-None-Desk-3/trial_2",
        "pick_cool_then_place_in_recep-AppleSliced-None-Desk-3/trial_3",
        "pick_and_place_with_movable_recep-Mug-Bowl-Desk-3/trial_4",
        "look_at_obj_in_light-Mug-None-DeskLamp-3/trial_5",
    )
    unsolvable = split / "look_at_obj_in_light-Mug-None-DeskLamp-3/trial_5/game.tw-pddl"
    unsolvable.write_text(unsolvable.read_text().replace('"solvable": true', '"solvable": false'))
    return tmp_path


SIMPLE = "valid_seen/pick_and_place_simple-Mug-None-Desk-3/trial_1"
COOL = "valid_seen/pick_cool_then_place_in_recep-Mug-None-Desk-3/trial_2"


def test_a_split_is_found_without_what_alfworld_leaves_out(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(find_games("valid_seen", str(data))) == [SIMPLE, COOL]
    monkeypatch.setenv("ALFWORLD_DATA", str(data))
    assert list(find_games("valid_seen", "")) == [SIMPLE, COOL]


def test_folders_are_looked_for_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", "/some/where")
    assert data_folder("/else") == Path("/else")
    assert data_folder("") == Path("/some/where")
    monkeypatch.delenv("ALFWORLD_DATA")
    assert data_folder("") == Path.home() / ".cache" / "alfworld"


def test_the_folder_of_today_is_read(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(data))
    world = load_world("alfworld(source=valid_seen)")
    assert load_world("alfworld(source=valid_seen)") is world
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "empty"))
    with pytest.raises(LevelError, match="empty"):
        load_world("alfworld(source=valid_seen)")


def test_made_households_are_in_no_folder(data: Path) -> None:
    with pytest.raises(ValueError, match=r"data_dir .* leave it out"):
        load_world(f'alfworld(data_dir="{data}")')


def test_a_missing_folder_names_path_and_remedy(tmp_path: Path) -> None:
    with pytest.raises(LevelError) as caught:
        load_world(f'alfworld(source=valid_unseen, data_dir="{tmp_path}")')
    message = str(caught.value)
    assert str(tmp_path / "json_2.1.1" / "valid_unseen") in message
    assert f"alfworld-download --data-dir {tmp_path}" in message
    assert "procedural" in message
    with pytest.raises(LevelError, match="no ALFWorld games"):
        load_world("alfworld(source=valid_sen)")


def test_a_path_is_a_source_too(tmp_path: Path) -> None:
    folder = _kept(tmp_path / "mine", "a/one", "b")
    assert list(find_games(str(folder), "")) == ["a/one", "b"]
    file = folder / "b" / "game.tw-pddl"
    assert list(find_games(str(file), "")) == ["b"]
    world = load_world(f'alfworld(source="{file}")')
    assert world.draw(0.5) == "b"
    state = world.start("b")
    known = world.known(state)
    assert known["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert known["solver_steps"] > 2
    assert known["task_type"] == ""


def test_tasks_are_chosen_by_folder_and_ids_are_checked(data: Path) -> None:
    world = load_world(f'alfworld(source=valid_seen, data_dir="{data}", tasks=held_out)')
    assert {world.draw(u) for u in (0.0, 0.4, 0.999)} == {COOL}
    assert world.known(world.start(COOL))["task_type"] == "pick_cool_then_place_in_recep" == task_type_of(COOL)
    assert world.check_instance(SIMPLE) == SIMPLE
    with pytest.raises(ValueError, match="no such game: 'valid_seen/nope'"):
        world.check_instance("valid_seen/nope")
    with pytest.raises(ValueError, match="no such game: 3"):
        world.check_instance(3)
    with pytest.raises(LevelError, match="has no games of these types"):
        load_world(f'alfworld(source=valid_seen, data_dir="{data}", tasks=pick_two_obj_and_place)')
    with pytest.raises(ValueError, match="is of made households"):
        load_world(f'alfworld(source=valid_seen, data_dir="{data}", split=rooms)')


@needs_pack
def test_all_published_games_are_found(alfworld_data: Path) -> None:
    for split, count in {"valid_seen": 140, "valid_unseen": 134, "valid_train": 200}.items():
        games = find_games(split, str(alfworld_data))
        assert len(games) == count
        assert all(name.startswith(f"{split}/") and task_type_of(name) for name in games)
    world = load_world(f'alfworld(source=valid_unseen, data_dir="{alfworld_data}")')
    drawn = {world.draw((k + 0.5) / 134) for k in range(134)}
    assert len(drawn) == 134
