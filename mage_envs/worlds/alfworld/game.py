"""A game, loaded: everything that no step changes, indexed once. Immutable, so that any number of threads may share it.

Things, receptacles and places are numbers in the order of their ids in the file, which is also the order in which the
text lists them. Sets of things are integers, one bit a thing: a state is then a handful of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from mage_envs.errors import LevelError
from mage_envs.worlds.alfworld.goal import Grounding, Tree
from mage_envs.worlds.alfworld.layout import Layout, read_layout
from mage_envs.worlds.alfworld.naming import is_thing, named
from mage_envs.worlds.alfworld.quirks import Quirks, check_quirks, settled

if TYPE_CHECKING:
    from mage_envs.worlds.alfworld.state import State

Dialect: TypeAlias = Literal["0.3", "0.4"]
"""The command language: ``put x in/on y`` and no ``help`` in 0.3, as the files of 2.1.1 have it; ``move x to y`` in 0.4
(alfworld 0.4 and later)."""

FLAGS = {"isClean": "clean", "isHot": "hot", "isCool": "cool", "isSliced": "sliced", "isToggled": "toggled"}
"""Predicates of things that play can change, and the fields of a state that hold them."""


@dataclass(frozen=True, slots=True)
class Start:
    """The first state of a game; the fields are those of :class:`~mage_envs.worlds.alfworld.state.State`."""

    here: int
    held: int
    opened: int
    inside: tuple[int, ...]
    lying: tuple[int, ...]
    flags: dict[str, int]


@dataclass(frozen=True, slots=True)
class Game:
    """A game of ALFWorld in one dialect.

    Attributes:
        dialect: See :data:`Dialect`.
        task: The goal in words.
        goal: The goal as a tree; see :mod:`~mage_envs.worlds.alfworld.goal`.
        things: Names of the things: ``"apple 1"``.
        receptacles: Names of the receptacles: ``"fridge 1"``.
        places: Numbers of the places in the text of dialect 0.3: ``"loc 30"``.
        thing: From a name to the index.
        receptacle: From a name to the index.
        place_of: The place of each receptacle.
        at: The receptacles at each place.
        fits: What may be put into each receptacle, as a set of things.
        openable: The receptacles that open, as a set of receptacles.
        basins: The receptacles in which things are cleaned.
        microwaves: The receptacles in which things are heated.
        fridges: The receptacles in which things are cooled.
        portable: Things that can be taken.
        cleanable: Things that can be cleaned.
        heatable: Things that can be heated.
        coolable: Things that can be cooled.
        toggleable: Things that can be used.
        sliceable: Things that can be sliced.
        knives: Things that slice.
        content: What is in the things that can hold others; None for the rest.
        first: The first state.
        away: For each place, the sorted ``go to`` commands that are possible there.
    """

    dialect: Dialect
    task: str
    goal: Tree
    things: tuple[str, ...]
    receptacles: tuple[str, ...]
    places: tuple[str, ...]
    thing: dict[str, int]
    receptacle: dict[str, int]
    place_of: tuple[int, ...]
    at: tuple[tuple[int, ...], ...]
    fits: tuple[int, ...]
    openable: int
    basins: int
    microwaves: int
    fridges: int
    portable: int
    cleanable: int
    heatable: int
    coolable: int
    toggleable: int
    sliceable: int
    knives: int
    content: dict[int, int]
    first: Start
    away: tuple[tuple[str, ...], ...]

    @classmethod
    def from_file(cls, path: str | Path, dialect: str = "0.4", quirks: str = "faithful") -> Game:
        """Loads a ``game.tw-pddl`` file.

        Args:
            path: The file.
            dialect: ``"0.3"`` or ``"0.4"``; any file can be played in both.
            quirks: ``"faithful"``, or ``"clean"``: see :mod:`~mage_envs.worlds.alfworld.quirks`.

        Raises:
            LevelError: The file is not such a game.
            ValueError: There is no such dialect or way to treat quirks.
        """
        return cls.from_layout(read_layout(path), dialect, quirks)

    @classmethod
    def from_layout(cls, layout: Layout, dialect: str = "0.4", quirks: str = "faithful") -> Game:
        """Makes a game of a layout; see :meth:`from_file`."""
        return build(layout, check_dialect(dialect), check_quirks(quirks))

    def start(self) -> State:
        """Returns the first state."""
        from mage_envs.worlds.alfworld.state import State

        return State(self)

    def __deepcopy__(self, memo: object) -> Game:
        """Returns the game itself: nothing in it can change."""
        return self


def check_dialect(dialect: str) -> Dialect:
    """Returns the dialect.

    Raises:
        ValueError: There is no such dialect.
    """
    for known in get_args(Dialect):
        if dialect == known:
            return known  # type: ignore[no-any-return]
    raise ValueError(f"dialect must be one of {', '.join(map(repr, get_args(Dialect)))}, got {dialect!r}")


def build(layout: Layout, dialect: Dialect, quirks: Quirks) -> Game:
    """Indexes a layout.

    Raises:
        LevelError: Its facts do not fit together.
    """
    try:
        return _Builder(layout if quirks == "faithful" else settled(layout), dialect).game()
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise LevelError(
            f"the facts or the goal of an ALFWorld game do not fit together ({type(error).__name__}: {error}): fetch "
            "the file again, or mend what wrote it"
        ) from error


class _Builder:
    """What a game is made from, by predicate."""

    def __init__(self, layout: Layout, dialect: Dialect) -> None:
        self.layout, self.dialect = layout, dialect
        self.facts = layout.facts
        # What no fact speaks of is not in the house, and is not counted when the rest is numbered.
        present = {
            word
            for predicate, rows in layout.facts.items()
            if predicate != "canContain"
            for row in rows
            for word in row
            if is_thing(word)
        }
        self.names = named(present)
        self.things = self._numbered(layout.things)
        self.receptacles = self._numbered(row[0] for row in self.rows("receptacleAtLocation"))
        starts = [row[1] for row in self.rows("atLocation")]
        self.places = self._numbered([*starts, *(row[1] for row in self.rows("receptacleAtLocation"))])
        self.start = self.places[starts[0]]

    def _numbered(self, identities: Iterable[str]) -> dict[str, int]:
        """Returns the index of each id that is present, in the order of the names."""
        wanted = set(identities)
        return {identity: index for index, identity in enumerate(name for name in self.names if name in wanted)}

    def rows(self, predicate: str) -> list[tuple[str, ...]]:
        return self.facts.get(predicate, [])

    def set_of(self, predicate: str) -> int:
        return _bits(self.things[row[0]] for row in self.rows(predicate) if row[0] in self.things)

    def of_type(self, *types: str) -> int:
        rows = self.rows("receptacleType")
        return _bits(self.receptacles[row[0]] for row in rows if row[1] in types and row[0] in self.receptacles)

    def game(self) -> Game:
        place_of = self._place_of()
        at = tuple(
            tuple(receptacle for receptacle, place in enumerate(place_of) if place == index)
            for index in range(len(self.places))
        )
        things = tuple(self.names[identity] for identity in self.things)
        names = tuple(self.names[identity] for identity in self.receptacles)
        openable = {self.receptacles[row[0]] for row in self.rows("openable") if row[0] in self.receptacles}
        knives = {row[0] for row in self.rows("objectType") if row[1] in ("KnifeType", "ButterKnifeType")}
        ways = sorted((f"go to {name}", place) for name, place in zip(names, place_of, strict=True))
        return Game(
            dialect=self.dialect,
            task=self.layout.task,
            goal=self._goal(),
            things=things,
            receptacles=names,
            places=tuple(self.names[identity] for identity in self.places),
            thing={name: index for index, name in enumerate(things)},
            receptacle={name: index for index, name in enumerate(names)},
            place_of=place_of,
            at=at,
            fits=self._fits(),
            openable=_bits(openable),
            basins=self.of_type("SinkType", "SinkBasinType"),
            microwaves=self.of_type("MicrowaveType"),
            fridges=self.of_type("FridgeType"),
            portable=self.set_of("pickupable"),
            cleanable=self.set_of("cleanable"),
            heatable=self.set_of("heatable"),
            coolable=self.set_of("coolable"),
            toggleable=self.set_of("toggleable"),
            sliceable=self.set_of("sliceable"),
            knives=_bits(self.things[name] for name in knives if name in self.things),
            content=self._content(),
            first=self._first(),
            away=tuple(tuple(text for text, place in ways if place != index) for index in range(len(self.places))),
        )

    def _place_of(self) -> tuple[int, ...]:
        found = {row[0]: self.places[row[1]] for row in self.rows("receptacleAtLocation")}
        return tuple(found[identity] for identity in self.receptacles)

    def _fits(self) -> tuple[int, ...]:
        by_type: dict[str, int] = {}
        for identity, kind in self.rows("objectType"):
            if identity in self.things:
                by_type[kind] = by_type.get(kind, 0) | 1 << self.things[identity]
        held: dict[str, int] = {}
        for receptacle_type, kind in self.rows("canContain"):
            held[receptacle_type] = held.get(receptacle_type, 0) | by_type.get(kind, 0)
        fits = [0] * len(self.receptacles)
        for identity, kind in self.rows("receptacleType"):
            if identity in self.receptacles:
                fits[self.receptacles[identity]] |= held.get(kind, 0)
        return tuple(fits)

    def _content(self) -> dict[int, int]:
        content = {self.things[row[0]]: 0 for row in self.rows("isReceptacleObject") if row[0] in self.things}
        for inner, outer in self.rows("inReceptacleObject"):
            content[self.things[outer]] = content.get(self.things[outer], 0) | 1 << self.things[inner]
        return content

    def _first(self) -> Start:
        inside = [0] * len(self.receptacles)
        for identity, receptacle in self.rows("inReceptacle"):
            inside[self.receptacles[receptacle]] |= 1 << self.things[identity]
        lying = [0] * len(self.places)
        for identity, place in self.rows("objectAtLocation"):
            if place in self.places:
                lying[self.places[place]] |= 1 << self.things[identity]
        held = [self.things[row[1]] for row in self.rows("holds")]
        opened = _bits(self.receptacles[row[0]] for row in self.rows("opened"))
        flags = {name: self.set_of(predicate) for predicate, name in FLAGS.items()}
        return Start(self.start, held[0] if held else -1, opened, tuple(inside), tuple(lying), flags)

    def _goal(self) -> Tree:
        things, receptacles, places = self.things, self.receptacles, self.places
        atoms = {
            "inReceptacle": lambda words: ("in", things[words[0]], receptacles[words[1]]),
            "holds": lambda words: ("held", things[words[1]]),
            "atLocation": lambda words: ("here", places[words[1]]) if words[1] in places else False,
            "opened": lambda words: ("opened", receptacles[words[0]]),
            **{predicate: _flag(name, things) for predicate, name in FLAGS.items()},
        }
        kinds = {
            "object": list(things), "receptacle": list(receptacles), "location": list(places),
            "agent": [row[0] for row in self.rows("atLocation")],
        }  # fmt: skip
        return Grounding(atoms, self.facts, kinds).ground(self.layout.goal)


def _flag(name: str, things: dict[str, int]) -> Callable[[tuple[str, ...]], Tree]:
    return lambda words: (name, things[words[0]])


def _bits(members: Iterable[int]) -> int:
    """Returns the set of some numbers."""
    found = 0
    for member in members:
        found |= 1 << member
    return found
