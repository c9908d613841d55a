"""An opponent as an agent keeps the opponent's memory, and learns at the end of each episode."""

from __future__ import annotations

from typing import Any

import numpy as np

from mage_agent.base import Briefing
from mage_agent.opponent_agent import OpponentAgent
from mage_envs.games import load_game_spec, position_graph
from mage_envs.opponents import Opponent, one_hot


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
