"""Exact values for games that merge transpositions: expectimax over positions instead of histories.

With perfect information and opponents that play by position, the best action depends on the position alone. The best
score of X in Tic-Tac-Toe against a uniformly random opponent is 191/192 = .9948.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from mage_envs.games import GameSpec, Position, PositionGraph, View
from mage_envs.games.positions import CHANCE, TERMINAL
from mage_envs.opponents import Distribution, one_hot
from mage_envs.tabular.histories import MAX_POSITIONS, decision_views
from mage_envs.tabular.results import BestResponse, FloatArray, Score, argmax
from mage_envs.tabular.tables import Table

Choose: TypeAlias = Callable[[View, FloatArray], Distribution]
"""From a decision of the seat and the values of its legal actions, shape ``(actions, 4)``, to what it does."""


def best_response(spec: GameSpec, tables: Mapping[int, Table], seat: int, objective: FloatArray) -> BestResponse:
    """Finds the best policy of a seat against tables of the others, by expectimax.

    Args:
        spec: A game with ``merge``.
        tables: A table for each other seat.
        seat: The seat that maximises.
        objective: Weights of the four parts of a :class:`Score`.
    """
    policy = {key: view.legal[0] for key, view in decision_views(spec)[seat].items()}

    def choose(view: View, options: FloatArray) -> Distribution:
        best = int(argmax(options @ objective))
        policy[view.key] = view.legal[best]
        return one_hot(view, view.legal[best])

    return BestResponse(_value(spec, tables, seat, choose), policy)


def evaluate(spec: GameSpec, table: Table, tables: Mapping[int, Table], seat: int) -> Score:
    """Returns the expected result of a seat's table against tables of the others."""
    return _value(spec, tables, seat, lambda view, options: table[view.key])


def _value(spec: GameSpec, tables: Mapping[int, Table], seat: int, choose: Choose) -> Score:
    known: dict[Position, FloatArray] = {}

    def value(position: Position) -> FloatArray:
        found = known.get(position)
        if found is None:
            found = known[position] = compute(position)
        return found

    def compute(position: Position) -> FloatArray:
        if position.player == TERMINAL:
            outcome = spec.outcome(position.returns, seat)
            return np.array([position.returns[seat], *(float(outcome == name) for name in ("win", "draw", "loss"))])
        if position.player == CHANCE:
            outcomes, probabilities = zip(*position.chance, strict=True)
            return _mix(probabilities, np.array([value(position.child(outcome)) for outcome in outcomes]))
        view = position.view(position.player)
        options = np.array([value(position.child(action)) for action in view.legal])
        return _mix(choose(view, options) if view.seat == seat else tables[view.seat][view.key], options)

    return Score(*value(PositionGraph(spec, MAX_POSITIONS + 1).root).tolist())


def _mix(probabilities: Distribution, options: FloatArray) -> FloatArray:
    mixed: FloatArray = np.array(probabilities) @ options
    return mixed
