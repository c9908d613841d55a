"""Sokoban as an environment: turns of several moves, blocked moves, texts, arrays, rewards, splits, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import mage_envs  # noqa: F401 -- registers the ids
from mage_envs.errors import LevelError, SpecError
from mage_envs.worlds import load_world
from mage_envs.worlds.sokoban import Sokoban, make_room, solve, split_of
from mage_envs.worlds.sokoban.levels import SYMBOLS, parse_level

# The player goes up and pushes the box right onto the target in three moves.
LEVEL = "######/#  .##/# $  #/# @  #/######"
ROW = "#######/#@ $. #/#######"


def make(instance: str = ROW, meta: bool = False, **arguments: Any) -> tuple[Any, str, dict[str, Any]]:
    env = gym.make(f"mage/Sokoban-{'meta-' if meta else ''}v0", **{"interface": "text", "columns": 7, **arguments})
    observation, info = env.reset(seed=0, options={"instance": instance})
    return env.unwrapped, observation, info


def test_the_papers_settings_are_the_default() -> None:
    env = gym.make("mage/Sokoban-meta-v0", interface="text").unwrapped
    assert env.world.kind == (6, 6, 2, 21)
    assert (env.turns, env.world.moves_per_turn, env.episodes, env.instance) == (7, 3, 3, "replay")
    assert gym.make("mage/Sokoban-v0").unwrapped.turns == 21
    assert "An episode ends after 7 turns at the latest." in env.reset(seed=0)[1]["rules"]
    _, info = env.reset(seed=0)
    known = dict(info["privileged"]["known"])
    found = solve(make_room(info["privileged"]["instance"], env.world.kind))
    assert found is not None
    assert known["optimal_moves"] == len(found.moves)


def test_a_reply_of_several_moves_stops_where_the_room_is_solved() -> None:
    env, _, _ = make()
    observation, reward, terminated, _, info = env.step("<action>right, right, right</action>")
    assert (reward, terminated, info["episode_result"]["outcome"]) == (1.0, True, "win")
    assert "You moved right, right. Not tried: right." in observation
    assert "Boxes on targets: 1 of 1." in observation
    facts = info["view"].facts
    assert (facts["moves"], facts["pushes"], facts["blocked_moves"]) == (2, 1, 0)


def test_a_blocked_move_moves_nothing_and_ends_the_turn() -> None:
    env, before, _ = make("#######/#@ $ .#/#     #/#######")
    observation, reward, _, _, info = env.step("up, right, right")
    assert "Up was blocked by a wall and moved nothing. Not tried: right, right." in observation
    assert observation.split("\n")[2:-1] == before.split("\n")[1:-1]
    assert (reward, info["view"].facts["blocked_moves"]) == (0.0, 1)
    assert "invalid_reason" not in info
    env.step("right right")
    env.step("down, right")
    env.step("right right up")
    env.step("left")


def test_a_box_that_cannot_move_blocks() -> None:
    env, _, _ = make("#######/#@$$..#/#     #/#######")
    observation = env.step("right")[0]
    assert "Right was blocked by a box that cannot move and moved nothing." in observation
    against_wall, _, _ = make("#######/#@$ . #/##$   #/# .   #/#######", rows=7)
    assert "You moved right." in against_wall.step("right")[0]


@pytest.mark.parametrize(
    ("answer", "moves"),
    [
        ("Right", ("right",)),
        ("r", ("right",)),
        ("move right", ("right",)),
        ("RIGHT,left", ("right", "left")),
        ("right left", ("right", "left")),
        ("right, then left", ("right", "left")),
        ("right; left; r.", ("right", "left", "right")),
        ("[right, left]", ("right", "left")),
        ("<action> right\nleft </action>", ("right", "left")),
    ],
)
def test_answers_that_are_read(answer: str, moves: tuple[str, ...]) -> None:
    env, _, _ = make("#######/#@  $.#/#######")
    assert env.step(answer)[4]["view"].facts["done"] == moves


@pytest.mark.parametrize(
    "answer", ["", "right, jump", "right, right, right, right", "upwards", ",", "right or left", "ur"]
)
def test_answers_that_are_asked_again(answer: str) -> None:
    env, _, _ = make("#######/#@  $.#/#######")
    observation, _, _, _, info = env.step(answer)
    assert info["invalid_reason"] in ("unparsable", "empty")
    assert "Answer with 1 to 3 moves of up, down, left, right, with commas between: up, up, left." in observation
    assert info["view"].turn == 0


def test_the_grid_and_the_coordinates() -> None:
    _, observation, _ = make("######/#+$ ##/# $* #/#   .#/######")
    assert observation.split("\n")[1:7] == [
        "  1 2 3 4 5 6",
        "1 # # # # # #",
        "2 # + $ _ # #",
        "3 # _ $ * _ #",
        "4 # _ _ _ . #",
        "5 # # # # # #",
    ]
    _, observation, info = make("######/#+$ ##/# $* #/#   .#/######", show="coordinates")
    assert "You: (2, 2)\nBoxes: (2, 3), (3, 3), (3, 4)\nTargets: (2, 2), (3, 4), (4, 5)" in observation
    assert "(row, column)" in info["rules"]
    _, observation, _ = make("############/#@$.       #/############", columns=12)
    assert observation.split("\n")[1] == "   1  2  3  4  5  6  7  8  9 10 11 12"


def test_the_array_has_a_plane_a_symbol() -> None:
    env, _, _ = make(LEVEL, interface="array", rows=7)
    observation, _ = env.reset(options={"instance": LEVEL})
    planes = observation["observation"]
    assert (planes.shape, planes.dtype) == ((7, 7, 7), np.float32)
    assert (planes.sum(axis=0) == 1).all()
    rows = parse_level(LEVEL).rows
    for i, row in enumerate(rows):
        for j, symbol in enumerate(row):
            assert planes[SYMBOLS.index(symbol), i, j] == 1
    assert planes[0, len(rows) :].all()
    observation, _, _, _, info = env.step(0)
    assert observation["last_action"] == 0
    assert info["view"].facts["rows"][1] == "# $.##"
    assert observation["action_mask"].tolist() == [1, 1, 1, 1]


def test_shaped_rewards_are_those_of_gym_sokoban() -> None:
    env, _, _ = make("#######/#@$.$.#/#######", reward="shaped")
    assert env.step("right")[1] == pytest.approx(-0.1 + 1)
    assert env.step("up")[1] == pytest.approx(-0.1)
    env, _, _ = make("#######/#@$. .#/#  $  #/#     #/#######", reward="shaped")
    assert env.step("right")[1] == pytest.approx(0.9)
    assert env.step("right")[1] == pytest.approx(-1.1)
    env, _, _ = make(reward="shaped")
    assert env.step("right, right")[1] == pytest.approx(-0.1 + -0.1 + 1 + 10)


def test_a_forfeit_is_never_better_than_playing_badly() -> None:
    env, _, _ = make("#######/#@*. .#/#  $$ #/#     #/#######", reward="shaped", max_invalid=1, boxes=3)
    result = env.step("?")[4]["episode_result"]
    assert result["reward"] == pytest.approx(-0.1 * 21 - 3)
    for interface, moves in (("text", 50 * 3), ("array", 50)):
        env, _, _ = make("#######/#@*. .#/#  $$ #/#     #/#######", reward="shaped", max_invalid=1, boxes=3, turns=50,
                         interface=interface)  # fmt: skip
        result = env.step("?" if interface == "text" else 99)[4]["episode_result"]
        assert result["reward"] == pytest.approx(-0.1 * moves - 3)
    env, _, _ = make(max_invalid=1)
    assert env.step("?")[4]["episode_result"]["reward"] == 0.0


def test_the_turn_limit_is_a_loss() -> None:
    env, _, _ = make()
    for _ in range(6):
        assert not env.step("up")[3]
    observation, _, terminated, truncated, info = env.step("up")
    assert (terminated, truncated, info["episode_result"]["outcome"]) == (False, True, "loss")
    assert "All 7 turns are used." in observation


def test_the_key_names_the_room_whatever_came_before() -> None:
    env, _, info = make("#######/#@  $.#/#######")
    env.step("right")
    again = env.step("left")[4]["view"]
    assert again.key == info["view"].key
    assert again.text != info["view"].text


def test_optimal_solutions_win_within_the_papers_turns() -> None:
    env = gym.make("mage/Sokoban-v0", interface="text").unwrapped
    for seed in range(60):
        _, info = env.reset(seed=seed)
        found = solve(make_room(info["privileged"]["instance"], env.world.kind))
        assert found is not None
        names, over = list(found.names), False
        while not over:
            answer, names = ", ".join(names[:3]), names[3:]
            _, reward, terminated, truncated, info = env.step(answer)
            over = terminated or truncated
        assert (reward, terminated) == (1.0, True)
        assert info["view"].facts["pushes"] == found.pushes


def test_splits_draw_rooms_of_their_own() -> None:
    for split in ("train", "validation", "test"):
        world = load_world(f"sokoban(split={split})")
        rooms = {world.start(world.draw(u)).level for u in np.random.default_rng(1).random(20)}
        assert {split_of(level) for level in rooms} == {split}
        assert len(rooms) == 20


def test_rooms_of_a_pool_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Sokoban(pool=5, split="validation")
    numbers = np.random.default_rng(1).random(40).tolist()
    first = [world.start(world.draw(u)) for u in numbers]
    assert len(set(first)) == 5
    monkeypatch.setattr("mage_envs.worlds.sokoban.world.make_room", None)
    assert [world.start(world.draw(u)) for u in numbers] == first


def test_levels_of_a_file_rebuild_without_it(tmp_path: Path) -> None:
    path = tmp_path / "levels.txt"
    path.write_text(f"; 0\n{ROW.replace('/', chr(10))}\n\n; 1\n{LEVEL.replace('/', chr(10))}\n")
    env = gym.make("mage/Sokoban-meta-v0", levels=str(path), interface="text", instance="fresh", episodes=8)
    _, info = env.reset(seed=3)
    instance = info["privileged"]["instance"]
    assert instance in (ROW, LEVEL)
    assert gym.make("mage/Sokoban-v0", levels=path).unwrapped.world is env.unwrapped.world
    path.unlink()
    assert (
        gym.make("mage/Sokoban-v0", interface="text", columns=7).reset(options={"instance": instance})[1]["view"].key
        == info["view"].key
    )


def test_wrong_arguments_name_the_remedy() -> None:
    for arguments, match in (
        ({"rows": 4}, r"rows must be an integer in 5\.\.12"),
        ({"boxes": 6}, r"boxes must be an integer in 1\.\.5"),
        ({"max_moves": 0}, r"max_moves must be an integer in 1\.\.200"),
        ({"reward": "shape"}, "Did you mean 'shaped'"),
        ({"split": "tests"}, "Did you mean 'test'"),
        ({"boxs": 3}, "Did you mean 'boxes'"),
        ({"levels": 5}, "levels must be the path of a file"),
        ({"levels": "a\0b"}, "cannot read levels"),
    ):
        with pytest.raises((ValueError, SpecError), match=match):
            gym.make("mage/Sokoban-v0", **arguments)
    env = gym.make("mage/Sokoban-v0")
    with pytest.raises(LevelError, match="at most 6 and 6"):
        env.reset(options={"instance": ROW})
    with pytest.raises(LevelError, match="one player"):
        env.reset(options={"instance": "#####/# $.#/#####"})


def test_pictures_show_where_things_are() -> None:
    env, _, _ = make(render_mode="rgb_array")
    picture = env.render()
    assert picture.shape == (3 * 32, 7 * 32, 3)
    before = picture.copy()
    env.step("right")
    changed = (env.render() != before).any(axis=2).reshape(3, 32, 7, 32).any(axis=(1, 3))
    assert np.argwhere(changed).tolist() == [[1, 1], [1, 2]]  # Where the player was, and where it is.
