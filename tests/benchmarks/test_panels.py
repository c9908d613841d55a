"""Panels are the same on every machine, whatever order their parts are met in."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.panels import Entry, canonical_json, derive_seed, largest_remainder, make_panel, scenario_entries
from benchmarks.suites import SUITES
from benchmarks.suites.base import MAX_META_EPISODES, Part, Suite
from mage_envs.scenarios import SCENARIOS, Scenario
from tests.benchmarks.fakes import KUHN, suite

MEMBERS = (("conservative", 0.3), ("aggressive", 0.3), ("intermediate", 0.4))
PART = Part(KUHN, 20, ())


def test_shuffled_members_give_the_same_panel() -> None:
    expected = scenario_entries(PART, MEMBERS, 20, ("quick", 1, 0))
    for seed in range(20):
        members = list(MEMBERS)
        random.Random(seed).shuffle(members)
        assert scenario_entries(PART, members, 20, ("quick", 1, 0)) == expected


def test_seeds_are_pinned() -> None:
    assert scenario_entries(PART, MEMBERS, 4, ("quick", 1, 0)) == [
        Entry("test/kuhn", 0, "aggressive", 0, 1941879555103010),
        Entry("test/kuhn", 1, "aggressive", 1, 1941879555103010),
        Entry("test/kuhn", 2, "intermediate", 0, 3703816103651814),
        Entry("test/kuhn", 3, "intermediate", 1, 3703816103651814),
    ]


def test_opponents_in_their_shares_and_every_deal_from_both_seats() -> None:
    entries = scenario_entries(PART, MEMBERS, 20, ("x",))
    assert Counter(entry.opponent for entry in entries) == {"conservative": 6, "aggressive": 6, "intermediate": 8}
    assert Counter(entry.seat for entry in entries) == {0: 10, 1: 10}
    deals = Counter((entry.opponent, entry.seed) for entry in entries)
    assert set(deals.values()) == {2}
    assert [entry.number for entry in entries] == list(range(20))


def test_opponents_are_spread_over_the_panel() -> None:
    entries = scenario_entries(PART, MEMBERS, 200, ("x",))
    first = Counter(entry.opponent for entry in entries[:100])
    assert all(abs(first[name] - 100 * weight) <= 2 for name, weight in MEMBERS)


def test_agents_get_seeds_of_their_own() -> None:
    entries = scenario_entries(PART, MEMBERS, 20, ("x",))
    seeds = {entry.agent_seed for entry in entries}
    assert len(seeds) == 20
    assert not seeds & {entry.seed for entry in entries}


def test_odd_sizes_and_single_seats() -> None:
    assert [entry.seat for entry in scenario_entries(PART, MEMBERS, 3, ("x",))] == [0, 1, 0]
    single = Part(Scenario("test/one", KUHN.env_id, "", "", "random", seats=(0,)), 4, ())
    entries = scenario_entries(single, [("random", 1.0)], 4, ("x",))
    assert len({entry.seed for entry in entries}) == 4
    assert {entry.seat for entry in entries} == {0}


@pytest.mark.parametrize("size", [0, -1, MAX_META_EPISODES + 1])
def test_sizes_out_of_range(size: int) -> None:
    with pytest.raises(ValueError, match=r"meta_episodes must be in 1\.\.1000000"):
        scenario_entries(PART, MEMBERS, size, ("x",))


@given(st.lists(st.integers(1, 100), min_size=1, max_size=9), st.integers(0, 500))
def test_largest_remainder_shares_out_everything_within_one(weights: list[int], total: int) -> None:
    members = [(f"m{index}", weight / 10) for index, weight in enumerate(weights)]
    counts = largest_remainder(members, total)
    assert sum(counts.values()) == total
    for name, weight in members:
        assert abs(counts[name] - total * weight * 10 / sum(weights)) < 1 + 1e-9


def test_derived_seeds_depend_on_every_part() -> None:
    seeds = {derive_seed("a", 1), derive_seed("a", 2), derive_seed("b", 1), derive_seed("a", "1"), derive_seed("a1")}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**52 for seed in seeds)


def test_the_hash_covers_all_that_decides_what_is_played() -> None:
    base = make_panel(suite())
    assert make_panel(suite()).hash == base.hash
    others = [
        make_panel(suite(), seed=1),
        make_panel(suite(), meta_episodes=12),
        make_panel(suite(episodes=4)),
        make_panel(suite(max_invalid=1)),
        make_panel(suite(legal_actions_in_prompt=False)),
        make_panel(suite(scenario=Scenario("test/kuhn", KUHN.env_id, "", "", "kuhn/train", instance="replay"))),
        make_panel(Suite("test", 2, "", suite().parts)),
    ]
    assert len({panel.hash for panel in [base, *others]}) == 8


def test_who_plays_is_not_part_of_the_panel() -> None:
    assert make_panel(suite(10, "random")).hash == make_panel(suite(10, "equilibrium")).hash


def test_canonical_json_is_one_form() -> None:
    assert canonical_json({"b": [1, "é"], "a": None}) == '{"a":null,"b":[1,"\\u00e9"]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


def test_every_suite_is_well_formed() -> None:
    for name in SUITES:
        found = SUITES.get(name)
        assert found.name == name
        assert found.version >= 1
        assert len({part.scenario.name for part in found.parts}) == len(found.parts)


def test_every_scenario_makes_its_environment() -> None:
    for name in SCENARIOS:
        scenario = SCENARIOS.get(name)
        assert scenario.name == name
        if scenario.needs_data:  # Its own tests bring some.
            continue
        env = scenario.make(episodes=2)
        seat = {"seat": scenario.seats[0]} if scenario.population is not None else None
        observation, info = env.reset(seed=0, options=seat)
        assert observation in env.observation_space
        assert info["episodes"] == 2


def test_scenarios_refuse_bad_seats() -> None:
    for seats in ((), (0, 0)):
        with pytest.raises(ValueError, match="one or more different seats"):
            Scenario("x", KUHN.env_id, "", "", "random", seats=seats)
