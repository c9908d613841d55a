"""The value of two-seat zero-sum games: by minimax over positions, or by the sequence-form linear program.

Source: D. Koller, N. Megiddo, B. von Stengel, "Fast algorithms for finding randomized strategies in game trees",
STOC 1994. To check it: Kuhn poker is worth −1/18 to seat 0.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack

from mage_envs.errors import MageError, UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.tabular import position_values
from mage_envs.tabular.seat_tree import SeatTree, seat_tree
from mage_envs.tabular.tables import load_game, other_tables, strategy_table


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
    if spec.merge:
        table, tables = strategy_table(spec, "minimax", 0), other_tables(spec, "minimax", 0)
        return position_values.evaluate(spec, table, tables, 0).score
    return _solve(spec)


def _solve(spec: GameSpec) -> float:
    own, other = seat_tree(spec, 0), seat_tree(spec, 1)
    constraints = _constraints(other)
    payoff = coo_array(
        (own.chance * own.payoff[:, 0], (other.sequence, own.sequence)), shape=(other.sequences, own.sequences)
    )
    plan, sums = own.sequences, constraints.shape[0]
    solved = linprog(
        c=-np.eye(1, plan + sums, plan)[0],
        A_ub=hstack([-payoff, constraints.T]),
        b_ub=np.zeros(other.sequences),
        A_eq=hstack([_constraints(own), csr_array((len(own.decisions) + 1, sums))]),
        b_eq=np.eye(1, len(own.decisions) + 1)[0],
        bounds=[(0, None)] * plan + [(None, None)] * sums,
    )
    if not solved.success:
        raise MageError(f"the linear program of {spec.name!r} has no solution: {solved.message}")
    return 0.0 - float(solved.fun)


def _constraints(tree: SeatTree) -> csr_array:
    """Says what makes weights of sequences a strategy: row 0, the empty one is 1; then one row a decision."""
    entries = [(0, 0, 1.0)]
    for row, (_, parent, first, legal) in enumerate(tree.decisions, start=1):
        entries.append((row, parent, -1.0))
        entries.extend((row, first + index, 1.0) for index in range(len(legal)))
    rows, columns, values = zip(*entries, strict=True)
    return csr_array((values, (rows, columns)), shape=(len(tree.decisions) + 1, tree.sequences))
