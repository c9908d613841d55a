"""What a seat can infer about a hidden opponent, from its own views only.

A forward filter: it keeps every position that fits the views so far, each with a weight per opponent of the
population (prior × chance × the opponent's moves). At the end of an episode the weights of the positions that fit the
terminal view, what stayed hidden summed out, are the posterior.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from mage_envs.errors import MageError
from mage_envs.games import GameSpec, Position, View, position_graph
from mage_envs.games.positions import CHANCE, SIMULTANEOUS, TERMINAL
from mage_envs.tabular.compiled import acting_seats, compiled_game
from mage_envs.tabular.results import FloatArray
from mage_envs.tabular.tables import Table, strategy_table, tremble


class OpponentBelief:
    """A belief about which opponent of a population one plays.

    Opponents are taken to tremble: to move at random with a small probability. So nothing that happens is
    impossible, and a player from outside the population leads to a belief in the nearest of its members.

    Attributes:
        opponents: Specs of the population.
        weights: Probability of each, from the episodes that have ended; shape ``(opponents,)``.
    """

    def __init__(self, spec: GameSpec, population: Sequence[tuple[str, float]], trembling: float = 1e-3) -> None:
        """Starts with the population's weights.

        Args:
            spec: The game.
            population: Specs of tabular opponents with weights.
            trembling: Probability of a random move at each decision, above 0.

        Raises:
            UnsupportedGameError: An opponent has no behaviour table, or the game is too large.
        """
        self.spec = spec
        self.opponents = tuple(opponent for opponent, _ in population)
        prior = np.array([weight for _, weight in population])
        self.weights: FloatArray = prior / prior.sum()
        self._rows = compiled_game(spec).index
        self._tables = np.array([trembling_table(spec, name, trembling) for name in self.opponents])
        self._fitting: dict[Position, FloatArray] = {}

    def see(self, view: View) -> None:
        """Takes in the next view of the episode at which the seat must act, or the terminal one."""
        unfinished = list(self._fitting.items()) or [(position_graph(self.spec).root, self.weights)]
        fitting: dict[Position, FloatArray] = {}
        while unfinished:
            position, weights = unfinished.pop()
            if position.player != TERMINAL and view.seat not in acting_seats(position):
                unfinished.extend(self._moves(position, weights))
            elif position.view(view.seat).key == view.key:
                fitting[position] = fitting.get(position, 0.0) + weights
        if not fitting:
            raise MageError(f"{view!r} cannot follow the views that were seen before it in this episode")
        self._fitting = {} if view.terminal else fitting
        if view.terminal:
            total: FloatArray = np.sum(list(fitting.values()), axis=0)
            self.weights = total / total.sum()

    def act(self, view: View, action: int) -> None:
        """Takes in the seat's own action at the view that was seen last."""
        moved: dict[Position, FloatArray] = {}
        for position, weights in self._fitting.items():
            for child, weight in self._answers(position, view.seat, action, weights):
                moved[child] = moved.get(child, 0.0) + weight
        self._fitting = moved

    def _moves(self, position: Position, weights: FloatArray) -> Iterator[tuple[Position, FloatArray]]:
        """Goes one step on, where chance or another seat moves."""
        if position.player == CHANCE:
            return ((position.child(outcome), weights * p) for outcome, p in position.chance)
        view = position.view(position.player)
        return zip(map(position.child, view.legal), self._played(view) * weights, strict=True)

    def _answers(
        self, position: Position, seat: int, action: int, weights: FloatArray
    ) -> Iterator[tuple[Position, FloatArray]]:
        """Plays the own action, and all joint actions with it at a simultaneous position."""
        if position.player != SIMULTANEOUS:
            yield position.child(action), weights
            return
        views = [position.view(other) for other in range(self.spec.seats)]
        nothing = [(0, np.ones_like(weights))]
        options = [
            [(action, weights)]
            if v.seat == seat
            else zip(v.legal, self._played(v), strict=True)
            if v.legal
            else nothing
            for v in views
        ]
        for joint in product(*options):
            yield position.child(tuple(taken for taken, _ in joint)), np.prod([p for _, p in joint], axis=0)

    def _played(self, view: View) -> FloatArray:
        """Returns the probability of each legal action under each opponent, shape ``(actions, opponents)``."""
        played: FloatArray = self._tables[:, self._rows[view.seat][view.key], view.legal].T
        return played


@lru_cache(maxsize=256)
def trembling_table(spec: GameSpec, opponent: str, trembling: float) -> Table:
    """Returns the table of a trembling opponent, made once per process."""
    return tremble(compiled_game(spec), strategy_table(spec, opponent), trembling)
