"""Passes over a compiled game, level by level: how likely each state is, and what it is worth."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from mage_envs.games.positions import TERMINAL
from mage_envs.tabular.compiled import CompiledGame
from mage_envs.tabular.results import BestResponse, FloatArray, IntArray, Score, argmax, payoffs
from mage_envs.tabular.tables import Table


class Level(NamedTuple):
    """The states of one level that are not the end, with their edges.

    Attributes:
        states: Their numbers; shape ``(n,)``.
        edges: All their edges.
        starts: Where the edges of each state begin in ``edges``; shape ``(n,)``.
        counts: How many each state has; shape ``(n,)``.
    """

    states: IntArray
    edges: slice
    starts: IntArray
    counts: IntArray


def levels(game: CompiledGame) -> Iterator[Level]:
    """Yields the levels from the root on, those without edges left out."""
    for begin, end in itertools.pairwise(game.levels.tolist()):
        states = begin + np.flatnonzero(game.actor[begin:end] != TERMINAL)
        if len(states):
            edges = slice(int(game.first[begin]), int(game.first[end]))
            yield Level(states, edges, game.first[states] - edges.start, np.diff(game.first)[states])


def edge_probabilities(game: CompiledGame, table: Table, seats: Iterable[int], *, chance: bool = True) -> FloatArray:
    """Returns the probability of each edge: of chance, and of the seats that play the table; 1 for other seats.

    Args:
        game: The game.
        table: What the seats do.
        seats: Who plays it.
        chance: Whether chance counts; else its outcomes have 1 as well.
    """
    mover = game.actor[game.source]
    played = np.isin(mover, list(seats))
    probabilities = game.chance.copy() if chance else np.ones_like(game.chance)
    probabilities[played] = table[game.information[game.source[played]], game.action[played]]
    return probabilities


def reach(game: CompiledGame, probabilities: FloatArray) -> FloatArray:
    """Returns the product of the probabilities on the way to each state, summed over ways; shape ``(states,)``."""
    reached = np.zeros(game.states)
    reached[0] = 1.0
    for level in levels(game):
        edges = level.edges
        arriving = reached[game.source[edges]] * probabilities[edges]
        if game.spec.merge:
            np.add.at(reached, game.child[edges], arriving)
        else:
            reached[game.child[edges]] = arriving
    return reached


def evaluate(game: CompiledGame, table: Table, seat: int) -> Score:
    """Returns the expected result of a seat when all seats play by one table."""
    ends = game.actor == TERMINAL
    reached = reach(game, edge_probabilities(game, table, range(game.spec.seats)))
    return Score(*(reached[ends] @ payoffs(game, seat)[ends]).tolist())


def best_response(game: CompiledGame, table: Table, seat: int, objective: FloatArray) -> BestResponse:
    """Finds the best policy of a seat against a table of the others, where every information state is one state.

    Args:
        game: A game with ``merge``.
        table: What the others do.
        seat: The seat that maximises.
        objective: Weights of the four parts of a :class:`Score`.
    """
    others = [other for other in range(game.spec.seats) if other != seat]
    probabilities = edge_probabilities(game, table, others)
    values, policy = payoffs(game, seat).copy(), np.full(game.information_states, -1)
    for level in reversed(list(levels(game))):
        options, weights = values[game.child[level.edges]], probabilities[level.edges]
        own = game.actor[level.states] == seat
        best = _best_edges(level, options @ objective)[own]
        weights[np.repeat(own, level.counts)] = 0.0
        weights[best] = 1.0
        policy[game.information[level.states[own]]] = game.action[level.edges][best]
        values[level.states] = np.add.reduceat(options * weights[:, None], level.starts, axis=0)
    rows = game.of_seat(seat)
    return BestResponse(Score(*values[0].tolist()), {game.keys[row]: int(policy[row]) for row in rows})


def minimax_value(game: CompiledGame) -> float:
    """Returns the score of seat 0 when every seat plays its best, where every information state is one state.

    Args:
        game: A game with ``merge``.
    """
    values = game.returns.copy()
    for level in reversed(list(levels(game))):
        options, weights = values[game.child[level.edges]], game.chance[level.edges].copy()
        movers = game.actor[level.states]
        deciding = movers >= 0
        gains = options[np.arange(len(options)), np.repeat(np.maximum(movers, 0), level.counts)]
        weights[np.repeat(deciding, level.counts)] = 0.0
        weights[_best_edges(level, gains)[deciding]] = 1.0
        values[level.states] = np.add.reduceat(options * weights[:, None], level.starts, axis=0)
    return float(values[0, 0])


def _best_edges(level: Level, gains: FloatArray) -> IntArray:
    """Returns for each state of a level its edge with the largest gain, by number within the level."""
    places = level.starts[:, None] + np.arange(level.counts.max())
    there = places < (level.starts + level.counts)[:, None]
    best: IntArray = level.starts + argmax(np.where(there, gains[np.where(there, places, 0)], -np.inf))
    return best
