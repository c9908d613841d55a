"""Exact values of small games: best responses, expected values, exploitability, adaptive values.

Everything is computed in float64 from the full tree, never estimated by play. To check it: the best response to the
``aggressive`` Kuhn player scores 1/3 chip a hand from either seat, and Kuhn's value is −1/18 for seat 0 (Kuhn 1950).
"""

from __future__ import annotations

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.tabular import sweeps
from mage_envs.tabular.bayes import bayes_adaptive_value
from mage_envs.tabular.bounds import AdaptiveBounds, adaptive_bounds
from mage_envs.tabular.compiled import compiled_game
from mage_envs.tabular.equilibrium import game_value
from mage_envs.tabular.results import AdaptiveValue, BestResponse, Objective, Score, weights_of
from mage_envs.tabular.seat_tree import seat_tree
from mage_envs.tabular.tables import Policy, Strategy, Table, load_game, other_seats, strategy_table

__all__ = [
    "AdaptiveBounds", "AdaptiveValue", "BestResponse", "Policy", "Score", "Table", "adaptive_bounds",
    "bayes_adaptive_value", "best_response", "best_response_value", "expected_result", "expected_value",
    "exploitability", "fixed_deal_ceiling", "game_value", "strategy_table",
]  # fmt: skip


def best_response_value(game: str | GameSpec, opponent: Strategy, seat: int) -> float:
    """Returns the expected score per episode of the best response to an opponent.

    Args:
        game: Name or spec of a small game.
        opponent: A tabular opponent; it plays all other seats.
        seat: The seat of the best response.
    """
    return best_response(game, opponent, seat).result.score


def best_response(game: str | GameSpec, opponent: Strategy, seat: int, objective: Objective = "score") -> BestResponse:
    """Finds a best response to an opponent.

    Args:
        game: Name or spec of a small game.
        opponent: A tabular opponent or a table; it plays all other seats.
        seat: The seat of the best response.
        objective: ``"score"``, or ``"win"`` for the highest probability of winning; the two can differ.

    Returns:
        Its expected result and its policy.

    Raises:
        UnsupportedGameError: The opponent has no table, or the game is too large.
    """
    spec = load_game(game)
    table, aim = strategy_table(spec, opponent, *other_seats(spec, seat)), weights_of(objective)
    if spec.merge:
        return sweeps.best_response(compiled_game(spec), table, seat, aim)
    tree = seat_tree(compiled_game(spec), seat)
    return tree.best_response(tree.chance * tree.reach(table), aim)


def expected_value(game: str | GameSpec, agent: Strategy, opponent: Strategy, seat: int) -> float:
    """Returns the expected score of a strategy in a seat; see :func:`expected_result`."""
    return expected_result(game, agent, opponent, seat).score


def expected_result(game: str | GameSpec, agent: Strategy, opponent: Strategy, seat: int) -> Score:
    """Returns the expected result of one strategy against another.

    Args:
        game: Name or spec of a small game.
        agent: The strategy in ``seat``: a tabular opponent or a policy such as ``best_response(...).policy``.
        opponent: The strategy in all other seats.
        seat: The seat that is rated.

    Returns:
        Expected score and probabilities of win, draw and loss.
    """
    spec = load_game(game)
    others = strategy_table(spec, opponent, *other_seats(spec, seat))
    compiled = compiled_game(spec)
    own = compiled.view_seat[: compiled.information_states, None] == seat
    table = np.where(own, strategy_table(spec, agent, seat), others)
    return sweeps.evaluate(compiled, table, seat)


def exploitability(game: str | GameSpec, strategy: Strategy) -> float:
    """Returns how much best responses gain against a strategy, as the mean over seats.

    It is the sum over seats of (best response to the strategy − value of the strategy against itself), divided by
    the number of seats: 0 at an equilibrium, and equal to OpenSpiel's ``exploitability``.
    """
    spec = load_game(game)
    if not spec.zero_sum:
        raise UnsupportedGameError(f"exploitability is defined for zero-sum games, which {spec.name!r} is not")
    seats = range(spec.seats)
    gains = [best_response_value(spec, strategy, s) - expected_value(spec, strategy, strategy, s) for s in seats]
    return sum(gains) / spec.seats


def fixed_deal_ceiling(game: str | GameSpec, opponent: Strategy, seat: int, objective: Objective = "win") -> float:
    """Returns what a player that knows the deal can reach, averaged over deals.

    No number of episodes on replayed deals leads to more. Against a deterministic opponent and with objective
    ``"win"`` it is the share of deals that can be won: the published "theoretical bound" of Kuhn poker.

    Args:
        game: Name or spec of a small game that deals something, by chance that does not depend on the moves.
        opponent: A tabular opponent; it plays all other seats.
        seat: The seat of the player that knows the deal.
        objective: ``"win"`` or ``"score"``.

    Raises:
        UnsupportedGameError: The opponent has no table, the game is too large, or its deals depend on the moves.
    """
    spec = load_game(game)
    table, aim = strategy_table(spec, opponent, *other_seats(spec, seat)), weights_of(objective)
    tree = seat_tree(compiled_game(spec), seat)
    reach, deals = tree.reach(table), tree.deals()
    results = [tree.best_response(reach * fits, aim).result for fits in deals.fits]
    return float(deals.probabilities @ np.array(results) @ aim)
