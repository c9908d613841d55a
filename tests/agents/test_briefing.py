"""A briefing says what is played, and an agent for the other kind is told so."""

from __future__ import annotations

import pytest

from mage_agent.agents import make_agent
from mage_agent.base import Briefing
from mage_envs.errors import UnsupportedGameError
from mage_envs.games import load_game_spec
from mage_envs.worlds import load_world


def test_games_and_worlds() -> None:
    game, world = load_game_spec("kuhn_poker"), load_world("sokoban")
    in_game, in_world = (Briefing(spec, "", 3, (), 0) for spec in (game, world))
    assert in_game.game is game
    assert in_world.world is world
    with pytest.raises(UnsupportedGameError, match="plays in worlds, not the game 'kuhn_poker'"):
        _ = in_game.world
    with pytest.raises(UnsupportedGameError, match="plays games, not the world Sokoban"):
        make_agent("mcts(simulations=10)").begin(in_world)
