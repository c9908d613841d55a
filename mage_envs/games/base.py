"""What a game is: declared facts over an OpenSpiel game, and how a seat's knowledge becomes words and arrays.

A game file declares one frozen :class:`GameSpec` (or a function that returns one, if the game has parameters)
and registers it. Everything that is said about a state is rendered from *facts*: what one seat may know, as data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyspiel

Facts: TypeAlias = Mapping[str, Any]
Outcome: TypeAlias = Literal["win", "draw", "loss"]
FloatArray: TypeAlias = npt.NDArray[np.float32]

NOTHING: Facts = MappingProxyType({})


@dataclass(frozen=True)
class WorkedExample:
    """One play of the game, told and checked: a test plays ``actions`` and must find ``returns``.

    Attributes:
        actions: OpenSpiel action ids from the start to the end, chance included. At a simultaneous node, one id a seat.
        returns: What each seat gets.
        story: The same play in words.
    """

    actions: tuple[int, ...]
    returns: tuple[float, ...]
    story: str


@dataclass(frozen=True, eq=False)
class GameSpec:
    """The declared facts of a game.

    Attributes:
        name: Name in the registry, with its parameters: ``"kuhn_poker"``, ``"rock_paper_scissors(throws=10)"``.
        title: CamelCase name in environment ids: ``"KuhnPoker"``.
        openspiel: The OpenSpiel game string.
        rules: The rules as a player reads them, ending with a newline-free last line.
        facts: ``(state, seat) -> facts``: what that seat may know before the end, as data.
        revealed: ``(state, seat) -> facts``: what that seat learns at a terminal state beyond ``facts``.
        describe: ``facts -> text`` in the second person, for both.
        words: ``(facts, action id) -> names``: the action's name, then other spellings that mean the same here.
        vocabulary: Names that exist in some state: an answer among them that cannot be played now is illegal,
            any other answer is unparsable.
        examples: At least two worked examples.
        population: Name of the default population of opponents.
        reveal_size: Length of the array that ``reveal_array`` gives.
        reveal_array: ``facts -> numbers in 0..1`` of what was revealed, for array observations.
        merge: Whether the future depends on the printed board only, so that transpositions are one position.
        remember: Positions that a process keeps in memory, views included; a few kB each in the games with a file.
    """

    name: str
    title: str
    openspiel: str
    rules: str
    facts: Callable[[Any, int], Facts]
    describe: Callable[[Facts], str]
    words: Callable[[Facts, int], tuple[str, ...]]
    vocabulary: frozenset[str] = frozenset()
    examples: tuple[WorkedExample, ...] = ()
    population: str = "generic"
    revealed: Callable[[Any, int], Facts] = field(default=lambda state, seat: NOTHING)
    reveal_size: int = 0
    reveal_array: Callable[[Facts], tuple[float, ...]] = field(default=lambda facts: ())
    merge: bool = False
    remember: int = 50_000

    @cached_property
    def game(self) -> Any:
        """The loaded OpenSpiel game."""
        return pyspiel.load_game(self.openspiel)

    @cached_property
    def seats(self) -> int:
        """Number of seats."""
        return int(self.game.num_players())

    @cached_property
    def actions(self) -> int:
        """Number of distinct action ids."""
        return int(self.game.num_distinct_actions())

    @cached_property
    def perfect_information(self) -> bool:
        """Whether every seat sees the whole state at each of its turns (one-shot simultaneous games do not count)."""
        kind = self.game.get_type()
        return bool(
            kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
            and kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
        )

    @cached_property
    def simultaneous(self) -> bool:
        """Whether seats act at the same time."""
        return bool(self.game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS)

    @cached_property
    def rewards_each_step(self) -> bool:
        """Whether returns change before the end of an episode."""
        return bool(self.game.get_type().reward_model == pyspiel.GameType.RewardModel.REWARDS)

    @cached_property
    def zero_sum(self) -> bool:
        """Whether the returns of the seats add up to a constant."""
        utility = pyspiel.GameType.Utility
        return self.game.get_type().utility in (utility.ZERO_SUM, utility.CONSTANT_SUM)

    @cached_property
    def worst_return(self) -> float:
        """The least that the rules can cost a seat: the result of a forfeit."""
        return float(self.game.min_utility())

    @cached_property
    def tensor_size(self) -> int:
        """Length of the information-state tensor, or else of the observation tensor; 0 if OpenSpiel has neither."""
        kind = self.game.get_type()
        if kind.provides_information_state_tensor:
            return int(self.game.information_state_tensor_size())
        return int(self.game.observation_tensor_size()) if kind.provides_observation_tensor else 0

    def tensor(self, state: Any, seat: int) -> FloatArray:
        """Returns the tensor that :attr:`tensor_size` describes, float32, shape ``(tensor_size,)``."""
        if not self.tensor_size:
            return np.zeros(0, dtype=np.float32)
        if self.game.get_type().provides_information_state_tensor:
            return np.asarray(state.information_state_tensor(seat), dtype=np.float32)
        return np.asarray(state.observation_tensor(seat), dtype=np.float32)

    def information_state(self, state: Any, seat: int) -> str:
        """Returns the string that names what a seat knows of a state, before anything is revealed at the end."""
        kind = self.game.get_type()
        if self.merge:
            return str(state)
        if kind.provides_information_state_string:
            return str(state.information_state_string(seat))
        shown = str(state.observation_string(seat))
        if kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION and state.current_player() == seat:
            return f"{shown} legal {state.legal_actions(seat)}"  # One observation can come with different moves.
        return shown

    def outcome(self, returns: tuple[float, ...], seat: int) -> Outcome:
        """Says whether a seat won: by the sign of its return in zero-sum games, by comparison in others."""
        margin = returns[seat]
        if not self.zero_sum:
            margin -= max(value for other, value in enumerate(returns) if other != seat)
        return "win" if margin > 0 else "loss" if margin < 0 else "draw"

    def __reduce__(self) -> tuple[Callable[[str], GameSpec], tuple[str]]:
        """Pickles by name."""
        from mage_envs.games import load_game_spec

        return load_game_spec, (self.name,)
