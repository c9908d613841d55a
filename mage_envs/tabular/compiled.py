"""A small game as arrays, built once: every state, what follows it, and what each seat knows there.

States are numbered level by level from the root, so that parents come before children, the states of a level lie side
by side, and so do their edges. Where several seats act at once they act one after the other, in the order of seats and
without knowing: the states in between are states of their own. Games with ``merge`` have one state for all ways to
the same board. Kuhn poker has 58 states and 12 information states, Tic-Tac-Toe 5,478 and 4,520, Leduc poker 9,457 and
936, liar's dice with one die each 294,883 and 24,576.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mage_envs import cache
from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, Position, PositionGraph, View, load_game_spec, position_graph
from mage_envs.games.positions import CHANCE, SIMULTANEOUS, TERMINAL

MAX_STATES = 500_000
"""States past which a game counts as too large: 10 to 20 s and 0.4 to 0.9 GB, most of it for the widest level."""

MAX_LENGTH = 100
"""Moves past which it does: longer games would fill the memory before the states are counted."""

FORMAT = 1
"""Of the file in the cache; rises when the arrays mean something else."""

Array: TypeAlias = npt.NDArray[Any]

_NOBODY = -1
_REFUSAL = "refusal"
_REMEMBER = 1_000


@dataclass(frozen=True, eq=False)
class CompiledGame:
    """A game as arrays. S states, E edges, V views of which the first I are information states, A actions.

    Attributes:
        spec: The game.
        actor: Who moves: a seat, or ``CHANCE``, or ``TERMINAL``; int8, shape (S,).
        first: The edges of state s are ``first[s]`` to ``first[s + 1]``, by ascending action; int32, shape (S + 1,).
        child: Where an edge leads; int32, shape (E,).
        action: Its action id, or chance outcome; int32, shape (E,).
        chance: Its probability if it is a chance outcome, else 1; float64, shape (E,).
        parent: An edge that leads to a state, the only one unless boards are merged; −1 at the root; int32, shape (S,).
        levels: The states of level l are ``levels[l]`` to ``levels[l + 1]``; int32.
        returns: What each seat has got at a state, at the end the result; float64, shape (S, seats).
        information: The information state of the seat that moves, else −1; int32, shape (S,).
        shown: The view that a seat has when it is asked or the game is over, else −1; int32, shape (S, seats). Of
            states in between simultaneous moves the first one counts.
        view_seat: Whose view it is; int8, shape (V,).
        mask: 1 for each legal action of a view; int8, shape (V, A).
        tensor: OpenSpiel's tensor of a view; float32, shape (V, ``spec.tensor_size``).
        revealed: What the end of the game reveals, zeros before; float32, shape (V, ``spec.reveal_size``).
        unrevealed: Equal for views that differ only in what the end of the game reveals; int32, shape (V,).
        witness: A state at which a view is had; int32, shape (V,).
        keys: ``View.key`` of each view.
    """

    spec: GameSpec
    actor: Array
    first: Array
    child: Array
    action: Array
    chance: Array
    parent: Array
    levels: Array
    returns: Array
    information: Array
    shown: Array
    view_seat: Array
    mask: Array
    tensor: Array
    revealed: Array
    unrevealed: Array
    witness: Array
    keys: tuple[str, ...]

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.actor)

    @cached_property
    def information_states(self) -> int:
        """Number of information states of all seats together: the views with a legal action, which come first."""
        return int(self.mask.any(axis=1).sum())

    @cached_property
    def source(self) -> Array:
        """The state that an edge leaves; int32, shape (E,)."""
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.first))

    @cached_property
    def move(self) -> Array:
        """The index of an action among the legal ones of a view, −1 if it is not legal; int8 or wider, shape (V, A)."""
        index = np.cumsum(self.mask, axis=1, dtype=np.int32) - 1
        return np.where(self.mask > 0, index, -1).astype(np.int8 if self.spec.actions < 128 else np.int32)

    @cached_property
    def index(self) -> tuple[dict[str, int], ...]:
        """For each seat from ``View.key`` to the number of the information state."""
        found: tuple[dict[str, int], ...] = tuple({} for _ in range(self.spec.seats))
        for number in range(self.information_states):
            found[self.view_seat[number]][self.keys[number]] = number
        return found

    def of_seat(self, seat: int) -> Array:
        """Returns the information states of a seat, ascending; int64."""
        return np.flatnonzero(self.view_seat[: self.information_states] == seat)

    def position(self, state: int) -> Position:
        """Returns the position of a state; of a state in between simultaneous moves the one before them."""
        path: list[int] = []
        while (edge := int(self.parent[state])) >= 0:
            path.append(edge)
            state = int(self.source[edge])
        position, joint = position_graph(self.spec).root, dict[int, int]()
        for edge in reversed(path):
            mover, action = int(self.actor[self.source[edge]]), int(self.action[edge])
            if position.player != SIMULTANEOUS:
                position = position.child(action)
                continue
            joint[mover] = action
            if mover == acting_seats(position)[-1]:
                position = position.child(tuple(joint.get(seat, 0) for seat in range(self.spec.seats)))
                joint = {}
        return position

    def view(self, number: int) -> View:
        """Returns a view by its number: its words, its facts, its names of actions."""
        return self.position(int(self.witness[number])).view(int(self.view_seat[number]))

    def text(self, number: int) -> str:
        """Returns what a view says in words: equal numbers, equal texts, and the other way round."""
        return self.view(number).text


def compiled_game(game: str | GameSpec) -> CompiledGame:
    """Returns a game as arrays: from this process, from the cache on disk, or compiled now.

    Args:
        game: Name or spec of a small game.

    Raises:
        UnsupportedGameError: The game has more than ``MAX_STATES`` states, or games of more than ``MAX_LENGTH`` moves.
    """
    found = _compiled(game if isinstance(game, GameSpec) else load_game_spec(game))
    if isinstance(found, UnsupportedGameError):
        raise found.with_traceback(None)
    return found


def compile_game(spec: GameSpec, limit: int = MAX_STATES) -> CompiledGame:
    """Compiles a game, without looking for it anywhere.

    Raises:
        UnsupportedGameError: The game has more than ``limit`` states, or is too long; the message has both numbers.
    """
    length = spec.game.max_game_length()
    if length > MAX_LENGTH:
        raise UnsupportedGameError(
            f"{spec.name!r} is too long for exact values: up to {length:,} moves, the limit is {MAX_LENGTH}. "
            "Choose a shorter game, or estimate by play"
        )
    return _Compiler(spec, limit).compile()


def acting_seats(position: Position) -> tuple[int, ...]:
    """Returns the seats that choose at a position: none at chance and at the end, some or all at a simultaneous one."""
    if position.player == SIMULTANEOUS:
        return tuple(seat for seat in range(position.spec.seats) if position.view(seat).legal)
    return (position.player,) if position.player >= 0 else ()


def fingerprint(spec: GameSpec) -> str | None:
    """Returns a key of all that decides a compiled game: names, versions, and the code that makes its views.

    None if some of that code has no file, so that nobody could tell when it changes.
    """
    sources = {Path(__file__), *(Path(__file__).parent.parent / "games").glob("*.py")}
    for function in (spec.facts, spec.revealed, spec.describe, spec.words, spec.reveal_array):
        try:
            sources.add(Path(inspect.getfile(inspect.unwrap(function))))
        except TypeError:
            return None
    if not all(source.is_file() for source in sources):
        return None
    code = [source.read_bytes() for source in sorted(sources)]
    facts = (spec.name, spec.openspiel, str(spec.merge), str(spec.reveal_size))
    return cache.content_key(str(FORMAT), version("open_spiel"), np.__version__, *facts, *code)


@lru_cache(maxsize=16)
def _compiled(spec: GameSpec) -> CompiledGame | UnsupportedGameError:
    key = fingerprint(spec)
    stored = cache.load("game", key, partial(_decode, spec)) if key else None
    if stored is not None:
        return stored
    try:
        compiled = compile_game(spec)
    except UnsupportedGameError as error:
        if key:  # Kept as well: it can take 20 seconds to find out.
            cache.store("game", key, {_REFUSAL: np.frombuffer(str(error).encode(), dtype=np.uint8)})
        return error
    if key:
        arrays = {f.name: getattr(compiled, f.name) for f in fields(compiled) if f.name not in ("spec", "keys")}
        arrays["keys"] = np.frombuffer(json.dumps(compiled.keys).encode(), dtype=np.uint8)
        cache.store("game", key, arrays)
    return compiled


def _decode(spec: GameSpec, stored: cache.Arrays) -> CompiledGame | UnsupportedGameError:
    """Makes a game of the arrays of a file, if they fit each other, or the reason why there is none."""
    arrays = dict(stored)
    if _REFUSAL in arrays:
        return UnsupportedGameError(arrays[_REFUSAL].tobytes().decode())
    game = CompiledGame(spec=spec, keys=tuple(json.loads(arrays.pop("keys").tobytes())), **arrays)
    states, edges, views = len(game.actor), len(game.child), len(game.keys)
    shapes = {
        "first": (states + 1,), "action": (edges,), "chance": (edges,), "parent": (states,),
        "returns": (states, spec.seats), "information": (states,), "shown": (states, spec.seats), "view_seat": (views,),
        "mask": (views, spec.actions), "tensor": (views, spec.tensor_size), "revealed": (views, spec.reveal_size),
        "unrevealed": (views,), "witness": (views,),
    }  # fmt: skip
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape} instead of {shape}")
    if not (game.levels[-1] == states and game.first[-1] == edges):
        raise ValueError("states or edges are missing")
    return game


class _Place(NamedTuple):
    """A state on the way: a position, and what the first of its seats have chosen if they choose at once."""

    position: Position
    chosen: tuple[int, ...]
    edge: int


class _Seen(NamedTuple):
    """What is kept of a view: not the view, whose state and words would take ten times the memory."""

    seat: int
    terminal: bool
    key: str
    mask: bytes
    tensor: bytes
    revealed: bytes
    unrevealed: int
    witness: int


class _Compiler:
    """Goes through a game level by level."""

    def __init__(self, spec: GameSpec, limit: int) -> None:
        self.spec, self.limit = spec, limit
        self.below: list[_Place] = []
        self.boards: dict[str, int] = {}
        self.actor: list[int] = []
        self.first, self.levels = [0], [0]
        self.child: list[int] = []
        self.action: list[int] = []
        self.chance: list[float] = []
        self.parent: list[int] = []
        self.returns: list[tuple[float, ...]] = []
        self.information: list[int] = []
        self.shown: list[int] = []
        self.seen: list[_Seen] = []
        self.views: dict[tuple[int, bool, str], int] = {}
        self.unrevealed: dict[tuple[int, bool, str], int] = {}

    def compile(self) -> CompiledGame:
        # A graph that remembers little, the menus of most games: two levels of positions are all that stays in memory.
        level = [_Place(PositionGraph(self.spec, _REMEMBER).root, (), _NOBODY)]
        while level:
            self.levels.append(self.levels[-1] + len(level))
            self.below, self.boards = [], {}
            level.reverse()
            while level:
                place = level.pop()  # Lets the position go, which takes more memory than all that is kept of it.
                self._state(place)
                for action, chance in self._edges(place):
                    self._edge(place, action, chance)
                self.first.append(len(self.child))
            level = self.below
        return self._finish()

    def _state(self, place: _Place) -> None:
        position, number = place.position, len(self.actor)
        seats = acting_seats(position)
        mover = seats[len(place.chosen)] if seats else position.player
        asked = () if place.chosen else range(self.spec.seats) if position.player == TERMINAL else seats
        self.actor.append(mover)
        self.parent.append(place.edge)
        self.returns.append(position.returns)
        for seat in range(self.spec.seats):
            self.shown.append(self._view(position.view(seat), number) if seat in asked else _NOBODY)
        self.information.append(self._view(position.view(mover), number) if mover >= 0 else _NOBODY)

    def _view(self, view: View, state: int) -> int:
        """Numbers views as they come; terminal ones are put behind the others at the end."""
        name = (view.seat, view.terminal, view.key)
        number = self.views.setdefault(name, len(self.seen))
        if number == len(self.seen):
            hidden = (view.seat, view.terminal, view.unrevealed_key) if view.revealed else name
            group = self.unrevealed.setdefault(hidden, len(self.unrevealed))
            arrays = (view.mask.tobytes(), view.tensor.tobytes(), view.reveal_array.tobytes())
            self.seen.append(_Seen(*name, *arrays, group, state))
        return number

    def _edges(self, place: _Place) -> Sequence[tuple[int, float]]:
        if place.position.player == CHANCE:
            return place.position.chance
        mover = self.actor[-1]
        return [(action, 1.0) for action in place.position.view(mover).legal] if mover >= 0 else ()

    def _edge(self, place: _Place, action: int, chance: float) -> None:
        child = self._child(place, action)
        number = len(self.below)
        if self.spec.merge:
            number = self.boards.setdefault(str(child.position.state()), number)
        if number == len(self.below):
            self.below.append(child)
            self._check_size()
        self.child.append(self.levels[-1] + number)
        self.action.append(action)
        self.chance.append(chance)

    def _child(self, place: _Place, action: int) -> _Place:
        position, edge = place.position, len(self.child)
        if position.player != SIMULTANEOUS:
            return _Place(position.child(action), (), edge)
        seats, chosen = acting_seats(position), (*place.chosen, action)
        if len(chosen) < len(seats):
            return _Place(position, chosen, edge)
        choices = dict(zip(seats, chosen, strict=True))
        return _Place(position.child(tuple(choices.get(seat, 0) for seat in range(self.spec.seats))), (), edge)

    def _check_size(self) -> None:
        reached = self.levels[-1] + len(self.below)
        if reached > self.limit:
            raise UnsupportedGameError(
                f"{self.spec.name!r} is too large for exact values: {reached:,} states reached, the limit is "
                f"{self.limit:,}. Choose a smaller game, or estimate by play"
            )

    def _finish(self) -> CompiledGame:
        order = sorted(range(len(self.seen)), key=lambda number: self.seen[number].terminal)
        seen, spec = [self.seen[number] for number in order], self.spec
        renumbered = np.empty(len(seen) + 1, dtype=np.int32)
        renumbered[order], renumbered[_NOBODY] = np.arange(len(seen)), _NOBODY

        def joined(parts: Iterable[bytes], kind: type[np.generic], width: int) -> Array:
            return np.frombuffer(bytearray().join(parts), dtype=kind).reshape(len(seen), width)

        return CompiledGame(
            spec=spec,
            actor=np.array(self.actor, dtype=np.int8),
            first=np.array(self.first, dtype=np.int32),
            child=np.array(self.child, dtype=np.int32),
            action=np.array(self.action, dtype=np.int32),
            chance=np.array(self.chance, dtype=np.float64),
            parent=np.array(self.parent, dtype=np.int32),
            levels=np.array(self.levels, dtype=np.int32),
            returns=np.array(self.returns, dtype=np.float64),
            information=renumbered[self.information],
            shown=renumbered[self.shown].reshape(-1, spec.seats),
            view_seat=np.array([view.seat for view in seen], dtype=np.int8),
            mask=joined((view.mask for view in seen), np.int8, spec.actions),
            tensor=joined((view.tensor for view in seen), np.float32, spec.tensor_size),
            revealed=joined((view.revealed for view in seen), np.float32, spec.reveal_size),
            unrevealed=np.array([view.unrevealed for view in seen], dtype=np.int32),
            witness=np.array([view.witness for view in seen], dtype=np.int32),
            keys=tuple(view.key for view in seen),
        )
