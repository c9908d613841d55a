"""What agents carry over can be taken out, put back and shuffled, and is all that they carry over."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from mage_agent.agents import make_agent
from mage_agent.base import Briefing
from mage_agent.briefing import brief
from mage_envs.errors import UnsupportedControlError
from tests.agents.loop import make

KUHN = ("KuhnPoker", {"population": "kuhn/train", "seat": 1})
ROCKS = ("RockPaperScissors", {"game": "rock_paper_scissors(throws=5)", "population": "rps/train", "seat": 0})
SWITCHING = ("KuhnPoker", {"population": "kuhn/switching", "seat": 0})
REMEMBERING = {
    "thompson": KUHN,
    "bayes_optimal": KUHN,
    "recall": KUHN,
    "change_point": SWITCHING,
    "markov": ROCKS,
    "fictitious_play": ROCKS,
    "roshambo(name=greenberg)": ROCKS,
    "mirror": KUHN,
}
SHUFFLED = ("thompson", "bayes_optimal", "recall", "change_point", "markov")


class Session:
    """A meta-episode that stops whenever an episode has been reflected on."""

    def __init__(self, agent: Any, place: tuple[str, Mapping[str, Any]], seed: int) -> None:
        self.env = make(place[0], episodes=5, **place[1])
        self.agent = agent
        self.observation, self.info = self.env.reset(seed=seed)
        agent.begin(brief(self.env, self.info, seed))

    def episode(self) -> None:
        while "episode_result" not in self.info:
            self.observation, _, _, _, self.info = self.env.step(self.agent.act(self.observation, self.info))
        answer = self.agent.reflect(self.observation, self.info)
        self.observation, _, _, _, self.info = self.env.step(answer)


def after(name: str, episodes: int, seed: int) -> Session:
    session = Session(make_agent(name), REMEMBERING[name], seed)
    for _ in range(episodes):
        session.episode()
    return session


@pytest.mark.parametrize("name", REMEMBERING)
def test_memory_is_a_value_that_learning_replaces(name: str) -> None:
    session = after(name, 0, seed=3)
    before = session.agent.memory
    frozen = pickle.dumps(before)
    session.episode()
    session.episode()
    assert session.agent.memory != before
    assert pickle.dumps(before) == frozen
    assert pickle.loads(pickle.dumps(session.agent.memory)) == session.agent.memory


@pytest.mark.parametrize("name", REMEMBERING)
def test_a_memory_can_be_moved_to_another_meta_episode_and_is_learnt_on_from(name: str) -> None:
    donor, taker = after(name, 3, seed=4), after(name, 1, seed=5)
    taker.agent.memory = pickle.loads(pickle.dumps(donor.agent.memory))
    assert taker.agent.memory == donor.agent.memory
    taker.episode()
    if name not in ("mirror", "bayes_optimal"):  # They may see what they knew.
        assert taker.agent.memory != donor.agent.memory


@pytest.mark.parametrize("name", REMEMBERING)
def test_putting_the_first_memory_back_is_beginning_anew(name: str) -> None:
    session = after(name, 0, seed=6)
    empty = session.agent.memory
    session.episode()
    session.agent.memory = empty
    assert session.agent.memory == empty
    session.agent.begin(brief(session.env, session.info, 6))
    if name != "roshambo(name=greenberg)":  # Its match has a seed of its own.
        assert session.agent.memory == empty


@pytest.mark.parametrize("name", SHUFFLED)
def test_shuffling_keeps_the_parts_and_changes_what_they_say(name: str) -> None:
    session = after(name, 4, seed=7)
    memory = session.agent.memory
    found = session.agent.shuffled(memory, np.random.default_rng(0))
    assert session.agent.memory == memory
    assert sorted(numbers(found)) == sorted(numbers(memory))
    assert found != memory
    assert found == session.agent.shuffled(memory, np.random.default_rng(0))


def numbers(memory: Any) -> list[Any]:
    """Returns all that a memory is made of."""
    if isinstance(memory, tuple):
        return [part for item in memory for part in numbers(item)]
    return [repr(memory)]


def test_opponents_that_remember_nothing_have_no_memory_and_others_cannot_be_shuffled() -> None:
    def begun(name: str) -> Any:
        agent = make_agent(name)
        env = make("RockPaperScissors", population="random")
        _, info = env.reset(seed=0)
        agent.begin(brief(env, info, 0))
        return agent

    assert begun("random").memory is None
    frequency = begun("frequency")
    assert frequency.memory == ((0, 0, 0),)
    with pytest.raises(UnsupportedControlError, match="frequency is an opponent, and nothing says how to shuffle"):
        frequency.shuffled(frequency.memory, np.random.default_rng(0))


def test_a_replayed_deal_stays_known_when_the_opponents_are_shuffled() -> None:
    agent: Any = make_agent("bayes_optimal")
    env = make(population="kuhn/train", instance="replay", seat=0)
    _, info = env.reset(seed=0)
    told: Briefing = brief(env, info, 0)
    agent.begin(told)
    weights = np.zeros((3, 6))
    weights[1, 4] = 1.0
    agent.memory = tuple(weights.ravel().tolist())
    found = np.array(agent.shuffled(agent.memory, np.random.default_rng(0))).reshape(3, 6)
    assert found[1].sum() == 0
    assert found[:, 4].sum() == 1
