"""Perfect play on small games without hidden information, by backward induction over the merged position graph.

Tic-Tac-Toe has 5,478 positions and is a draw; all 9 openings keep the draw, against a corner opening only the centre
does, against the centre only the four corners do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, Position, PositionGraph, View
from mage_envs.games.positions import CHANCE, TERMINAL
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent

MAX_POSITIONS = 50_000
MAX_LENGTH = 100


class Value(NamedTuple):
    """What perfect play leads to: seat 0's result, and the number of moves until the end."""

    result: float
    moves: float


class Minimax(Opponent):
    """Plays perfectly: uniform over the moves with the best result, wins as fast and loses as late as it can."""

    summary = "perfect play; uniform over the best moves, the fastest win and the slowest loss first"
    plays = "small zero-sum games of two seats, nothing hidden"

    def __init__(self, game: GameSpec) -> None:
        """Solves the game, once a process.

        Raises:
            UnsupportedGameError: The game hides something, is not zero-sum between two seats, or is too large.
        """
        super().__init__(game)
        if not game.perfect_information:
            raise UnsupportedGameError(f"minimax needs every seat to see the whole state, and {game.name!r} hides "
                                       "something or lets seats move at once; play cfr, ismcts or random")  # fmt: skip
        if game.seats != 2 or not game.zero_sum:
            raise UnsupportedGameError(f"minimax plays zero-sum games of two seats; {game.name!r} is none, play mcts")
        self._table = solve(game)

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Looks the position up."""
        return self._table[view.key], memory


@lru_cache(maxsize=16)
def solve(game: GameSpec) -> dict[str, Distribution]:
    """Solves a game.

    Returns:
        For the key of every view with a choice: the uniform distribution over the best moves.

    Raises:
        UnsupportedGameError: The game has more than ``MAX_POSITIONS`` positions.
    """
    solver = _Solver(game)
    solver.value(solver.graph.root)
    return solver.table


class _Solver:
    def __init__(self, game: GameSpec) -> None:
        # A graph of its own: a search that is given up must not fill the graph that environments share.
        self.graph = PositionGraph(game, MAX_POSITIONS)
        self.values: dict[Position, Value] = {}
        self.table: dict[str, Distribution] = {}
        if game.game.max_game_length() > MAX_LENGTH:
            self.refuse(f"can last more than {MAX_LENGTH} moves")

    def refuse(self, why: str) -> None:
        raise UnsupportedGameError(f"{self.graph.spec.name!r} {why}, too large for minimax; play mcts instead")

    def value(self, position: Position) -> Value:
        found = self.values.get(position)
        if found is None:
            found = self.values[position] = self._value(position)
        return found

    def _value(self, position: Position) -> Value:
        if self.graph.size >= MAX_POSITIONS:
            self.refuse(f"has more than {MAX_POSITIONS:,} positions")
        if position.player == TERMINAL:
            return Value(position.returns[0], 0)
        if position.player == CHANCE:
            parts = [(p, self.value(position.child(action))) for action, p in position.chance]
            return Value(sum(p * v.result for p, v in parts), sum(p * v.moves for p, v in parts))
        return self.choose(position)

    def choose(self, position: Position) -> Value:
        sign = 1 if position.player == 0 else -1
        view = position.view(position.player)
        values = [self.value(position.child(action)) for action in view.legal]
        ranks = [_rank(value, sign) for value in values]
        best = max(ranks)
        share = 1.0 / ranks.count(best)
        self.table[view.key] = tuple(share if rank == best else 0.0 for rank in ranks)
        result, moves = values[ranks.index(best)]
        return Value(result, moves + 1)


def _rank(value: Value, sign: int) -> tuple[float, float]:
    gain = sign * value.result
    hurry = -value.moves if gain > 0 else value.moves if gain < 0 else 0.0
    return gain, hurry


OPPONENTS.register("minimax", Minimax)
