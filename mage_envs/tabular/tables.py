"""Strategies as tables: for every information state of a compiled game, a probability for each action."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mage_envs.errors import MageError, UnsupportedGameError
from mage_envs.games import GameSpec, load_game_spec
from mage_envs.opponents import Opponent, make_opponent
from mage_envs.spec_strings import Spec
from mage_envs.tabular.compiled import CompiledGame, compiled_game

Table: TypeAlias = npt.NDArray[np.float64]
"""Shape ``(information states, actions)``, numbered as in :class:`~mage_envs.tabular.compiled.CompiledGame`: the
probability of each action, 0 where it is not legal. Rows of seats that the strategy does not play may be 0."""

Policy: TypeAlias = Mapping[str, int]
"""``View.key`` of each decision of one seat to the action id that is played there for sure."""

Strategy: TypeAlias = str | Spec | Opponent | Policy | Table
"""What can be turned into a table: the spec of a tabular opponent, the opponent itself, a policy, or a table."""

_TOLERANCE = 1e-6


class Behaviour(NamedTuple):
    """What an opponent does at every information state of a compiled game.

    Attributes:
        probabilities: Its table.
        uniform: Whether the opponent gave the view's own ``uniform``, which environments sample in another way than
            equal numbers (:func:`~mage_envs.opponents.sample_index`); bool, shape ``(information states,)``.
    """

    probabilities: Table
    uniform: npt.NDArray[np.bool_]


def load_game(game: str | GameSpec) -> GameSpec:
    """Returns the spec of a game that is given by name or as a spec."""
    return game if isinstance(game, GameSpec) else load_game_spec(game)


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


def strategy_table(game: str | GameSpec, strategy: Strategy, *seats: int) -> Table:
    """Lists what a strategy does at every information state of some seats.

    Args:
        game: Name or spec of the game.
        strategy: The spec of a tabular opponent such as ``"aggressive"``, an opponent, a policy, or a table.
        seats: The seats that the strategy plays; none given: all.

    Returns:
        The table, which must not be written to; rows of other seats may be 0.

    Raises:
        UnsupportedGameError: The opponent has no table because it searches at random or remembers, or the game is
            too large.
        ValueError: No such seat; a policy leaves out a decision; an array of another shape, or a row that is no
            distribution over the legal actions.
    """
    spec = load_game(game)
    for seat in seats:
        check_seat(spec, seat)
    compiled, played = compiled_game(spec), seats or tuple(range(spec.seats))
    if isinstance(strategy, str | Spec):
        return _named_table(spec, str(make_opponent(strategy, spec).spec), played)
    if isinstance(strategy, Opponent):
        return behaviour(compiled, strategy, played).probabilities
    if isinstance(strategy, np.ndarray):
        return _checked(compiled, strategy, played)
    return _policy_table(compiled, strategy, played)


def other_seats(game: str | GameSpec, seat: int) -> tuple[int, ...]:
    """Returns all seats but one.

    Raises:
        ValueError: No such seat.
    """
    spec = load_game(game)
    check_seat(spec, seat)
    return tuple(other for other in range(spec.seats) if other != seat)


def tremble(game: CompiledGame, table: Table, probability: float) -> Table:
    """Returns the table of a player that plays uniformly at random with a probability, at each decision anew."""
    mask = game.mask[: game.information_states]
    trembling: Table = (1.0 - probability) * table + probability * mask / mask.sum(axis=1, keepdims=True)
    return trembling


def check_seat(spec: GameSpec, seat: int) -> None:
    """Refuses a seat that the game does not have.

    Raises:
        ValueError: With the range.
    """
    if seat not in range(spec.seats):
        raise ValueError(f"seat must be in 0..{spec.seats - 1} for {spec.name!r}, got {seat!r}")


@lru_cache(maxsize=256)
def _named_table(spec: GameSpec, opponent: str, seats: tuple[int, ...]) -> Table:
    table = behaviour(compiled_game(spec), make_opponent(opponent, spec), seats).probabilities
    table.flags.writeable = False
    return table


def _checked(game: CompiledGame, table: Table, seats: Iterable[int]) -> Table:
    shape = (game.information_states, game.spec.actions)
    if table.shape != shape:
        raise ValueError(f"a table of {game.spec.name!r} has shape {shape}, not {table.shape}")
    rows = np.concatenate([game.of_seat(seat) for seat in seats])
    legal = game.mask[rows] > 0
    fits = (table[rows] >= 0.0) & (legal | (table[rows] == 0.0))
    wrong = rows[~fits.all(axis=1) | (abs(table[rows].sum(axis=1) - 1.0) > _TOLERANCE)]
    if len(wrong):
        raise ValueError(f"row {wrong[0]} ({game.keys[wrong[0]]!r}) is no distribution over the legal actions: "
                         f"{table[wrong[0]].tolist()}")  # fmt: skip
    return table


def _policy_table(game: CompiledGame, policy: Policy, seats: Iterable[int]) -> Table:
    table = np.zeros((game.information_states, game.spec.actions))
    for seat in seats:
        missing = [key for key in game.index[seat] if key not in policy]
        if missing:
            raise ValueError(
                f"the policy has no action for {len(missing)} decisions of seat {seat}: {missing[0]!r} ..."
            )
        for key, number in game.index[seat].items():
            table[number, policy[key]] = 1.0
    return _checked(game, table, seats)
