"""Opponents, one file a family, made from spec strings; and populations of them."""

from __future__ import annotations

from functools import lru_cache, partial

from mage_envs.errors import SpecError
from mage_envs.games import GameSpec
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, one_hot, sample_index
from mage_envs.spec_strings import Spec, bind_spec, parse_spec

__all__ = ["OPPONENTS", "Distribution", "Memory", "Opponent", "make_opponent", "one_hot", "sample_index"]


def make_opponent(spec: str | Spec, game: GameSpec) -> Opponent:
    """Makes the opponent that a spec names, for a game. Equal specs give the same shared object.

    Args:
        spec: For instance ``"mcts(simulations=100)"``; parameters that are left out take their defaults.
        game: The game it shall play.

    Returns:
        The opponent; its ``spec`` names every parameter.

    Raises:
        SpecError: The spec does not parse, or a parameter is unknown or out of range.
        UnknownNameError: No such opponent; near matches are listed.
        UnsupportedGameError: This opponent cannot play this game; the message names one that can.
    """
    if not isinstance(spec, str | Spec):
        raise SpecError(f"an opponent is a spec such as 'mcts(simulations=100)', not {type(spec).__name__}")
    return _make(str(spec), game)


@lru_cache(maxsize=1024)
def _make(spec: str, game: GameSpec) -> Opponent:
    parsed = parse_spec(spec)
    factory = OPPONENTS.get(parsed.name)
    values = bind_spec(parsed, partial(factory, game), "opponent")
    canonical = Spec(parsed.name, (), tuple(values.items()))
    if str(canonical) != spec:
        return _make(str(canonical), game)
    opponent = factory(game, **values)
    opponent.spec = canonical
    return opponent
