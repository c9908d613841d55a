"""What a world is: a task for one agent, as declared facts and pure functions over states that never change.

A world file declares a subclass of :class:`World` and registers a factory for it in ``WORLDS``. A world holds what all
its sessions share (catalogues, tables, rules) and is never changed once it is made. A *state* holds what is special to
one episode: small, picklable, and immutable, so that a view of it stays what it was, a copy costs nothing, and any
number of threads may play at once. An engine whose states change copies them in :meth:`World.step`.

An *instance* is what is fixed in an episode: a level, a goal, a household. Its id, an integer or a string, rebuilds it
on any machine. A *command* is what a step plays: an action id, or whatever :meth:`World.read` made of an answer.
Turn limits, phases, invalid answers and episodes in a row belong to the environment, not to the world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from mage_envs.errors import UnsupportedGameError

InstanceId: TypeAlias = int | str
Command: TypeAlias = Any
State: TypeAlias = Any
Facts: TypeAlias = Mapping[str, Any]
WorldOutcome: TypeAlias = Literal["win", "loss"]
Interface: TypeAlias = Literal["array", "text"]

MAX_INSTANCE = 2**53 - 1
"""Largest instance id that is a number: every JSON reader keeps integers up to here exactly."""

_NOTHING: Facts = MappingProxyType({})


class Step(NamedTuple):
    """What a command came to.

    Attributes:
        state: The state after it.
        reward: What it earned.
        told: More that anybody may know of it, the agent included; the environment adds it to the info of this step.
    """

    state: State
    reward: float
    told: Facts | None = None


class BestPlay(NamedTuple):
    """What the best agent scores in an episode, as it is proven.

    Attributes:
        new: Its expected score on an instance that it has not met.
        again: The same on an instance that it has played to an end before.
    """

    new: float
    again: float


class TensorBox(NamedTuple):
    """The array of a state: its shape, kind of number, and range.

    Attributes:
        shape: For instance ``(planes, rows, columns)``.
        low: Smallest value.
        high: Largest value.
        dtype: ``"float32"`` or ``"uint8"``.
    """

    shape: tuple[int, ...]
    low: float
    high: float
    dtype: Literal["float32", "uint8"] = "float32"


class WorldBatch(Protocol):
    """Many sessions of a world as arrays, for vector environments: what single ones do, in every one of them.

    Attributes:
        observations: What each session shows, shape ``(count, *box.shape)``; changed by the methods.
        mask: 1 for each action that can be played, else 0; int8, shape ``(count, actions)``; changed by the methods.
    """

    observations: npt.NDArray[Any]
    mask: npt.NDArray[np.int8]

    def start(self, rows: npt.NDArray[np.int64], instances: npt.NDArray[np.int64]) -> None:
        """Starts sessions with the instances of these numbers."""

    def step(
        self, rows: npt.NDArray[np.int64], actions: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int8]]:
        """Plays a legal action in each of some sessions that are not over.

        Returns:
            The rewards, and how it ended: 1 won, −1 lost, 0 goes on.
        """


class World(ABC):
    """Base of all worlds. A subclass sets the attributes, the last ones only where they differ, and says the rules.

    Attributes:
        name: Spec that makes this world: ``"sokoban(boxes=3)"``. ``load_world`` sets it.
        title: CamelCase name in environment ids: ``"Sokoban"``.
        rules: The rules as an agent reads them. The environment adds the turn limit and the episodes.
        unit: What a score is: ``"1 if solved, else 0"``.
        hint: How an answer is written, told after one that could not be read.
        turns: Default limit of an episode, in turns of the text interface.
        moves_per_turn: Steps of the array interface that are one turn.
        actions: Number of action ids; 0 in a world whose nature is text.
        vocabulary: Folded names that exist in some state: such an answer is illegal, another one unparsable.
        box: The array of a state; None in a world whose nature is text.
        count: How many instances :meth:`draw` can give; None: more than any panel takes.
        worst_score: The least that the rules can cost, moves left aside.
        worst_move: The least that a move can cost besides. A forfeited episode scores both, all its moves bad.
        pictures: Whether :meth:`picture` draws a state.
        batched: Whether :meth:`batch` plays many sessions at once.
        variables: Names of the environment variables that it goes by when it is made.
    """

    name: str = ""
    title: ClassVar[str]
    rules: str
    unit: str
    hint: str
    turns: int
    moves_per_turn: int = 1
    actions: int = 0
    vocabulary: frozenset[str] = frozenset()
    box: TensorBox | None = None
    count: int | None = None
    worst_score: float = 0.0
    worst_move: float = 0.0
    pictures: bool = False
    batched: ClassVar[bool] = False
    variables: ClassVar[tuple[str, ...]] = ()

    @property
    def interfaces(self) -> tuple[Interface, ...]:
        """The interfaces that this world has, the default one first."""
        return ("text",) if self.box is None else ("array", "text")

    # Instances.

    @property
    def data(self) -> str:
        """SHA-256 over the files that instances are read from, in hexadecimal; empty where they are made."""
        return ""

    def draw(self, u: float) -> InstanceId:
        """Returns the id of an instance.

        Args:
            u: A number that is uniform in [0, 1), a multiple of 2**-53.
        """
        return int(u * 2**53)

    def check_instance(self, given: object) -> InstanceId:
        """Returns an instance id that a caller gave, in its one form.

        Raises:
            ValueError: This world has no such instance; the message says which it has.
        """
        written = str(given) if isinstance(given, np.integer | str) else ""
        plain = int(written) if written.isdecimal() and len(written) <= len(str(MAX_INSTANCE)) else given
        if isinstance(plain, bool) or not isinstance(plain, int) or not 0 <= plain <= MAX_INSTANCE:
            raise ValueError(f"an instance of {self.title} is a number in 0..{MAX_INSTANCE}, got {given!r:.80}")
        return plain

    # Play.

    @abstractmethod
    def start(self, instance: InstanceId) -> State:
        """Returns the first state of an instance: equal ids give equal states, on any machine."""

    @abstractmethod
    def step(self, state: State, command: Command) -> Step:
        """Plays a command in a state that is not over. Never changes ``state``, never raises for a legal command."""

    @abstractmethod
    def outcome(self, state: State) -> WorldOutcome | None:
        """Returns how the rules ended the episode; None if it goes on."""

    def batch(self, count: int) -> WorldBatch:
        """Returns many sessions as arrays; only where :attr:`batched` is true."""
        raise NotImplementedError(f"{self.title} has no batch: use vectorization_mode='sync'")

    def content(self, state: State) -> str:
        """Returns a name of a first state, what is hidden included: panels take no two instances of one content."""
        return self.key(state)

    # What the agent is shown.

    @abstractmethod
    def facts(self, state: State) -> Facts:
        """Returns all that the agent may know of a state, as data; never what is hidden from it."""

    @abstractmethod
    def describe(self, facts: Facts) -> str:
        """Returns the facts in words."""

    def for_person(self, observation: str) -> str:
        """Returns an observation as a person at a terminal reads it best: the same words in other lines."""
        return observation

    def key(self, state: State) -> str:
        """Returns a name of the situation: equal for states that offer the agent the same, however it got there."""
        return self.describe(self.facts(state))

    def tensor(self, state: State) -> npt.NDArray[Any]:
        """Returns the array that :attr:`box` describes."""
        raise NotImplementedError(f"{self.title} has no arrays: use interface='text'")

    def picture(self, facts: Facts) -> npt.NDArray[np.uint8]:
        """Returns a picture, shape (height, width, 3); only where :attr:`pictures` is true."""
        raise NotImplementedError(f"{self.title} draws no pictures: use render_mode='ansi'")

    def known(self, state: State) -> Facts:
        """Returns what is proven of the state's instance, such as its optimal length: for loggers, never for agents."""
        return _NOTHING

    def best_play(self, instances: Iterable[InstanceId], turns: int) -> BestPlay:
        """Returns the best that can be expected: what scores are compared with.

        Args:
            instances: Those that are played; looked at only if the value depends on them.
            turns: Limit of an episode, in turns of the text interface.

        Raises:
            UnsupportedGameError: It is not known; the message says why.
        """
        raise UnsupportedGameError(f"nobody has proven what can be won in {self.title}")

    # What the agent may answer.

    def legal(self, state: State) -> tuple[int, ...]:
        """Returns the action ids that can be played, ascending; empty in a world whose nature is text."""
        return ()

    def words(self, state: State, action: int) -> tuple[str, ...]:
        """Returns the names of a legal action: the one that is listed, then other spellings."""
        raise NotImplementedError(f"{self.title} has no action ids")

    def names(self, state: State) -> tuple[str, ...]:
        """Returns what the agent is told that it may answer; in an open action set, what is worth listing."""
        return tuple(self.words(state, action)[0] for action in self.legal(state))

    def read(self, state: State, answer: str) -> Command | None:
        """Reads an answer that is no spelling of a legal action: several moves at once, a search, a free command.

        Args:
            state: Where it was given.
            answer: The answer, out of its tags, with its own letter case and spaces.

        Returns:
            The command; None if the answer is none. Never raises for any string.
        """
        return None

    def __reduce__(self) -> tuple[Callable[[str], World], tuple[str]]:
        """Pickles by name."""
        from mage_envs.worlds import load_world

        return load_world, (self.name,)
