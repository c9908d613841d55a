"""A briefing says what is played, and an agent for the other kind is told so."""

from __future__ import annotations

import pytest

from mage_agent.agents import make_agent
from mage_agent.base import Briefing
from mage_agent.briefing import brief
from mage_envs.errors import UnsupportedGameError
from mage_envs.games import load_game_spec
from mage_envs.worlds import load_world
from tests.agents.loop import make


def test_games_and_worlds() -> None:
    game, world = load_game_spec("kuhn_poker"), load_world("sokoban")
    in_game, in_world = (Briefing(spec, "", 3, (), 0) for spec in (game, world))
    assert in_game.game is game
    assert in_world.world is world
    with pytest.raises(UnsupportedGameError, match="plays in worlds, not the game 'kuhn_poker'"):
        _ = in_game.world
    with pytest.raises(UnsupportedGameError, match="plays games, not the world Sokoban"):
        make_agent("mcts(simulations=10)").begin(in_world)


def test_it_is_read_from_a_game() -> None:
    env = make(population="kuhn/train", episodes=3, seat=1, instance="replay")
    _, info = env.reset(seed=4)
    told = brief(env, info, 9)
    assert (told.game.name, told.rules, told.episodes, told.seed) == ("kuhn_poker", info["rules"], 3, 9)
    assert (told.seats, told.instance, told.opponent) == ((1, 1, 1), "replay", None)
    assert dict(told.population) == dict(env.unwrapped.population.members)  # type: ignore[attr-defined]
    assert brief(env, info, 9, oracle=True).opponent == info["privileged"]["opponent"]
    del info["privileged"]
    assert brief(env, info, 9) == told


def test_it_is_read_from_a_world() -> None:
    env = make("Sokoban", episodes=2)
    _, info = env.reset(seed=4)
    told = brief(env, info, 9, oracle=True, legal_actions_in_prompt=False)
    assert (told.world, told.rules, told.episodes) == (env.unwrapped.world, info["rules"], 2)  # type: ignore[attr-defined]
    assert (told.population, told.seats, told.opponent, told.instance) == ((), None, None, "replay")
    assert not told.legal_actions_in_prompt
