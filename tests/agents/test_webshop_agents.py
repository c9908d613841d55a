"""Scripted shoppers, through the harness: what they earn, what memory adds, and where it is of no use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.panels import Entry, make_panel
from benchmarks.records import Record
from benchmarks.referee import play
from benchmarks.suites.base import Part, Suite
from mage_agent.agents import make_agent
from mage_agent.webshop_reading import choose_options, rate_options, rate_title, read_wish
from mage_envs.scenarios import SCENARIOS, Scenario
from tests.agents.test_world_agents import wins

TEST = SCENARIOS.get("webshop/test")
FRESH = Scenario("test/webshop_fresh", TEST.env_id, "", "", None, (0,), "fresh", TEST.arguments)
OWN = ("webshop_rule", "webshop_rerank", "webshop_explorer", "webshop_oracle")


def played(name: str, count: int, scenario: Scenario = TEST) -> list[Record]:
    env = scenario.make(episodes=3)
    entries = make_panel(Suite("test", 1, "", (Part(scenario, count, ()),))).entries
    return [play(env, make_agent(name), entry) for entry in entries]


def scores(records: list[Record]) -> Any:
    return np.array([[episode.reward for episode in record.episodes] for record in records])


@pytest.mark.parametrize("name", sorted(name for name in SCENARIOS if name.startswith("webshop/")))
def test_the_oracle_wins_everything(name: str) -> None:
    assert wins(played("webshop_oracle", 25, SCENARIOS.get(name))).all()


def test_memory_wins_more_of_the_third_episodes_than_of_the_first() -> None:
    found = wins(played("webshop_explorer", 120))
    gain = found[:, 2] - found[:, 0]
    half_width = 1.96 * gain.std(ddof=1) / np.sqrt(len(gain))
    assert gain.mean() - half_width > 0.05
    assert (np.diff(found.mean(axis=0)) >= 0).all()
    rerank = wins(played("webshop_rerank", 60))
    assert (rerank[:, 0] == rerank[:, 2]).all()
    assert (rerank[:60, 0] == found[:60, 0]).all()


def test_memory_is_of_no_use_where_goals_are_fresh() -> None:
    assert (wins(played("webshop_explorer", 30, FRESH)) == wins(played("webshop_rerank", 30, FRESH))).all()


def test_looking_and_choosing_pays() -> None:
    rule, rerank = scores(played("webshop_rule", 80)).mean(), scores(played("webshop_rerank", 80)).mean()
    assert 0.3 < rule < rerank - 0.05


def test_what_is_held_out_is_harder() -> None:
    test, *shifted = (
        scores(played("webshop_rerank", 80, SCENARIOS.get(f"webshop/{name}"))).mean()
        for name in ("test", "heldout_phrasing", "heldout")
    )
    assert max(shifted) < test - 0.05


@pytest.mark.parametrize("name", [*OWN, "webshop_rerank(looks=1)"])
def test_nobody_answers_anything_invalid(name: str) -> None:
    for record in (*played(name, 30), *played(name, 15, SCENARIOS.get("webshop/heldout"))):
        assert record.status == "ok"
        assert sum(episode.invalid for episode in record.episodes) == 0
        assert all(episode.length <= 12 for episode in record.episodes)


@pytest.mark.parametrize("name", OWN)
def test_begin_forgets_the_last_meta_episode(name: str) -> None:
    env, agent = TEST.make(episodes=3), make_agent(name)
    first, other = (Entry(TEST.name, number, None, 0, number + 7) for number in range(2))
    record = play(env, agent, first)
    play(env, agent, other)
    assert play(env, agent, first) == record


@pytest.mark.parametrize("name", OWN)
def test_shoppers_shop_nowhere_else(name: str) -> None:
    env = SCENARIOS.get("sokoban/test").make(episodes=1, interface="text")
    record = play(env, make_agent(name), Entry("sokoban/test", 0, None, 0, 1))
    assert record.status == "error"
    assert "not in Sokoban" in str(record.error)


def test_looks_are_checked() -> None:
    assert make_agent("webshop_rerank(looks=2)").name == "webshop_rerank(looks=2)"
    with pytest.raises(ValueError, match="looks must be"):
        make_agent("webshop_explorer(looks=9)")


def test_an_instruction_is_read() -> None:
    wish = read_wish(
        "Find me soft rugs with color: navy blue, and size: 2 ft x 3 ft, and price lower than 40.00 dollars"
    )
    assert wish.bound == 40
    assert wish.labels == {"color": "navy blue", "size": "2 ft x 3 ft"}
    assert wish.query == "find me soft rugs"
    options = {"color": ("blue", "navy blue"), "size": ("2 ft x 3 ft",), "style": ("rustic",)}
    assert choose_options(wish, options) == {"color": "navy blue", "size": "2 ft x 3 ft"}
    assert rate_options(wish, options) == 0
    assert rate_options(wish, {"color": ("red",)}) == -6
    assert (
        rate_title(wish, "Soft Rugs", "$30.0")
        > rate_title(wish, "Rugs", "$30.0")
        > rate_title(wish, "Soft Rugs", "$50.0")
    )


def test_a_short_instruction_is_read() -> None:
    wish = read_wish("i need dry skin serum and tea tree, in 2 fl oz, x-large, and price lower than 20.00 dollars")
    assert choose_options(wish, {"size": ("2 fl oz", "12 fl oz"), "fit": ("large", "x-large")}) == {
        "size": "2 fl oz",
        "fit": "x-large",
    }
