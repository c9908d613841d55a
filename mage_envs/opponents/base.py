"""The contract of an opponent: ``(view, memory) -> (distribution over the legal actions, next memory)``.

Opponents see views, never states. They hold no state of their own: what they remember during a meta-episode is a
value that the environment keeps and hands back, so one opponent object serves any number of environments.
The environment samples from the distribution, with its own generator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

from mage_envs.errors import MageError, SpecError, near_matches
from mage_envs.games import GameSpec, View
from mage_envs.registry import Registry
from mage_envs.spec_strings import Spec

Distribution: TypeAlias = tuple[float, ...]
Memory: TypeAlias = Any

_TOLERANCE = 1e-6


class Opponent(ABC):
    """A strategy for one seat of one game.

    Attributes:
        summary: One sentence on what it does; class attribute, shown by ``benchmark list``.
        plays: Which games it plays, in words.
        tabular: Whether the distribution is a function of ``view.key`` alone: no memory, no random search. Such
            opponents have a behaviour table, so that ceilings against them are exact.
        spec: The canonical spec, set by :func:`~mage_envs.opponents.make_opponent`.
    """

    summary: ClassVar[str]
    plays: ClassVar[str] = "any game"
    tabular: ClassVar[bool] = True
    spec: Spec

    def __init__(self, game: GameSpec) -> None:
        """Keeps the game. Subclasses take their parameters after it and check that they can play the game."""
        self.game = game

    def start(self, rng: np.random.Generator) -> Memory:
        """Returns the memory at the start of a meta-episode. Must be an immutable, picklable value."""
        return None

    @abstractmethod
    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Decides.

        Args:
            view: What this seat knows; ``view.legal`` are the actions to choose from, at least one.
            memory: What :meth:`start`, or the last call, returned.
            rng: For search. Sampling from the distribution is the caller's work.

        Returns:
            A probability for each of ``view.legal``, in that order, and the next memory.
        """

    def end_episode(self, view: View, memory: Memory) -> Memory:
        """Learns from the terminal view of an episode. Returns the next memory."""
        return memory

    def tabulate(self, views: Sequence[View]) -> None:  # noqa: B027 -- most have nothing to prepare
        """Is told all information states before a table of its behaviour is made, to prepare what costs time."""

    def describe(self) -> str:
        """Says what this opponent is, its parameters included. Goes into every record."""
        return f"{self.spec}: {self.summary}"

    def __reduce__(self) -> tuple[Callable[..., Opponent], tuple[str, GameSpec]]:
        """Pickles by the spec."""
        from mage_envs.opponents import make_opponent

        return make_opponent, (str(self.spec), self.game)


Factory: TypeAlias = Callable[..., Opponent]

OPPONENTS: Registry[Factory] = Registry("opponent", package="mage_envs.opponents")
"""Opponent files register ``factory(game, **parameters)`` here."""


def sample_index(distribution: Distribution, u: float, view: View) -> int:
    """Draws an index from a distribution with one uniform number.

    Args:
        distribution: A probability for each of ``view.legal``.
        u: In [0, 1).
        view: For the check and the message.

    Returns:
        An index into ``view.legal``.

    Raises:
        MageError: The distribution does not fit the legal actions. That is a bug of the opponent, not of the agent.
    """
    if len(distribution) == len(view.legal):
        if distribution is view.uniform:
            return int(u * len(distribution))
        rest = u
        for index, probability in enumerate(distribution):
            rest -= probability
            if rest < 0.0:
                return index
        if abs(rest - u + 1.0) < _TOLERANCE:
            return max(index for index, probability in enumerate(distribution) if probability > 0.0)
    raise MageError(f"an opponent gave {distribution!r} for the legal actions {view.names} of {view!r}; "
                    "it must give each a probability, adding up to 1")  # fmt: skip


def one_hot(view: View, action: int) -> Distribution:
    """Returns the distribution that plays one legal action for sure."""
    return tuple(1.0 if legal == action else 0.0 for legal in view.legal)


def check_range(name: str, value: Any, low: float, high: float, kind: type[int] | type[float] = int) -> None:
    """Refuses a parameter of the wrong type or outside ``low..high``.

    Raises:
        SpecError: With the parameter's name and its range.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or (kind is int and not isinstance(value, int)) or not low <= float(value) <= high:
        noun = "an integer" if kind is int else "a number"
        raise SpecError(f"{name} must be {noun} in {low}..{high}, got {value!s}")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Refuses a parameter that is none of the choices. Returns the value.

    Raises:
        SpecError: With the parameter's name and near matches.
    """
    known = tuple(choices)
    if value not in known:
        raise SpecError(f"{name} has no value {str(value)!r}. {near_matches(str(value), known)}")
    return str(value)
