"""Views: what one seat may know of a position. Immutable in what they mean, shared, and filled on demand.

A step of an environment touches a few positions at random, so that memory, not work, sets its cost: objects have slots,
and what many positions share (the legal actions and what follows from them) is one object.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import pyspiel

from mage_envs.charset import printable
from mage_envs.errors import UnsupportedGameError
from mage_envs.games.base import NOTHING, Facts, FloatArray, GameSpec

T = TypeVar("T", bound=tuple[Any, ...])


class Menu:
    """Legal actions and what follows from them alone; one object for all views with the same actions.

    Attributes:
        legal: Action ids, ascending.
        moves: From action id to its index in ``legal``.
        uniform: The uniform distribution.
        mask: 1 for each legal id, else 0; int8, shape ``(actions,)``, read-only.
    """

    __slots__ = ("legal", "mask", "moves", "uniform")

    def __init__(self, spec: GameSpec, legal: tuple[int, ...]) -> None:
        """Works it out.

        Raises:
            UnsupportedGameError: The game has an action that OpenSpiel does not count among its actions.
        """
        if legal and legal[-1] >= spec.actions:
            raise UnsupportedGameError(
                f"{spec.name!r} has action {legal[-1]}, but OpenSpiel counts only {spec.actions} actions"
            )
        self.legal = legal
        self.moves = {action: index for index, action in enumerate(legal)}
        self.uniform = (1.0 / len(legal),) * len(legal) if legal else ()
        self.mask = np.zeros(spec.actions, dtype=np.int8)
        self.mask[list(legal)] = 1
        self.mask.flags.writeable = False


class View:
    """What one seat may know of a position. Players, texts and logs get views, never positions.

    Two views of one seat are equal if, and only if, the seat cannot tell them apart.

    Attributes:
        spec: The game.
        seat: The seat that looks.
        terminal: Whether the episode is over.
        to_act: Whether the seat must act now.
        legal: Legal action ids, ascending; empty unless ``to_act``.
        moves: From legal action id to its index in ``legal``.
        uniform: The uniform distribution over the legal actions.
        mask: 1 for each legal action id, else 0; int8, shape ``(actions,)``, read-only.
    """

    __slots__ = (
        "_facts",
        "_key",
        "_names",
        "_reveal_array",
        "_revealed",
        "_spellings",
        "_state",
        "_tensor",
        "_text",
        "legal",
        "mask",
        "moves",
        "seat",
        "spec",
        "terminal",
        "to_act",
        "uniform",
    )  # fmt: skip

    def __init__(self, spec: GameSpec, state: Any, seat: int, menu: Menu) -> None:
        """Use :meth:`Position.view` instead."""
        self._state = state
        self.spec, self.seat = spec, seat
        self.terminal: bool = state.is_terminal()
        self.legal, self.moves, self.uniform, self.mask = menu.legal, menu.moves, menu.uniform, menu.mask
        self.to_act = bool(menu.legal)
        self._key: str | None = None
        self._revealed: Facts | None = None
        self._facts: Facts | None = None
        self._text: str | None = None
        self._names: tuple[str, ...] | None = None
        self._spellings: dict[str, int] | None = None
        self._tensor: FloatArray | None = None
        self._reveal_array: FloatArray | None = None

    @property
    def key(self) -> str:
        """The information state: equal for views that the seat cannot tell apart, different for others."""
        if self._key is None:
            shown = sorted(self.revealed.items())
            self._key = f"{self.unrevealed_key} revealed {shown}" if shown else self.unrevealed_key
        return self._key

    @property
    def unrevealed_key(self) -> str:
        """The key without what the end of the episode reveals."""
        return self.spec.information_state(self._state, self.seat)

    @property
    def revealed(self) -> Facts:
        """What the end of the episode revealed to this seat, as data; empty before the end."""
        if self._revealed is None:
            self._revealed = self.spec.revealed(self._state, self.seat) if self.terminal else NOTHING
        return self._revealed

    @property
    def facts(self) -> Facts:
        """All that this seat may know, as data."""
        if self._facts is None:
            self._facts = {**self.spec.facts(self._state, self.seat), **self.revealed}
        return self._facts

    @property
    def text(self) -> str:
        """The facts in words."""
        if self._text is None:
            self._text = printable(self.spec.describe(self.facts))
        return self._text

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the legal actions, in the order of ``legal``."""
        if self._names is None:
            self._names = shared(tuple(self.spec.words(self.facts, action)[0] for action in self.legal))
        return self._names

    @property
    def spellings(self) -> dict[str, int]:
        """Every spelling of a legal action, folded to lower case and single spaces, to the action id."""
        if self._spellings is None:
            found: dict[str, int] = {}
            for action in self.legal:
                for name in self.spec.words(self.facts, action):
                    found.setdefault(fold(name), action)
            self._spellings = found
        return self._spellings

    @property
    def tensor(self) -> FloatArray:
        """OpenSpiel's information-state tensor; float32, shape ``(spec.tensor_size,)``, read-only."""
        if self._tensor is None:
            self._tensor = self.spec.tensor(self._state, self.seat)
            self._tensor.flags.writeable = False
        return self._tensor

    @property
    def reveal_array(self) -> FloatArray:
        """What the end revealed, zeros before it; float32, shape ``(spec.reveal_size,)``, read-only."""
        if self._reveal_array is None:
            shown = self.spec.reveal_array(self.facts) if self.revealed else (0.0,) * self.spec.reveal_size
            self._reveal_array = np.asarray(shown, dtype=np.float32)
            self._reveal_array.flags.writeable = False
        return self._reveal_array

    def sample_state(self, rng: np.random.Generator) -> Any:
        """Returns a full OpenSpiel state that this seat cannot tell from the true one.

        With perfect information that is the state itself. Otherwise OpenSpiel resamples what is hidden, so the
        result depends on the view only.

        Raises:
            UnsupportedGameError: OpenSpiel cannot resample this game.
        """
        if self.spec.perfect_information:
            return self._state.clone()
        sampler = pyspiel.UniformProbabilitySampler(int(rng.integers(2**31)), 0.0, 1.0)
        try:
            return self._state.resample_from_infostate(self.seat, sampler)
        except pyspiel.SpielError as error:
            raise UnsupportedGameError(
                f"OpenSpiel cannot resample hidden information of {self.spec.name!r}, which search needs. "
                "Use cfr on small games, or random"
            ) from error

    def __eq__(self, other: object) -> bool:
        """Whether the other view is of the same game and seat and shows the same."""
        if not isinstance(other, View):
            return NotImplemented
        return (self.spec.name, self.seat, self.key) == (other.spec.name, other.seat, other.key)

    def __hash__(self) -> int:
        """Hashes by what the view shows."""
        return hash((self.spec.name, self.seat, self.key))

    def __repr__(self) -> str:
        """Shows game, seat and information state."""
        return f"View({self.spec.name}, seat={self.seat}, key={self.key!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> View:
        """Views never change, so that a copy of an environment shares them."""
        return self

    def __reduce__(self) -> tuple[Callable[..., View], tuple[GameSpec, str, int]]:
        """Pickles by the serialised state."""
        return _restore, (self.spec, self._state.serialize(), self.seat)


@lru_cache(maxsize=4096)
def shared(value: T) -> T:
    """Returns the first value that was equal to this one, so that equal tuples are one object in memory."""
    return value


def fold(name: str) -> str:
    r"""Forgives letter case and white space, nothing else.

    Letter case: a capital becomes the small letter whose capital it is. A character that only looks alike or is
    compatible is another one: the Kelvin sign is no k, ß is not ss, ſ is no s, and full-width or Cyrillic letters are
    no Latin ones. White space: a run of what Unicode calls white space is one space, at the ends none; where there
    is none, none is added, and characters of no width are characters.

    >>> fold("  Column\n 1"), fold("\u00C9") == "\u00E9", fold("\u212A") == "\u212A"
    ('column 1', True, True)
    """
    small = name.lower() if name.isascii() else "".join(map(_small, name))
    return " ".join(small.split())


@lru_cache(maxsize=1024)
def _small(character: str) -> str:
    small = character.lower()
    return small if small.upper() == character else character


def _restore(spec: GameSpec, serialized: str, seat: int) -> View:
    from mage_envs.games.positions import Position, position_graph

    return Position(position_graph(spec), spec.game.deserialize_state(serialized)).view(seat)
