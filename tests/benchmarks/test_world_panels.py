"""Panels of worlds: the same instances everywhere, none twice, of the test split, and every one of them is solved."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from benchmarks import instances
from benchmarks.ceilings import Ceilings, panel_ceilings
from benchmarks.instances import contents, new_instances
from benchmarks.panels import Entry, derive_seed, make_panel
from benchmarks.suites import SUITES, Suite
from mage_agent.agents import make_agent
from mage_agent.briefing import brief
from mage_envs.errors import UnsupportedGameError
from mage_envs.scenarios import SCENARIOS
from mage_envs.worlds import load_world
from mage_envs.worlds.alfworld import solve as plan_task
from mage_envs.worlds.minesweeper import bits
from mage_envs.worlds.sokoban import solve
from mage_envs.worlds.webshop import WebShop, make_shop
from mage_envs.worlds.webshop.splits import split_of
from tests.benchmarks.fakes import suite

CONTENTS = {
    ("worlds", "sokoban/test"): "4c644ecd2255ac9d5270fc79a43701c76a053f5a247586dd8b3beaa39db15900",
    ("worlds", "sokoban/one_box"): "b3a26c2f5f963482f3d0cae120bddd6999d34e421d33b8b47240630faec52b26",
    ("worlds", "sokoban/three_boxes"): "9c511a88a5f715ff1192f06fbd4a8d949a55b9cd38c6fceda5ba8b3ab4264289",
    ("worlds", "sokoban/large"): "81c03cec858796934148e0232fcc74f4c8b4a063df002325177f9083387d24f0",
    ("worlds", "minesweeper/test"): "4910c21e81206685b66e18415a95e4a01778552810006c2c2af12a6e3b9e6312",
    ("worlds", "minesweeper/fresh"): "d920483b8b0f05b61ced068e1748b8e18a890d829df4d40ed762d107359f9783",
    ("worlds", "minesweeper/5x5"): "63f133e03cb2d290948a4a3dd5d28370fd005c24ae90ae000ce0ad068c2909cd",
    ("worlds", "minesweeper/7x7"): "c22284ec4c3b90376655b4bb0116c91911fc530a842bd53177dfa0ca78be8344",
    ("worlds", "minesweeper/8x8"): "f9c0bb4ebd565207974f37379a522117de7f36f3f20ac3c3f047036296dc726e",
    ("paper-table1", "sokoban/test"): "a01592d1dceebdf3dd8ad1d794291478999b3371366f3e584ce775f3ee27a62e",
    ("paper-ood", "sokoban/one_box"): "bf99b112a03c17170db95ff205659f56aefc0531e0433751b36f0282773d704f",
    ("paper-ood", "sokoban/three_boxes"): "c885d1e57b66392b13ff777f2586edbfe7016001f200e1c86b2dfce34bf81431",
    ("worlds", "webshop/test"): "703148b6cce55337b724a79d7a0c865e82ee39b2ec0550616e9621e8637414b3",
    ("worlds", "webshop/heldout_categories"): "e8f78b6b7a40a2e360c5c0a3a6e1a6a346ef2813743cd3e93a42cd44771e9925",
    ("worlds", "webshop/heldout_phrasing"): "f359a5feb0fef8cdb3800bf1393c5f3d1e49410e6b9b89f5d399e54d7c3268a6",
    ("worlds", "webshop/heldout_size"): "07d3ddb071171348f6317e52a76c9f5cdb8e647ebe256cd39feeb72142fdc6dd",
    ("worlds", "webshop/heldout"): "6ad6e9979a16c5a8bcd2330970d7f2427b6d99883008ec1ae54cc0e47c3709f3",
    ("worlds", "alfworld/test"): "22c2f630d43fb031c8d58dc7ec9671cac02888347d63c77c872ecb7087eebdd1",
    ("worlds", "alfworld/task_types"): "20538b3db9e8e96a69ef6c34d72d866407a6cec7b71c6ac60e3873434e8d3950",
    ("worlds", "alfworld/rooms"): "824021562c94da70cab762f03a3e3fc5cc838372eb0554119752ac8c5ee89d8d",
    ("worlds", "alfworld/pairs"): "ccf9d1941279b90d45001391f50351a83f20944ddb80aabee3ea251dbb6d994a",
    ("paper-table1", "alfworld/test"): "0bee703c81ad9a7e66d7ed4505f6f4dde23ed2388d0662225f52c9c5f29c717a",
    ("paper-table1", "webshop/test"): "b459535b3f01e0853e01c7409bef40ff56ad1a61ccd2cd70de3a2c846fa94554",
    ("paper-ood", "webshop/heldout"): "c47a1d673e2dc300c75b5322d73b575aba3dc85bf41299138fd20ce408a29c5e",
    ("paper-ood", "alfworld/task_types"): "51592b7022ae097ecb898243991cfb2b297bee6664cce53c514d7a71d59ef5dd",
    ("paper-ood", "alfworld/rooms"): "e965648a2ac488dc8fbe17b7b4a3a1c58e4716c0cda389fc8404c0e3a972f201",
}
"""SHA-256 of the contents of a panel's instances, in order: a panel's own hash knows their seeds only."""

SPLITS = ("train", "validation", "test")


def the_suite(name: str) -> Suite:
    return SUITES.get(name)


def entries_of(name: str, scenario: str) -> tuple[Entry, ...]:
    return make_panel(the_suite(name)).by_scenario[scenario]


def world_env(name: str, scenario: str) -> Any:
    return the_suite(name).make_env(SCENARIOS.get(scenario), "text").unwrapped


def solve_room(env: Any, seed: int) -> None:
    """Plays the solver's plan, three moves a turn, and sees that nothing is left to do."""
    level = env.reset(seed=seed)[1]["view"].whole_state.level
    plan = solve(level)
    assert plan is not None
    assert len(plan.moves) == level.optimum.moves <= env.world.kind.max_moves
    for at in range(0, len(plan.moves), 3):
        *_, info = env.step(", ".join(plan.names[at : at + 3]))
    assert info["episode_result"]["outcome"] == "win"


def reveal_board(env: Any, seed: int) -> None:
    """Reveals what is safe, and sees that nothing is left to do."""
    info = env.reset(seed=seed)[1]
    for cell in bits(info["view"].whole_state.play.board.safe):
        if info["view"].whole_state.play.hidden >> cell & 1:
            *_, info = env.step(f"reveal {env.world.grid.names[cell]}")
    assert info["episode_result"]["outcome"] == "win"


def do_task(env: Any, seed: int) -> None:
    """Plays the solver's plan."""
    _, info = env.reset(seed=seed)
    for command in plan_task(info["view"].whole_state.house) or ():
        *_, info = env.step(command)
    assert info["episode_result"]["outcome"] == "win"


def buy_goal(env: Any, seed: int) -> None:
    """Buys what the oracle buys."""
    _, info = env.reset(seed=seed)
    oracle = make_agent("webshop_oracle")
    oracle.begin(brief(env, info, seed, oracle=True))
    while "episode_result" not in info:
        *_, info = env.step(oracle.act("", info))
    assert info["episode_result"]["outcome"] == "win"


SOLVERS = {"sokoban": solve_room, "minesweeper": reveal_board, "alfworld": do_task, "webshop": buy_goal}


def meanings(env: Any, seed: int) -> list[str]:
    """Returns the contents; of a goal, whose content is its number, all that it asks for."""
    if not isinstance(env.world, WebShop):
        return contents(env, seed)
    env.reset(seed=seed)
    goal = env.world.shop.goal(env.instances[0])
    return [f"{goal.text} {goal.asin} {goal.attributes} {goal.options}"]


@pytest.mark.parametrize(("name", "scenario"), CONTENTS)
def test_every_instance_is_what_it_was_and_new_and_of_the_test_split_and_is_solved(name: str, scenario: str) -> None:
    env, seen = world_env(name, scenario), list[str]()
    assert dict(SCENARIOS.get(scenario).arguments)["split"] not in ("all", "train", "validation")
    for entry in entries_of(name, scenario):
        seen += meanings(env, entry.seed)
        SOLVERS[scenario.split("/")[0]](env, entry.seed)
    assert len(set(seen)) == len(seen)
    assert hashlib.sha256("\n".join(seen).encode()).hexdigest() == CONTENTS[name, scenario]


@pytest.mark.parametrize(("name", "scenario"), [each for each in CONTENTS if each[1].startswith("webshop/")])
def test_512_goals_of_hundreds_of_products_no_training_product_among_them(name: str, scenario: str) -> None:
    env = world_env(name, scenario)
    entries = entries_of(name, scenario)
    goals = [env.world.shop.goal(env.reset(seed=entry.seed)[1]["privileged"]["instance"]) for entry in entries]
    assert len(goals) == len({(goal.asin, goal.text, goal.options) for goal in goals}) == 512
    assert len({goal.asin for goal in goals}) > 220
    held_out = {split_of(goal.title, goal.category) for goal in goals}
    assert held_out == {dict(SCENARIOS.get(scenario).arguments)["split"]} <= {"test", "heldout"}
    seen = {each.title.casefold() for each in make_shop().products if split_of(each.title, each.category) == "train"}
    assert seen.isdisjoint(goal.title.casefold() for goal in goals)


@pytest.mark.parametrize("world", ["sokoban", "minesweeper", "alfworld"])
def test_no_instance_is_in_two_splits(world: str) -> None:
    found = []
    for split in SPLITS:
        env: Any = SCENARIOS.get(f"{world}/{split}").make(interface="text", episodes=1)
        found.append({name for seed in range(400) for name in contents(env, seed)})
    assert all(len(names) > 250 for names in found)
    assert not found[0] & found[1]
    assert not found[0] & found[2]
    assert not found[1] & found[2]


def test_where_every_instance_is_taken_the_last_try_counts() -> None:
    scenario = SCENARIOS.get("minesweeper/5x5")
    tries: list[int] = []

    def another(place: int, again: int) -> int:
        tries.append(again)
        return 7

    assert new_instances(scenario, 1, [7, 7], another) == [7, 7]
    assert tries == list(range(1, instances.MAX_TRIES))


def test_fresh_boards_count_all_and_replayed_ones_once() -> None:
    fresh, replayed = (
        SCENARIOS.get(f"minesweeper/{name}").make(interface="text", episodes=3) for name in ("fresh", "test")
    )
    assert len(set(contents(fresh, 5))) == 3
    assert len(contents(replayed, 5)) == 1


def test_seeds_are_kept_on_disk_and_a_damaged_file_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path))
    scenario, seeds = SCENARIOS.get("minesweeper/5x5"), [derive_seed(k) for k in range(60)]
    found = new_instances(scenario, 1, seeds, lambda place, again: derive_seed(place, again))
    (kept,) = tmp_path.glob("panel-*.npz")
    assert new_instances(scenario, 1, seeds, lambda place, again: 1 // 0) == found
    kept.write_bytes(kept.read_bytes()[:100])
    assert new_instances(scenario, 1, seeds, lambda place, again: derive_seed(place, again)) == found
    assert "damaged" in caplog.text


BEST = {
    "sokoban/test": (1.0, 1.0, 1.0),
    "minesweeper/test": (6427 / 7140, 1.0, 1.0),
    "minesweeper/fresh": (6427 / 7140,) * 3,
    "minesweeper/5x5": (1798 / 2300, 1.0, 1.0),
    "minesweeper/no_guess": (1.0, 1.0, 1.0),
    "minesweeper/8x8": None,
    "alfworld/train": None,
}
"""By hand: a room hides nothing, and who has played a board to its end knows it."""


def ceilings_of(scenario: str, **protocol: Any) -> Ceilings:
    found = suite(3, scenario=SCENARIOS.get(scenario), **protocol)
    return panel_ceilings(found, SCENARIOS.get(scenario), make_panel(found).entries)


@pytest.mark.parametrize("scenario", BEST)
def test_what_is_known_of_the_best_play(scenario: str) -> None:
    best, found = BEST[scenario], ceilings_of(scenario)
    assert found.adaptive == (None if best is None else pytest.approx(best))
    assert found.told == (best[0] if best is not None and len(set(best)) == 1 else None)
    assert (found.equilibrium, found.random, found.bounds) == (None, None, None)


def test_where_a_win_ends_it_the_ceiling_is_of_one_episode() -> None:
    found = ceilings_of("sokoban/test", stop_on_success=True)
    assert (found.told, found.adaptive) == (1.0, None)


def test_rooms_that_need_more_turns_than_there_are_lower_the_ceiling() -> None:
    world, rooms = load_world("sokoban"), range(300)
    lengths = [world.known(world.start(room))["optimal_moves"] for room in rooms]
    share = sum(length <= 4 * 3 for length in lengths) / 300
    assert 0.2 < share < 0.9
    assert world.best_play(rooms, 4) == (share, share)
    assert world.best_play(rooms, 7) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("world", "turns", "why"),
    [
        ("sokoban(reward=shaped)", 7, "shaped"),
        ("sokoban", 4, "not known"),
        ("minesweeper", 32, "turn limit"),
        ("minesweeper(rows=8, columns=8, mines=5)", 64, "7624512 placements"),
        ("alfworld", 10, "nobody has proven what can be won in ALFWorld"),
    ],
)
def test_where_nothing_is_proven_the_reason_is_said(world: str, turns: int, why: str) -> None:
    with pytest.raises(UnsupportedGameError, match=why):
        load_world(world).best_play([], turns)
