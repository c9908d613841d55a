"""What a batch of meta-episodes reads: a compiled game and its opponents, in the form in which they are looked up.

Chance and opponents choose an edge of the game by one random number u = m / 2**53: :func:`sample_index
<mage_envs.opponents.base.sample_index>` takes probabilities away from u, one after the other, until it is below 0, or
takes ``int(u * count)`` if all are equal. Both grow with u, roundings included. So every edge but the last has a *cut*:
the least m with which a later edge is chosen; and the choice is the number of cuts that m has reached. Cuts are found
with the very operations on floats that they replace, and m is all that a step needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.games.positions import CHANCE
from mage_envs.opponents import Opponent, make_opponent
from mage_envs.tabular.compiled import CompiledGame
from mage_envs.tabular.tables import behaviour

Array: TypeAlias = npt.NDArray[Any]

NODE = np.dtype([("actor", np.int32), ("first", np.uint32), ("last", np.uint32)])
"""Who moves at a state, and its first and last edge."""

NEVER = 2**53
"""A cut that no number reaches."""


class Tables(NamedTuple):
    """What a batch reads of a game with S states, E edges, V views and A actions; K opponents.

    Attributes:
        node: Of each state who moves, its first and its last edge; ``NODE``, shape (S,).
        shown: The view that a seat has when it is asked or the game is over, else −1; int32, shape (S, seats).
        child: Where an edge leads; uint32, shape (E,).
        cut: The cuts of the edges if the mover is chance or an opponent; int64, shape (K, E).
        returns: What each seat has got at a state; float64, shape (S, seats).
        outcome: 1 if a seat has won at the end, −1 if it has lost, else 0; int8, shape (S, seats).
        move: The index of an action among the legal ones of a view, else −1; int32, shape (V, A).
        mask: The masks of the views, then all ones, then all zeros; int8, shape (V + 2, A).
        legal: The actions of a view in order, of which the first ``choices`` count; int32, shape (V, most of them).
        choices: How many actions are legal; int32, shape (V,).
        cumulative: Weights of the opponents, added up, without the last sum; float64, shape (K − 1,).
        opening: How many chance events every game begins with.
    """

    node: Array
    shown: Array
    child: Array
    cut: Array
    returns: Array
    outcome: Array
    move: Array
    mask: Array
    legal: Array
    choices: Array
    cumulative: Array
    opening: int


def make_tables(game: CompiledGame, opponents: Sequence[Opponent], weights: Sequence[float]) -> Tables:
    """Puts together what a batch reads.

    Args:
        game: The game.
        opponents: Those that may come; all must be tabular.
        weights: The weights of the first of them, adding up to 1; the others are never drawn.

    Raises:
        UnsupportedGameError: An opponent has no table.
    """
    for opponent in opponents:
        _check_tabular(opponent)
    ones = np.ones((1, game.spec.actions), np.int8)
    return Tables(
        node=_nodes(game),
        shown=_own(game.shown, np.int32),
        child=_own(game.child, np.uint32),
        cut=np.array([_opponent_cuts(game, type(opponent), str(opponent.spec)) for opponent in opponents]),
        returns=_own(game.returns, np.float64),
        outcome=_outcome(game.spec, game.returns),
        move=_own(game.move, np.int32),
        mask=np.concatenate([game.mask, ones, ones - 1]),
        legal=_legal(game),
        choices=game.mask.sum(axis=1, dtype=np.int32),
        cumulative=np.array(list(accumulate(weights))[:-1], np.float64),
        opening=_opening(game),
    )


def cuts(probability: Array, first: Array) -> Array:
    """Returns the cuts of edges that are sampled by taking away one probability after the other.

    Args:
        probability: Of each edge; float64, shape (E,).
        first: The edges of state s are ``first[s]`` to ``first[s + 1]``; integers, shape (S + 1,).
    """
    starts, ordinal = _ordinals(first)
    most = int(ordinal.max(initial=0))
    total = np.zeros(len(probability))
    for earlier in range(most + 1):
        total += np.where(earlier <= ordinal, probability[np.minimum(starts + earlier, len(probability) - 1)], 0.0)

    def reached(m: Array) -> Array:
        left = m * 2.0**-53
        for earlier in range(most + 1):
            left -= np.where(earlier <= ordinal, probability[np.minimum(starts + earlier, len(probability) - 1)], 0.0)
        return left >= 0.0

    # Every operation is off by half a step of the grid at most.
    found = _least(reached, total, most + 3)
    return np.where(_last_possible(probability, first), NEVER, found)


def uniform_cuts(first: Array) -> Array:
    """Returns the cuts of edges that are sampled by ``int(u * count)``."""
    _, ordinal = _ordinals(first)
    count = np.repeat(np.diff(first), np.diff(first)).astype(np.int64)
    return _least(lambda m: (m * 2.0**-53 * count).astype(np.int64) > ordinal, (ordinal + 1) / count, 3)


def _check_tabular(opponent: Opponent) -> None:
    if not opponent.tabular:
        raise UnsupportedGameError(
            f"{opponent.spec} has no behaviour table (it remembers, or searches at random), so that it cannot play in "
            "a batch. Use vectorization_mode='sync'; or a population without it; or, on a small game with perfect "
            "information, mcts_table(...) in its place"
        )


@lru_cache(maxsize=64)
def _opponent_cuts(game: CompiledGame, _kind: type[Opponent], spec: str) -> Array:
    """Returns the cuts of all edges against an opponent, remembered: environments are made more often."""
    table, uniform = behaviour(game, make_opponent(spec, game.spec))
    information = game.information[game.source]
    decided = game.actor[game.source] >= 0
    probability = np.where(game.actor[game.source] == CHANCE, game.chance, 0.0)
    probability[decided] = table[information[decided], game.action[decided]]
    found = cuts(probability, game.first)
    return np.where(decided & uniform[information], uniform_cuts(game.first), found)


def _ordinals(first: Array) -> tuple[Array, Array]:
    """Returns of each edge the first edge of its state, and its place among them."""
    starts = np.repeat(first[:-1], np.diff(first)).astype(np.int64)
    return starts, np.arange(len(starts)) - starts


def _last_possible(probability: Array, first: Array) -> Array:
    """Says of each edge whether none after it, of its state, has a probability above 0."""
    total = np.concatenate([[0], np.cumsum(probability > 0.0)])
    ends = np.repeat(first[1:], np.diff(first))
    return np.asarray(total[ends] == total[1:])


def _least(reached: Callable[[Array], Array], near: Array, steps: int) -> Array:
    """Returns the least m with ``reached(m)``, which is off ``near * 2**53`` by at most some steps; int64."""
    guess = np.round(near * 2.0**53).astype(np.int64)
    low, high = np.clip(guess - steps, 0, NEVER), np.clip(guess + steps, 0, NEVER)
    while (low < high).any():
        middle = (low + high) // 2
        enough = reached(middle)
        low, high = np.where(enough, low, np.minimum(middle + 1, high)), np.where(enough, middle, high)
    return low


def _nodes(game: CompiledGame) -> Array:
    nodes = np.zeros(game.states, NODE)
    nodes["actor"], nodes["first"] = game.actor, game.first[:-1]
    nodes["last"] = np.maximum(game.first[1:], 1) - 1
    return nodes


def _opening(game: CompiledGame) -> int:
    level = 0
    while (game.actor[game.levels[level] : game.levels[level + 1]] == CHANCE).all():
        level += 1
    return level


def _own(array: Array, dtype: type[np.generic]) -> Array:
    """Returns the array, or a copy if it is of another type or read-only: numba would compile once more for it."""
    return np.require(array, dtype, ["C", "W"])


def _outcome(spec: GameSpec, returns: Array) -> Array:
    """Says who has won, as ``GameSpec.outcome`` does, for all states and seats."""
    margin = returns
    if not spec.zero_sum:
        others = [np.delete(returns, seat, axis=1).max(axis=1) for seat in range(spec.seats)]
        margin = returns - np.stack(others, axis=1)
    return np.sign(margin).astype(np.int8)


def _legal(game: CompiledGame) -> Array:
    """Returns the legal actions of each view, in order, with zeros after the last."""
    view, action = np.nonzero(game.mask)
    legal = np.zeros((len(game.mask), int(game.mask.sum(axis=1).max(initial=1))), np.int32)
    legal[view, game.move[view, action]] = action
    return legal
