"""Strategies as tables: for every decision of a seat, a probability for each legal action."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mage_envs.errors import MageError, UnsupportedGameError
from mage_envs.games import GameSpec, View, load_game_spec
from mage_envs.opponents import Distribution, Opponent, make_opponent, one_hot
from mage_envs.spec_strings import Spec
from mage_envs.tabular.compiled import CompiledGame
from mage_envs.tabular.histories import decision_views

Table: TypeAlias = Mapping[str, Distribution]
"""View key of a decision to a probability for each of ``view.legal``, in that order."""


class Behaviour(NamedTuple):
    """What an opponent does at every information state of a compiled game.

    Attributes:
        probabilities: Of each action, 0 where it is not legal; float64, shape ``(information states, actions)``.
        uniform: Whether the opponent gave the view's own ``uniform``, which environments sample in another way than
            equal numbers (:func:`~mage_envs.opponents.sample_index`); bool, shape ``(information states,)``.
    """

    probabilities: npt.NDArray[np.float64]
    uniform: npt.NDArray[np.bool_]


Policy: TypeAlias = Mapping[str, int]
"""View key of a decision to the action id that is played there for sure."""

Strategy: TypeAlias = str | Spec | Opponent | Policy
"""What can be turned into a table: the spec of a tabular opponent, the opponent itself, or a policy."""

_TOLERANCE = 1e-6


def load_game(game: str | GameSpec) -> GameSpec:
    """Returns the spec of a game that is given by name or as a spec."""
    return game if isinstance(game, GameSpec) else load_game_spec(game)


def strategy_table(game: str | GameSpec, strategy: Strategy, seat: int) -> Table:
    """Lists what a strategy does at every decision of a seat.

    Args:
        game: Name or spec of the game.
        strategy: The spec of a tabular opponent such as ``"aggressive"``, an opponent, or a policy.
        seat: The seat that the strategy plays.

    Returns:
        A distribution over ``view.legal`` for every view key at which the seat acts.

    Raises:
        UnsupportedGameError: The opponent has no table because it searches at random or remembers, or the game is
            too large.
        ValueError: No such seat; or a policy leaves out a decision.
    """
    spec = load_game(game)
    check_seat(spec, seat)
    views = decision_views(spec)[seat]
    if isinstance(strategy, str | Spec):
        strategy = make_opponent(strategy, spec)
    if isinstance(strategy, Opponent):
        return _opponent_table(strategy, views)
    missing = [key for key in views if key not in strategy]
    if missing:
        raise ValueError(f"the policy has no action for {len(missing)} decisions of seat {seat}: {missing[0]!r} ...")
    return {key: one_hot(view, strategy[key]) for key, view in views.items()}


def behaviour(game: CompiledGame, opponent: Opponent, seats: Iterable[int] | None = None) -> Behaviour:
    """Asks a memoryless opponent once at every information state.

    Args:
        game: The game as arrays.
        opponent: A tabular opponent.
        seats: The seats that it plays; the rows of others stay 0. None: all.

    Raises:
        UnsupportedGameError: The opponent has no table because it searches at random or remembers.
        MageError: It gives something else than a distribution over the legal actions.
    """
    if not opponent.tabular:
        raise UnsupportedGameError(
            f"{opponent.spec} has no behaviour table: its moves depend on more than its view (memory or random "
            "search), so there is no exact value against it. Choose a tabular opponent, or estimate by play"
        )
    wanted = range(game.spec.seats) if seats is None else seats
    views = {int(number): game.view(number) for seat in wanted for number in game.of_seat(seat)}
    opponent.tabulate(list(views.values()))
    table = np.zeros((game.information_states, game.spec.actions))
    uniform = np.zeros(game.information_states, dtype=np.bool_)
    rng = np.random.default_rng(0)
    memory = opponent.start(rng)
    for number, view in views.items():
        given = opponent.policy(view, memory, rng)[0]
        if len(given) != len(view.legal) or min(given) < 0.0 or abs(sum(given) - 1.0) > _TOLERANCE:
            raise MageError(f"{opponent.spec} gave {given!r} for the legal actions {view.names} of {view!r}")
        table[number, view.legal] = given
        uniform[number] = given is view.uniform
    return Behaviour(table, uniform)


def other_tables(game: str | GameSpec, strategy: Strategy, seat: int) -> dict[int, Table]:
    """Returns the tables of one strategy in all seats but ``seat``, by seat."""
    spec = load_game(game)
    check_seat(spec, seat)
    return {other: strategy_table(spec, strategy, other) for other in range(spec.seats) if other != seat}


def tremble(table: Table, probability: float) -> Table:
    """Returns the table of a player that plays uniformly at random with a probability, at each decision anew."""
    return {
        key: tuple((1.0 - probability) * p + probability / len(distribution) for p in distribution)
        for key, distribution in table.items()
    }


def check_seat(spec: GameSpec, seat: int) -> None:
    """Refuses a seat that the game does not have.

    Raises:
        ValueError: With the range.
    """
    if seat not in range(spec.seats):
        raise ValueError(f"seat must be in 0..{spec.seats - 1} for {spec.name!r}, got {seat!r}")


def _opponent_table(opponent: Opponent, views: Mapping[str, View]) -> Table:
    if not opponent.tabular:
        raise UnsupportedGameError(
            f"{opponent.spec} has no behaviour table: its moves depend on more than its view (memory or random "
            "search), so there is no exact value against it. Choose a tabular opponent, or estimate by play"
        )
    rng = np.random.default_rng(0)
    memory = opponent.start(rng)
    table = {key: opponent.policy(view, memory, rng)[0] for key, view in views.items()}
    for key, view in views.items():
        if len(table[key]) != len(view.legal) or abs(sum(table[key]) - 1.0) > _TOLERANCE:
            raise MageError(f"{opponent.spec} gave {table[key]!r} for the legal actions {view.names} of {view!r}")
    return table
