"""Agents of ALFWorld: the expert wins everything; what the seeker remembers is worth more than what it finds anew."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy.stats import binomtest

from benchmarks.panels import scenario_entries
from benchmarks.suites import Part
from mage_agent.agents import make_agent
from mage_agent.alfworld_sight import Wanted, seen_in, wanted_by
from mage_agent.base import Briefing
from mage_envs.errors import SpecError, UnsupportedGameError
from mage_envs.scenarios import SCENARIOS
from mage_envs.worlds.alfworld import household
from mage_envs.worlds.alfworld.households import errand_of
from tests.agents.test_agents import briefing

# The fixture of the published games: a test that takes it skips without them.
from tests.worlds.alfworld.conftest import alfworld_data  # noqa: F401

NAMES = [name for name in SCENARIOS if name.startswith("alfworld/") and not SCENARIOS.get(name).needs_data]


def play(agent: Any, env: Any, seed: int) -> list[float]:
    """Returns the score of each episode."""
    inner = env.unwrapped
    observation, info = env.reset(seed=seed)
    agent.begin(Briefing(inner.world, "", inner.episodes, (), seed, None, None, inner.instance))
    scores, over = [], False
    while not over:
        answer = (agent.reflect if info["phase"] == "reflect" else agent.act)(observation, info)
        observation, _, terminated, truncated, info = env.step(answer)
        over = terminated or truncated
        if "episode_result" in info:
            assert info["episode_result"]["invalid"] == 0
            scores.append(info["episode_result"]["reward"])
    return scores


def played(spec: str, env: Any, count: int) -> np.ndarray:
    """Returns who won which episode; shape (count, episodes)."""
    agent = make_agent(spec)
    return np.array([play(agent, env, seed) for seed in range(count)])


def interval(scores: np.ndarray) -> tuple[float, float]:
    found = binomtest(int(scores.sum()), len(scores)).proportion_ci()
    return found.low, found.high


def check_memory_helps(env: Any, count: int) -> None:
    with_memory, without = (played(spec, env, count) for spec in ("alfworld_seeker(remember=true)", "alfworld_seeker"))
    assert (with_memory[:, 0] == without[:, 0]).all()
    first, third = interval(with_memory[:, 0]), interval(with_memory[:, 2])
    assert third[0] > interval(without[:, 2])[1]
    assert third[0] > first[1]
    passed = without.max(1)  # Some episode of three, by three independent searches.
    assert third[0] > interval(passed)[1]


@pytest.mark.parametrize("name", NAMES)
def test_every_household_of_a_panel_is_new_and_won_by_the_expert(name: str) -> None:
    scenario = SCENARIOS.get(name)
    entries = scenario_entries(Part(scenario, 60, ()), ((None, 1.0),), 60, ("test",))
    env: Any = scenario.make(episodes=1).unwrapped
    expert, contents = make_agent("alfworld_expert"), set()
    for entry in entries:
        assert play(expert, env, entry.seed) == [1.0]
        contents.add(env.world.content(env.world.start(env.instances[0])))
    assert len(contents) == 60


def test_memory_wins_more_of_the_third_episodes_than_search_does() -> None:
    check_memory_helps(SCENARIOS.get("alfworld/train").make(episodes=3), 150)


def test_memory_is_of_no_use_where_households_are_fresh() -> None:
    env = SCENARIOS.get("alfworld/fresh").make(episodes=3)
    assert (played("alfworld_seeker(remember=true)", env, 30) == played("alfworld_seeker", env, 30)).all()


def test_the_same_holds_on_the_published_unseen_games(alfworld_data: Any) -> None:  # noqa: F811
    env = gym.make("mage/ALFWorld-meta-v0", source="valid_unseen", data_dir=str(alfworld_data))
    check_memory_helps(env, 134)


def test_the_expert_wins_every_published_game_in_ten_turns(alfworld_data: Any) -> None:  # noqa: F811
    expert = make_agent("alfworld_expert")
    for source in ("valid_seen", "valid_unseen", "valid_train"):
        env: Any = gym.make("mage/ALFWorld-v0", source=source, data_dir=str(alfworld_data)).unwrapped
        for instance in env.world.games:
            observation, info = env.reset(seed=0, options={"instance": instance})
            expert.begin(Briefing(env.world, "", 1, (), 0))
            over = False
            while not over:
                observation, _, over, truncated, info = env.step(expert.act(observation, info))
                assert not truncated, instance


def test_both_play_the_old_dialect() -> None:
    env = gym.make("mage/ALFWorld-meta-v0", dialect="0.3", turns=30)
    assert played("alfworld_expert", env, 10).all()
    assert played("alfworld_seeker(remember=true)", env, 20)[:, 2].mean() > 0.8


def test_all_tasks_of_made_households_are_understood() -> None:
    for number in range(300):
        errand, wanted = errand_of(number), wanted_by(household(number).task)
        assert wanted is not None
        assert wanted.thing == errand.thing.lower()
        assert errand.where.lower() in (wanted.where, wanted.lamp)
        assert wanted.number == errand.needed
    assert wanted_by("find two soapbar and put them in drawer.") == Wanted("soapbar", "drawer", number=2)
    assert wanted_by("tidy up.") is None


def test_sights_are_read() -> None:
    assert seen_in("The drawer 1 is closed.") == ("drawer 1", None)
    assert seen_in("You open the safe 1. The safe 1 is open. In it, you see nothing.") == ("safe 1", ())
    assert seen_in("You are not carrying anything.") is None


def test_memory_is_taken_put_back_and_shuffled() -> None:
    env = SCENARIOS.get("alfworld/train").make(episodes=2)
    agent: Any = make_agent("alfworld_seeker(remember=true)")
    play(agent, env, 5)
    memory = agent.memory
    shuffled = agent.shuffled(memory, np.random.default_rng(1))
    assert shuffled != memory
    assert [name for name, _ in shuffled] == [name for name, _ in memory]
    assert sorted(things for _, things in shuffled) == sorted(things for _, things in memory)
    agent.memory = shuffled
    assert agent.memory == shuffled
    plain: Any = make_agent("alfworld_seeker")
    assert plain.memory is None
    assert plain.shuffled(None, np.random.default_rng(1)) is None


def test_other_games_and_values_are_refused() -> None:
    for name in ("alfworld_expert", "alfworld_seeker"):
        with pytest.raises(UnsupportedGameError):
            make_agent(name).begin(briefing("kuhn_poker"))
    with pytest.raises(SpecError, match="remember"):
        make_agent("alfworld_seeker(remember=2)")
