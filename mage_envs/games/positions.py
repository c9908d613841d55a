"""Positions and views: the game graph, grown on demand and remembered, so that play costs look-ups only.

A :class:`Position` is a state of the game with its children; a :class:`View` is what one seat may know of it.
Both are immutable in what they mean and shared by all environments of a process. At most ``MAX_POSITIONS``
a game are remembered; past that, positions are made anew and dropped.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyspiel

from mage_envs.charset import printable
from mage_envs.errors import UnsupportedGameError
from mage_envs.games.base import NOTHING, Facts, FloatArray, GameSpec
from mage_envs.games.chance import chance_uniform

MAX_POSITIONS = 50_000

CHANCE = int(pyspiel.PlayerId.CHANCE)
SIMULTANEOUS = int(pyspiel.PlayerId.SIMULTANEOUS)
TERMINAL = int(pyspiel.PlayerId.TERMINAL)

Action: TypeAlias = int
Joint: TypeAlias = tuple[int, ...]


class Position:
    """One state of a game.

    Attributes:
        player: The seat to act, or ``CHANCE``, ``SIMULTANEOUS``, ``TERMINAL``.
        returns: What each seat has got so far (at a terminal position: the result).
    """

    def __init__(self, graph: PositionGraph, state: Any) -> None:
        """Wraps a state. Use :meth:`PositionGraph.root` and :meth:`child` instead."""
        self._graph = graph
        self._state = state
        self._children: dict[Action | Joint, Position] = {}
        self._views: dict[int, View] = {}
        self.player = int(state.current_player())
        self.returns: tuple[float, ...] = tuple(state.returns())

    @property
    def spec(self) -> GameSpec:
        """The game."""
        return self._graph.spec

    @cached_property
    def chance(self) -> tuple[tuple[int, float], ...]:
        """Outcomes of a chance position with their probabilities, none of them 0."""
        return tuple((int(action), float(p)) for action, p in self._state.chance_outcomes() if p > 0.0)

    def child(self, action: Action | Joint) -> Position:
        """Returns the position after an action.

        Args:
            action: A legal action id. At a simultaneous position a tuple, one action a seat, with 0 for a seat that
                has no legal action there.
        """
        found = self._children.get(action)
        return self._graph.grow(self, action) if found is None else found

    def after_chance(self, instance: int, index: int) -> Position:
        """Returns the position after chance event ``index`` of an instance."""
        u = chance_uniform(instance, index)
        for action, probability in self.chance:
            u -= probability
            if u < 0.0:
                return self.child(action)
        return self.child(self.chance[-1][0])

    def view(self, seat: int) -> View:
        """Returns what a seat may know here."""
        found = self._views.get(seat)
        return self._views.setdefault(seat, View(self, seat)) if found is None else found

    def state(self) -> Any:
        """Returns a copy of the full OpenSpiel state, hidden information included: for solvers, never for players."""
        return self._state.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Position:
        """Positions never change, so that a copy of an environment shares them."""
        return self

    def __reduce__(self) -> tuple[Any, tuple[GameSpec, str]]:
        """Pickles by the serialised state."""
        return _restore_position, (self.spec, self._state.serialize())


class View:
    """What one seat may know of a position. Players, texts and logs get views, never positions.

    Two views of one seat are equal if, and only if, the seat cannot tell them apart.

    Attributes:
        spec: The game.
        seat: The seat that looks.
        terminal: Whether the episode is over.
        to_act: Whether the seat must act now.
        legal: Legal action ids, ascending; empty unless ``to_act``.
    """

    def __init__(self, position: Position, seat: int) -> None:
        """Use :meth:`Position.view` instead."""
        self._position = position
        self.spec = position.spec
        self.seat = seat
        self.terminal = position.player == TERMINAL
        legal = position._state.legal_actions(seat) if position.player in (seat, SIMULTANEOUS) else ()
        self.legal: tuple[int, ...] = tuple(int(action) for action in legal)
        self.to_act = bool(legal)

    @cached_property
    def key(self) -> str:
        """The information state: equal for views that the seat cannot tell apart, different for others."""
        name = self.spec.information_state(self._position._state, self.seat)
        shown = sorted(self.revealed.items())
        return f"{name} revealed {shown}" if shown else name

    @cached_property
    def revealed(self) -> Facts:
        """What the end of the episode revealed to this seat, as data; empty before the end."""
        return self.spec.revealed(self._position._state, self.seat) if self.terminal else NOTHING

    @cached_property
    def facts(self) -> Facts:
        """All that this seat may know, as data."""
        return {**self.spec.facts(self._position._state, self.seat), **self.revealed}

    @cached_property
    def text(self) -> str:
        """The facts in words."""
        return printable(self.spec.describe(self.facts))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the legal actions, in the order of ``legal``."""
        return tuple(self.spec.words(self.facts, action)[0] for action in self.legal)

    @cached_property
    def spellings(self) -> dict[str, int]:
        """Every spelling of a legal action, folded to lower case and single spaces, to the action id."""
        found: dict[str, int] = {}
        for action in self.legal:
            for name in self.spec.words(self.facts, action):
                found.setdefault(fold(name), action)
        return found

    @cached_property
    def moves(self) -> dict[int, int]:
        """The legal action ids, as keys and values: a set that gives back plain integers."""
        return {action: action for action in self.legal}

    @cached_property
    def mask(self) -> npt.NDArray[np.int8]:
        """1 for each legal action id, else 0; int8, shape ``(actions,)``. Shared: copy before writing."""
        if self.legal and self.legal[-1] >= self.spec.actions:
            raise UnsupportedGameError(
                f"{self.spec.name!r} has action {self.legal[-1]}, but OpenSpiel counts only {self.spec.actions} actions"
            )
        mask = np.zeros(self.spec.actions, dtype=np.int8)
        mask[list(self.legal)] = 1
        return mask

    @cached_property
    def tensor(self) -> FloatArray:
        """OpenSpiel's information-state tensor; float32, shape ``(spec.tensor_size,)``. Shared: copy before writing."""
        return self.spec.tensor(self._position._state, self.seat)

    @cached_property
    def reveal_array(self) -> FloatArray:
        """What the end revealed, as numbers; zeros before the end. float32, shape ``(spec.reveal_size,)``."""
        if not self.revealed:
            return np.zeros(self.spec.reveal_size, dtype=np.float32)
        return np.asarray(self.spec.reveal_array(self.facts), dtype=np.float32)

    @cached_property
    def uniform(self) -> tuple[float, ...]:
        """The uniform distribution over the legal actions."""
        return (1.0 / len(self.legal),) * len(self.legal) if self.legal else ()

    def sample_state(self, rng: np.random.Generator) -> Any:
        """Returns a full OpenSpiel state that this seat cannot tell from the true one.

        With perfect information that is the state itself. Otherwise OpenSpiel resamples what is hidden, so the
        result depends on the view only.

        Raises:
            UnsupportedGameError: OpenSpiel cannot resample this game.
        """
        if self.spec.perfect_information:
            return self._position.state()
        sampler = pyspiel.UniformProbabilitySampler(int(rng.integers(2**31)), 0.0, 1.0)
        try:
            return self._position._state.resample_from_infostate(self.seat, sampler)
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

    def __reduce__(self) -> tuple[Any, tuple[Position, int]]:
        """Pickles by position and seat."""
        return _restore_view, (self._position, self.seat)


class PositionGraph:
    """All positions of a game that have been reached and are remembered."""

    def __init__(self, spec: GameSpec, limit: int = MAX_POSITIONS) -> None:
        """Starts a graph that remembers at most ``limit`` positions."""
        self.spec = spec
        self.limit = limit
        self.size = 1
        self.root = Position(self, spec.game.new_initial_state())
        self._merged: dict[str, Position] = {}

    def grow(self, parent: Position, action: Action | Joint) -> Position:
        """Makes the child of a position, or finds it among the transpositions, and remembers it."""
        state = _after_joint(parent, action) if isinstance(action, tuple) else parent._state.child(action)
        key = str(state) if self.spec.merge else ""
        child = self._merged.get(key) if key else None
        if child is None:
            child = Position(self, state)
            if self.size >= self.limit:
                return child
            self.size += 1
            if key:
                child = self._merged.setdefault(key, child)
        return parent._children.setdefault(action, child)


@lru_cache(maxsize=64)
def position_graph(spec: GameSpec) -> PositionGraph:
    """Returns the graph of a game that is shared in this process."""
    return PositionGraph(spec)


def fold(name: str) -> str:
    """Forgives letter case and white space, nothing else."""
    return " ".join(name.casefold().split())


def _after_joint(parent: Position, joint: Joint) -> Any:
    state = parent._state.clone()
    state.apply_actions(list(joint))
    return state


def _restore_position(spec: GameSpec, serialized: str) -> Position:
    return Position(position_graph(spec), spec.game.deserialize_state(serialized))


def _restore_view(position: Position, seat: int) -> View:
    return position.view(seat)
