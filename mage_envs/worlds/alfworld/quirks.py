"""What is odd in the published games, kept (``"faithful"``) or put right (``"clean"``).

In 369 of the 474 validation games two receptacles stand at one place, so that ``go to`` cannot reach the one from the
other although both are at hand; in 230 a thing lies in two receptacles at once, and stays in one when it is taken from
the other. ``"clean"`` gives every receptacle a place of its own and leaves a thing in one receptacle only.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from mage_envs.worlds.alfworld.layout import Facts, Layout

Quirks: TypeAlias = Literal["faithful", "clean"]


def check_quirks(quirks: str) -> Quirks:
    """Returns the way to treat quirks.

    Raises:
        ValueError: There is no such way.
    """
    for known in get_args(Quirks):
        if quirks == known:
            return known  # type: ignore[no-any-return]
    raise ValueError(f"quirks must be one of {', '.join(map(repr, get_args(Quirks)))}, got {quirks!r}")


def settled(layout: Layout) -> Layout:
    """Returns the layout without quirks.

    A thing in two receptacles stays in the one that holds less, the more special place: in the coffee machine rather
    than on the counter below it. Ties go to the first id.
    """
    inside = _one_receptacle_each(layout.facts)
    places, moved = _one_place_each(layout.facts)
    new_place = dict(places)
    home = {thing: new_place[receptacle] for thing, receptacle in inside if receptacle in new_place}
    lying = [(thing, home.get(thing, place)) for thing, place in layout.facts.get("objectAtLocation", [])]
    facts: Facts = {
        **layout.facts,
        "inReceptacle": [*inside],
        "receptacleAtLocation": [*places],
        "objectAtLocation": [*dict.fromkeys(lying)],
    }
    return layout._replace(facts=facts, locations=(*layout.locations, *moved))


def _one_receptacle_each(facts: Facts) -> list[tuple[str, str]]:
    rows = [(row[0], row[1]) for row in facts.get("inReceptacle", [])]
    load: dict[str, int] = {}
    for _, receptacle in rows:
        load[receptacle] = load.get(receptacle, 0) + 1
    kept: dict[str, str] = {}
    for thing, receptacle in sorted(rows, key=lambda row: (load[row[1]], row[1])):
        kept.setdefault(thing, receptacle)
    return [row for row in rows if kept[row[0]] == row[1]]


def _one_place_each(facts: Facts) -> tuple[list[tuple[str, str]], list[str]]:
    """Returns the receptacles with their places, and the places that had to be added."""
    taken = {row[1] for row in facts.get("atLocation", [])}
    places, added = [], []
    for receptacle, old in sorted((row[0], row[1]) for row in facts.get("receptacleAtLocation", [])):
        place, number = old, 2
        while place in taken:
            place, number = f"{old}_bar_{number}", number + 1
        if place != old:
            added.append(place)
        taken.add(place)
        places.append((receptacle, place))
    return places, added
