"""Agents by spec: every registered one plays, and wrong specs say what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from mage_agent.agents import AGENTS, make_agent
from mage_agent.base import Briefing
from mage_agent.policies import best_policy
from mage_envs.errors import SpecError, UnknownNameError, UnsupportedGameError
from mage_envs.games import load_game_spec
from mage_envs.opponents import OPPONENTS
from mage_envs.worlds import WORLDS
from tests.agents.loop import make, play

REQUIRED = ("random", "equilibrium", "minimax", "mcts(simulations=10)", "best_response", "thompson")  # issue 2, item 7


def briefing(game: str, **others: object) -> Briefing:
    values = {"rules": "", "episodes": 3, "population": (("random", 1.0),), "seed": 0, **others}
    return Briefing(load_game_spec(game), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", REQUIRED)
def test_required_agents_play_tic_tac_toe(name: str) -> None:
    env = make("TicTacToe", population="first_legal")
    assert len(play(make_agent(name), env, seed=3)) == 3


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_every_agent_says_what_it_is(name: str) -> None:
    agent = make_agent(name)
    assert agent.name.split("(")[0] == name
    assert make_agent(agent.name).name == agent.name
    assert agent.oracle is (
        name in ("alfworld_expert", "bayes_optimal", "best_response", "sokoban_solver", "webshop_oracle")
    )
    assert agent.interface in ("array", "text")
    assert type(agent).__doc__


SCRIPTED = sorted(
    name
    for name in AGENTS
    if AGENTS.get(name).interface == "array" and not name.startswith(tuple(WORLDS))  # type: ignore[attr-defined]
)
"""The others are in test_language_agents.py, and those of worlds in test_world_agents.py."""

GAMES = {"markov": "RockPaperScissors"}
"""Agents that do not play Kuhn poker, with a game that they play."""


@pytest.mark.parametrize("name", [*SCRIPTED, "random", "cfr", "conservative"])
def test_same_seeds_same_play(name: str) -> None:
    env = make(GAMES.get(name, "KuhnPoker"), seat="alternate" if name == "bayes_optimal" else "random")
    runs = [[play(make_agent(name), env, seed) for seed in range(20)] for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("name", [*SCRIPTED, "random", "cfr"])
def test_begin_forgets_the_last_meta_episode(name: str) -> None:
    env, agent = make(GAMES.get(name, "KuhnPoker")), make_agent(name)
    first = play(agent, env, seed=5)
    play(agent, env, seed=6)
    assert play(agent, env, seed=5) == first


def test_names_are_canonical() -> None:
    assert make_agent("mcts(10)").name.startswith("mcts(simulations=10, ")
    assert make_agent("thompson").name == "thompson"


def test_names_of_agents_and_opponents_do_not_clash() -> None:
    assert not set(AGENTS) & set(OPPONENTS)


def test_unknown_agent_lists_near_matches_over_agents_and_opponents() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown agent 'tompson'\. Did you mean 'thompson'"):
        make_agent("tompson")
    with pytest.raises(UnknownNameError, match="Did you mean 'conservative'"):
        make_agent("conservativ")


def test_unknown_parameter_is_refused_before_a_game_is_known() -> None:
    with pytest.raises(SpecError, match=r"no parameter 'simulation'\. Did you mean 'simulations'"):
        make_agent("mcts(simulation=5)")
    with pytest.raises(SpecError, match="thompson"):
        make_agent("thompson(5)")


def test_oracle_must_be_told() -> None:
    with pytest.raises(ValueError, match=r"put the hidden opponent's spec in briefing\.opponent"):
        make_agent("best_response").begin(briefing("kuhn_poker"))


def test_thompson_must_know_the_population() -> None:
    with pytest.raises(ValueError, match=r"in briefing\.population"):
        make_agent("thompson").begin(briefing("kuhn_poker", population=()))


def test_opponents_without_a_table_are_refused_by_name() -> None:
    told = briefing("tic_tac_toe", opponent="mcts(simulations=10)")
    with pytest.raises(UnsupportedGameError, match="has no behaviour table"):
        make_agent("best_response").begin(told)
    among = briefing("tic_tac_toe", population=(("random", 0.5), ("mcts(simulations=10)", 0.5)))
    with pytest.raises(UnsupportedGameError, match="has no behaviour table"):
        make_agent("thompson").begin(among)


def test_a_trembling_opponent_is_answered_sensibly_where_it_never_lets_one_get_to() -> None:
    policy = best_policy(load_game_spec("kuhn_poker"), "first_legal", 0, trembling=1e-3)  # It never bets. If it does:
    assert (policy["0pb"], policy["2pb"]) == (0, 1)  # the Jack folds, the King calls.


def test_global_generators_are_untouched() -> None:
    before = np.random.get_state()[1].tolist()  # noqa: NPY002 -- the global generator is what is looked at
    play(make_agent("thompson"), make(), seed=1)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
