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
from mage_envs.worlds.webshop import WebShop
from tests.benchmarks.fakes import suite

CONTENTS = {
    ("worlds", "sokoban/test"): "6a4b57343a43c024e07f1d2f0a68b5e5cbc00388a0e0eb4a61bab231b86208e4",
    ("worlds", "sokoban/one_box"): "070d1ab73e6ba0ce81f96b334063c5c949990f7ea46e9ad1dbad392f88affb41",
    ("worlds", "sokoban/three_boxes"): "be364b7d7f9dac4dc89d7d62b079feb77059333c46e443f45b4f5ab8f600a553",
    ("worlds", "sokoban/large"): "63e972dc2146f5e6832969f5184dbb24181885c4bfaa6810cc6c8eeebeef4f58",
    ("worlds", "minesweeper/test"): "18d8315819befddcccdf16b07cd29c70f2afcb40b706be14d7fc1eb7100a41f3",
    ("worlds", "minesweeper/fresh"): "552efa5fe57656fb8eb7589f56c8cef95aa3a5e01974e626af3a2123529836a9",
    ("worlds", "minesweeper/5x5"): "d8c5730ff4652b3696ab7c27a08279aa866b4de2911cbfb8d5097d58b5272abe",
    ("worlds", "minesweeper/7x7"): "921bfb3fa35b77b93d7da23e9fc335c5741e3b0e4aa5490c089909a492a5c666",
    ("worlds", "minesweeper/8x8"): "94d651799fdafa0364958b8b0a43300ef1a4723aeaaff72c656fe5c60093de7e",
    ("paper-table1", "sokoban/test"): "253f722434094bd357551a21ef2a2a3ea0ce27e1c1018750d16bf035080706ca",
    ("paper-ood", "sokoban/one_box"): "bf99b112a03c17170db95ff205659f56aefc0531e0433751b36f0282773d704f",
    ("paper-ood", "sokoban/three_boxes"): "c885d1e57b66392b13ff777f2586edbfe7016001f200e1c86b2dfce34bf81431",
    ("worlds", "webshop/test"): "952a2c5d504574a7d59f7aa0ebd1f0db4514bb672fab5338d104c9ef618bcf2f",
    ("worlds", "webshop/heldout_categories"): "568e12174a6ad956f4db0c1c949faeb5574d47302777c32c06107193c81de403",
    ("worlds", "webshop/heldout_phrasing"): "8b70fcce30ff0b8d68c45aa4a0edc9a16a01090f897b15ea0f76250eef3349d6",
    ("worlds", "webshop/heldout_size"): "7b66b957103fc44cadc4bf0602cb86db5587115a8941b4a9c83d43c1360d0777",
    ("worlds", "webshop/heldout"): "d7d1fdf41818050b7578b7eef9ca40fb9f3339d3ed844a98c82b0c2e3f9ee3c9",
    ("worlds", "alfworld/test"): "4816e17cadb5d2554fbe64d553ae8a0592863c13d973bbaa6f0a64f91200fc23",
    ("worlds", "alfworld/task_types"): "cbc47a6d8fc6a967a8c3fccbe0312593f1906e9aa3cc74c3fcfc789b57f59bdb",
    ("worlds", "alfworld/rooms"): "943434a001f0dea23430242b27cfb7a840e8357b503a00f3906d8b7ac7437496",
    ("worlds", "alfworld/pairs"): "66c5a24223ed981c15dbe800d7348ed1ed7d905f2d91698b115566b2024fda7b",
    ("paper-table1", "alfworld/test"): "75417771979c680a9090aba47871d7e493843040998cdea53faf543a35a3cc7d",
    ("paper-table1", "webshop/test"): "9b0575c20771fba1f3150b71eb43200eb6768a65420d59073764e77df3af066b",
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
