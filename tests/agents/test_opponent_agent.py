"""An opponent as an agent keeps the opponent's memory, and learns at the end of each episode."""

from __future__ import annotations

import collections
import re
from typing import Any

import numpy as np

from mage_agent.base import Briefing
from mage_agent.opponent_agent import OpponentAgent, random_answer
from mage_envs.games import load_game_spec, position_graph
from mage_envs.opponents import Opponent, one_hot
from mage_envs.worlds import WorldView, load_world


class Counter(Opponent):
    """Remembers how many decisions and how many ends it has seen."""

    summary = "counts"
    tabular = False

    def start(self, rng: np.random.Generator) -> Any:
        return (0, 0)

    def policy(self, view: Any, memory: Any, rng: np.random.Generator) -> Any:
        return one_hot(view, view.legal[-1]), (memory[0] + 1, memory[1])

    def end_episode(self, view: Any, memory: Any) -> Any:
        assert view.terminal
        return memory[0], memory[1] + 1


def test_memory_goes_on_across_episodes(monkeypatch: Any) -> None:
    game = load_game_spec("kuhn_poker")
    monkeypatch.setattr("mage_agent.opponent_agent.make_opponent", lambda spec, game: Counter(game))
    agent = OpponentAgent("counter")
    agent.begin(Briefing(game, "", 2, (), seed=0))
    for episode in (1, 2):
        start = position_graph(game).root.child(2).child(0)
        assert agent.act(None, {"view": start.view(0)}) == 1
        assert agent.reflect(None, {"view": start.child(1).child(1).view(0)}) == 0
        assert agent._memory == (episode, episode)


def test_an_episode_that_ended_before_the_first_move_needs_no_decision() -> None:
    game = load_game_spec("kuhn_poker")
    agent = OpponentAgent("random")
    agent.begin(Briefing(game, "", 2, (), seed=0))
    end = position_graph(game).root.child(2).child(0).child(1).child(1)
    assert agent.act(None, {"view": end.view(0)}) == 0


def _answers(world: str, instance: int, draws: int) -> tuple[WorldView, dict[str, int]]:
    spec = load_world(world)
    view, rng = WorldView(spec, spec.start(instance), 0, 10), np.random.default_rng(2)
    return view, dict(collections.Counter(random_answer(view, rng) for _ in range(draws)))


def test_random_draws_every_listed_answer_alike() -> None:
    view, found = _answers("alfworld", 5, 4_000)
    assert set(found) == set(view.names)
    expected = 4_000 / len(view.names)
    assert max(abs(count - expected) for count in found.values()) < 5 * expected**0.5


def test_random_searches_for_any_word_of_the_instruction() -> None:
    view, found = _answers("webshop", 5, 1_000)
    assert view.names == ("search[<your words>]",)
    words = set(re.findall(r"\w+", view.facts["instruction"]))
    assert set(found) == {f"search[{word}]" for word in words}


def test_random_says_nothing_after_an_episode_of_text() -> None:
    world, agent = load_world("alfworld"), OpponentAgent("random")
    agent.begin(Briefing(world, "", 2, (), seed=0))
    assert agent.reflect(None, {"view": WorldView(world, world.start(5), 10, 10)}) == ""
    agent.begin(Briefing(load_world("sokoban"), "", 2, (), seed=0))
    assert agent.reflect(None, {"view": None}) == 0
