"""Scripted agents in worlds, through the harness: what they win, what memory adds, and where it is of no use."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from benchmarks.panels import Entry, make_panel
from benchmarks.records import Record
from benchmarks.referee import play
from benchmarks.suites.base import Part, Suite
from mage_agent.agents import AGENTS, make_agent
from mage_agent.sokoban_pushes import pushes
from mage_envs.scenarios import SCENARIOS, Scenario
from mage_envs.worlds.sokoban import parse_level, solve

SOKOBAN = SCENARIOS.get("sokoban/test")
FRESH = Scenario("test/fresh", SOKOBAN.env_id, "", "", None, (0,), "fresh", SOKOBAN.arguments)
OWN = sorted(name for name in AGENTS if name.startswith("sokoban"))


def played(name: str, count: int, scenario: Scenario = SOKOBAN, episodes: int = 3) -> list[Record]:
    suite = Suite("test", 1, "", (Part(scenario, count, ()),))
    env = scenario.make(episodes=episodes)
    return [play(env, make_agent(name), entry) for entry in make_panel(suite).entries]


def wins(records: list[Record]) -> Any:
    """Returns who won which episode: 1 or 0, shape (records, episodes)."""
    return np.array([[episode.outcome == "win" for episode in record.episodes] for record in records], dtype=float)


def test_the_solver_wins_everything() -> None:
    for name in ("test", "one_box", "three_boxes", "large"):
        assert wins(played("sokoban_solver", 25, SCENARIOS.get(f"sokoban/{name}"))).all()


def test_memory_wins_more_of_the_third_episodes_than_of_the_first() -> None:
    found = wins(played("sokoban_explorer", 120))
    gain = found[:, 2] - found[:, 0]
    half_width = 1.96 * gain.std(ddof=1) / np.sqrt(len(gain))
    assert gain.mean() - half_width > 0.1  # .32 on 300 rooms
    assert 0.3 < found[:, 0].mean() < 0.65
    greedy = wins(played("sokoban_greedy", 120))
    assert abs(greedy[:, 2].mean() - greedy[:, 0].mean()) < 0.12


def test_memory_is_of_no_use_where_rooms_are_fresh() -> None:
    assert (wins(played("sokoban_explorer", 40, FRESH)) == wins(played("sokoban_greedy", 40, FRESH))).all()


def test_the_shortest_walk_goes_first_and_the_nearer_target_counts() -> None:
    level = parse_level("########/#@ $ . #/#  $   #/#  .   #/########")
    found = {(push.box, push.heading): push for push in pushes(level)}
    assert found[11, 3].gain == 1
    assert found[11, 3].moves == (3, 3)
    assert found[19, 3].gain == -1
    assert (19, 1) not in found  # The other box stands where one would have to stand.


@pytest.mark.parametrize("name", [*OWN, "random", "first_legal"])
def test_same_seeds_same_play(name: str) -> None:
    runs = [played(name, 10) for _ in range(2)]
    assert runs[0] == runs[1]
    assert {record.status for record in runs[0]} == {"ok"}
    if name in ("random", "first_legal"):
        assert wins(runs[0]).mean() < 0.3


@pytest.mark.parametrize("name", OWN)
def test_begin_forgets_the_last_meta_episode(name: str) -> None:
    env, agent = SOKOBAN.make(episodes=3), make_agent(name)
    first, other = (Entry(SOKOBAN.name, number, None, 0, number + 7) for number in range(2))
    record = play(env, agent, first)
    play(env, agent, other)
    assert play(env, agent, first) == record


def test_records_say_what_the_turn_limit_ended() -> None:
    records = played("first_legal", 3)
    assert all(episode.truncated for record in records for episode in record.episodes)
    assert '"truncated":true' in records[0].model_dump_json()
    assert '"truncated"' not in played("sokoban_solver", 1)[0].model_dump_json()


def test_panels_of_sokoban_can_be_solved_and_hold_no_room_twice_and_none_of_training() -> None:
    world = {name: SCENARIOS.get(f"sokoban/{name}") for name in ("train", "test")}
    rooms: dict[str, Counter[str]] = {}
    for name, scenario in world.items():
        env = scenario.make(interface="text", episodes=1)
        suite = Suite("test", 1, "", (Part(scenario, 512, ()),))
        seen = (env.reset(seed=entry.seed)[1]["view"].key for entry in make_panel(suite).entries)
        rooms[name] = Counter(seen)
        for room in rooms[name]:
            solution = solve(parse_level(room))
            assert solution is not None
            assert 1 <= len(solution.moves) <= 21
    assert max(rooms["test"].values()) == 1
    assert not set(rooms["train"]) & set(rooms["test"])
