"""The value of two-seat zero-sum games: by minimax over states, or by the sequence-form linear program.

Source: D. Koller, N. Megiddo, B. von Stengel, "Fast algorithms for finding randomized strategies in game trees",
STOC 1994. To check it: Kuhn poker is worth −1/18 to seat 0.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack

from mage_envs.errors import MageError, UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.tabular.compiled import CompiledGame, compiled_game
from mage_envs.tabular.seat_tree import SeatTree, seat_tree
from mage_envs.tabular.sweeps import minimax_value
from mage_envs.tabular.tables import load_game


def game_value(game: str | GameSpec) -> float:
    """Returns the score per episode of seat 0 when both seats play optimally.

    Args:
        game: Name or spec of a small zero-sum game of two seats.

    Raises:
        UnsupportedGameError: The game is of another kind, or too large.
    """
    spec = load_game(game)
    if not spec.zero_sum or spec.seats != 2:
        raise UnsupportedGameError(f"a value is defined for zero-sum games of two seats, which {spec.name!r} is not")
    compiled = compiled_game(spec)
    return minimax_value(compiled) if spec.merge else _solve(compiled)


def _solve(game: CompiledGame) -> float:
    own, other = seat_tree(game, 0), seat_tree(game, 1)
    constraints = _constraints(other)
    payoff = coo_array(
        (own.chance * own.payoff[:, 0], (other.sequence, own.sequence)), shape=(other.sequences, own.sequences)
    )
    plan, sums = own.sequences, constraints.shape[0]
    solved = linprog(
        c=-np.eye(1, plan + sums, plan)[0],
        A_ub=hstack([-payoff, constraints.T]),
        b_ub=np.zeros(other.sequences),
        A_eq=hstack([_constraints(own), csr_array((len(own.rows) + 1, sums))]),
        b_eq=np.eye(1, len(own.rows) + 1)[0],
        bounds=[(0, None)] * plan + [(None, None)] * sums,
    )
    if not solved.success:
        raise MageError(f"the linear program of {game.spec.name!r} has no solution: {solved.message}")
    return 0.0 - float(solved.fun)


def _constraints(tree: SeatTree) -> csr_array:
    """Says what makes weights of sequences a strategy: row 0, the empty one is 1; then one row a decision."""
    decisions = np.arange(1, len(tree.rows) + 1)
    rows = np.concatenate([[0], decisions, np.repeat(decisions, tree.counts)])
    columns = np.concatenate([[0], tree.parent, np.arange(1, tree.sequences)])
    values = np.concatenate([[1.0], np.full(len(decisions), -1.0), np.ones(tree.sequences - 1)])
    return csr_array((values, (rows, columns)), shape=(len(decisions) + 1, tree.sequences))
