"""Households of our own: a number makes a room, what is in it, and a task; nothing needs to be downloaded.

First the task is chosen (:func:`errand_of`), then a room in which it makes sense, with at least so many of the things
as the task needs, none of them where they must go. Every receptacle has a place of its own. The tests prove by the
solver that each of the first thousands can be won in ten steps, and that none is won at its start.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeVar, get_args

from mage_envs.worlds.alfworld.layout import Expression, Facts, Layout
from mage_envs.worlds.alfworld.tables import (
    ABLE,
    APPLIANCE,
    CONTAINS,
    OPENABLE,
    ROOMS,
    TASKS,
    RoomType,
    TaskType,
)  # fmt: skip

T = TypeVar("T")

LAMP = "DeskLamp"
LIGHT: TaskType = "look_at_obj_in_light"
TWO: TaskType = "pick_two_obj_and_place"

SPLITS = ("all", "train", "validation", "test", "task_types", "rooms", "pairs")
"""``validation`` and ``test`` are a tenth each of what is drawn like ``train``, and never in it. The others hold out
one axis each, and are as ``train`` but for that axis."""

HELD_TASKS = frozenset({"pick_cool_then_place_in_recep", TWO})
"""As LaMer (arXiv 2512.16848) holds out: Cool and Pick2."""

HELD_ROOM: RoomType = "bathroom"
_HELD_PAIRS = 5
_SHARES = 10
_FULL = 0.7


class Errand(NamedTuple):
    """What is to be done.

    Attributes:
        task: The type of task.
        room: The type of room.
        thing: The type of thing.
        where: The type of receptacle that it goes to; the lamp under which it is looked at.
    """

    task: TaskType
    room: RoomType
    thing: str
    where: str

    @property
    def needed(self) -> int:
        """How many of the things the task needs."""
        return 2 if self.task == TWO else 1


def errand_of(number: int) -> Errand:
    """Returns what is to be done in a household."""
    return _errand(random.Random(number))


def split_of(number: int) -> str | None:
    """Returns the one split other than ``"all"`` that a household belongs to; None if it differs on two axes.

    >>> [split_of(number) for number in (3, 7, 6, 0)]
    ['train', 'test', 'task_types', None]
    """
    errand = errand_of(number)
    axes = [
        name
        for name, held in (
            ("task_types", errand.task in HELD_TASKS),
            ("rooms", errand.room == HELD_ROOM),
            ("pairs", _is_held_pair(errand.thing, errand.where)),
        )
        if held
    ]
    if axes:
        return axes[0] if len(axes) == 1 else None
    return {0: "validation", 1: "test"}.get(_hash(str(number)) % _SHARES, "train")


def household(number: int) -> Layout:
    """Makes a household.

    Args:
        number: 0..2**53−1. The same number makes the same household, on any machine.
    """
    rng = random.Random(number)
    return _Household(_errand(rng), rng).layout()


def _errand(rng: random.Random) -> Errand:
    task: TaskType = _pick(rng, get_args(TaskType))
    return _pick(rng, _errands(task))


@cache
def _errands(task: TaskType) -> tuple[Errand, ...]:
    """Returns all that can be done by tasks of a type, each room with the same weight."""
    by_room = {room: tuple(_errands_in(task, room)) for room in ROOMS}
    longest = max(map(len, by_room.values()))
    found = []
    for errands in by_room.values():
        if errands:
            found += [errands[index * len(errands) // longest] for index in range(longest)]
    return tuple(found)


def _errands_in(task: TaskType, room: RoomType) -> Iterator[Errand]:
    able, held = TASKS[task].able, ROOMS[room]
    if able and APPLIANCE[able] not in held.receptacles:
        return
    things = [thing for thing, most in held.things.items() if not able or thing in ABLE[able]]
    if task == LIGHT:
        if LAMP in held.fixtures:
            yield from (Errand(task, room, thing, LAMP) for thing in things)
        return
    for thing in things:
        for where in held.receptacles:
            fits = thing in CONTAINS.get(where, ()) and where != APPLIANCE.get(able)
            homeless = not any(thing in CONTAINS.get(other, ()) for other in held.receptacles if other != where)
            if fits and not homeless and (task != TWO or held.things[thing] > 1):
                yield Errand(task, room, thing, where)


@cache
def _is_held_pair(thing: str, where: str) -> bool:
    return _hash(f"{thing} {where}") % _HELD_PAIRS == 0


def _hash(text: str) -> int:
    return hashlib.sha256(text.encode()).digest()[0]


class _Household:
    """A household in the making."""

    def __init__(self, errand: Errand, rng: random.Random) -> None:
        self.errand, self.rng = errand, rng
        self.room = ROOMS[errand.room]
        self.receptacles: list[tuple[str, str]] = []  # Ids with their types.
        self.things: list[tuple[str, str, str]] = []  # Ids with their types and the receptacles that hold them.

    def layout(self) -> Layout:
        self._furnish()
        self._fill()
        task = _pick(self.rng, TASKS[self.errand.task].sayings)
        told = task.format(thing=self.errand.thing.lower(), where=self.errand.where.lower())
        places = [f"loc_bar_{number:02}" for number in range(len(self.receptacles) + 1)]
        facts = self._facts(places)
        return Layout(
            tuple(identity for identity, _, _ in self.things), tuple(identity for identity, _ in self.receptacles),
            tuple(places), facts, goal_of(self.errand), told,
        )  # fmt: skip

    def _furnish(self) -> None:
        stands = self.room.fixtures.get(LAMP, ()) if self.errand.task == LIGHT else ()
        stand = _pick(self.rng, stands) if stands else ""
        thing, where = self.errand.thing, self.errand.where
        for kind, (fewest, most) in self.room.receptacles.items():
            count = fewest + int(self.rng.random() * (most - fewest + 1))
            if kind in (where, stand):
                count = max(count, 1)
            self.receptacles += [(_identity(kind, number), kind) for number in range(count)]
        if not any(kind != where and thing in CONTAINS.get(kind, ()) for _, kind in self.receptacles):
            others = [kind for kind in self.room.receptacles if kind != where and thing in CONTAINS.get(kind, ())]
            kind = _pick(self.rng, others)
            self.receptacles.append((_identity(kind, 0), kind))

    def _fill(self) -> None:
        for kind, most in self.room.things.items():
            wanted = self.errand.needed if kind == self.errand.thing else 0
            here = self.rng.random() < _FULL
            count = max(wanted, 1 + int(self.rng.random() * most) if here else 0)
            self._place(kind, min(count, max(most, wanted)), wanted)
        for kind, stands in self.room.fixtures.items():
            free = [identity for identity, on in self.receptacles if on in stands]
            if free:
                self.things.append((_identity(kind, 0), kind, _pick(self.rng, free)))

    def _place(self, kind: str, count: int, wanted: int) -> None:
        """Puts things of a type somewhere; those of the task not where they must go."""
        fitting = [(identity, on) for identity, on in self.receptacles if kind in CONTAINS.get(on, ())]
        if wanted and self.errand.task != LIGHT:
            fitting = [(identity, on) for identity, on in fitting if on != self.errand.where]
        if wanted > 1 and self.errand.where in OPENABLE:  # Three doors would take more than ten steps.
            fitting = [(identity, on) for identity, on in fitting if on not in OPENABLE] or fitting
        if fitting:
            self.things += [(_identity(kind, number), kind, _pick(self.rng, fitting)[0]) for number in range(count)]

    def _facts(self, places: Sequence[str]) -> Facts:
        place_of = dict(zip([identity for identity, _ in self.receptacles], places[1:], strict=True))
        kinds = {kind for _, kind, _ in self.things}
        types = {kind for _, kind in self.receptacles}
        portable = self.room.things
        facts: Facts = {
            "atLocation": [("agent1", places[0])],
            "receptacleType": [(identity, f"{kind}Type") for identity, kind in self.receptacles],
            "objectType": [(identity, f"{kind}Type") for identity, kind, _ in self.things],
            "canContain": [
                (f"{kind}Type", f"{thing}Type")
                for kind in sorted(types) for thing in CONTAINS.get(kind, ()) if thing in kinds
            ],
            "pickupable": [(identity,) for identity, kind, _ in self.things if kind in portable],
            "openable": [(identity,) for identity, kind in self.receptacles if kind in OPENABLE],
            "receptacleAtLocation": list(place_of.items()),
            "inReceptacle": [(identity, on) for identity, _, on in self.things],
            "objectAtLocation": [(identity, place_of[on]) for identity, _, on in self.things],
        }  # fmt: skip
        for predicate, able in ABLE.items():
            facts[predicate] = [(identity,) for identity, kind, _ in self.things if kind in able]
        return {predicate: rows for predicate, rows in facts.items() if rows}


def goal_of(errand: Errand) -> Expression:
    """Returns the goal of an errand in PDDL."""
    thing, where, flag = f"{errand.thing}Type", f"{errand.where}Type", TASKS[errand.task].flag
    if errand.task == LIGHT:
        lit: Expression = (
            "exists", ("?lamp", "-", "object", "?r", "-", "receptacle", "?a", "-", "agent", "?l", "-", "location"),
            (
                "and", ("objectType", "?lamp", where), ("toggleable", "?lamp"), ("isToggled", "?lamp"),
                ("receptacleAtLocation", "?r", "?l"), ("atLocation", "?a", "?l"), ("inReceptacle", "?lamp", "?r"),
            ),
        )  # fmt: skip
        held: Expression = (
            "exists", ("?o", "-", "object", "?a", "-", "agent"),
            ("and", ("objectType", "?o", thing), ("holds", "?a", "?o")),
        )  # fmt: skip
        return ("and", lit, held)
    there: list[Expression] = [
        ("objectType", "?o", thing),
        ("receptacleType", "?r", where),
        ("inReceptacle", "?o", "?r"),
    ]
    if flag:
        there.append((flag, "?o"))
    if errand.task == TWO:
        second: Expression = (
            "and", ("not", ("=", "?o", "?other")), ("objectType", "?other", thing), ("inReceptacle", "?other", "?r")
        )  # fmt: skip
        there.append(("exists", ("?other", "-", "object"), second))
    inner: Expression = ("exists", ("?o", "-", "object"), ("and", *there))
    return ("exists", ("?r", "-", "receptacle"), inner)


def _identity(kind: str, number: int) -> str:
    """Returns an id as ALFRED writes it; a basin is a part of what it is in."""
    if kind.endswith("Basin"):
        return f"{kind.removesuffix('Basin')}_bar_{number:02}_bar_{kind}"
    return f"{kind}_bar_{number:02}"


def _pick(rng: random.Random, values: Sequence[T]) -> T:
    """Picks by ``random()`` alone, whose numbers no version of Python changes."""
    return values[int(rng.random() * len(values))]
