"""Games: one file each. ``load_game_spec`` finds a game by its name or any OpenSpiel game by its game string."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from mage_envs.errors import SpecError
from mage_envs.games.base import Facts, GameSpec, WorkedExample
from mage_envs.games.openspiel import generic_spec
from mage_envs.games.positions import Position, PositionGraph, View, fold, position_graph
from mage_envs.registry import Registry
from mage_envs.spec_strings import bind_spec, parse_spec

__all__ = [
    "GAMES", "Facts", "GameSpec", "Position", "PositionGraph", "View", "WorkedExample",
    "fold", "load_game_spec", "position_graph",
]  # fmt: skip

GAMES: Registry[Callable[..., GameSpec]] = Registry("game", package=__name__)
"""Game files register a function from parameters to a spec here."""


@lru_cache(maxsize=256)
def load_game_spec(game: str) -> GameSpec:
    """Finds a game.

    Args:
        game: A name in ``GAMES`` (``"kuhn_poker"``, ``"rock_paper_scissors(throws=10)"``), or an OpenSpiel game
            string (``"liars_dice(numdice=1)"``).

    Returns:
        The spec; equal strings give the same object.

    Raises:
        UnsupportedGameError: OpenSpiel has no such game, or MAGE cannot play it; near matches are listed.
    """
    name = game.split("(")[0].strip()
    if name not in GAMES:
        return generic_spec(game, known=tuple(GAMES))
    try:
        arguments = bind_spec(parse_spec(game), GAMES.get(name), "game")
    except SpecError:
        return generic_spec(game, known=tuple(GAMES))
    return GAMES.get(name)(**arguments)
