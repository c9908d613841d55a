"""Games: one file each. ``load_game_spec`` finds a game by its name or any OpenSpiel game by its game string."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pyspiel

from mage_envs.errors import SpecError, UnsupportedGameError
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


def load_game_spec(game: str) -> GameSpec:
    """Finds a game.

    Args:
        game: A name in ``GAMES`` (``"kuhn_poker"``, ``"rock_paper_scissors(throws=10)"``), or an OpenSpiel game
            string (``"liars_dice(numdice=1)"``, ``"kuhn_poker(players=3)"``).

    Returns:
        The spec; equal strings give the same object, and ``spec.name`` gives it back.

    Raises:
        SpecError: A parameter of a game in ``GAMES`` that does not fit; the message names the range.
        UnsupportedGameError: OpenSpiel has no such game, or MAGE cannot play it; near matches are listed.
    """
    if not isinstance(game, str):
        raise UnsupportedGameError(f"a game is named by a string such as 'kuhn_poker', not {type(game).__name__}")
    if not game:
        raise UnsupportedGameError(
            "which game? Pass game= with a name such as 'kuhn_poker', or any OpenSpiel game string such as "
            "'liars_dice(numdice=1)'"
        )
    return _load(game)


@lru_cache(maxsize=256)
def _load(game: str) -> GameSpec:
    name = game.split("(")[0].strip()
    if name not in GAMES:
        return generic_spec(game, known=tuple(GAMES))
    factory = GAMES.get(name)
    try:
        arguments = bind_spec(parse_spec(game), factory, "game")
    except SpecError:
        if name not in pyspiel.registered_names():
            raise
        return generic_spec(game, known=tuple(GAMES))  # OpenSpiel's own parameters: another game.
    return factory(**arguments)
