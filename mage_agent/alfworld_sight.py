"""What a player of ALFWorld learns from the text: what is asked for, and what lies where."""

from __future__ import annotations

import re
from typing import NamedTuple

from mage_agent.base import Briefing
from mage_envs.errors import UnsupportedGameError

APPLIANCE = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
"""What is done to a thing, and the type of receptacle that does it."""

_TREATMENT = {"clean": "clean", "hot": "heat", "heat": "heat", "cool": "cool"}
_TASKS = (
    re.compile(r"(?:look at|examine the) (?P<thing>\w+) (?:under|with) the (?P<lamp>\w+)\."),
    re.compile(r"(?:put|find) (?P<two>two) (?P<thing>\w+) (?:and put them )?(?:in|on) (?P<where>\w+)\."),
    re.compile(r"(?P<treatment>clean|heat|cool) some (?P<thing>\w+) and put it (?:in|on) (?P<where>\w+)\."),
    re.compile(r"put an? (?P<treatment>clean|hot|cool) (?P<thing>\w+) (?:in|on) (?P<where>\w+)\."),
    re.compile(r"put (?:an?|some) (?P<thing>\w+) (?:in|on) (?P<where>\w+)\."),
)
_SEEN = re.compile(r"(?:On the (?P<on>\w+ \d+)|The (?P<opened>\w+ \d+) is open\. In it), you see (?P<things>.*)\.")
_CLOSED = re.compile(r"The (?P<closed>\w+ \d+) is closed\.")
_NAME = re.compile(r"\w+ \d+")


class Wanted(NamedTuple):
    """What a task asks for; types are words without numbers.

    Attributes:
        thing: The type of thing.
        where: The type of receptacle that it goes to; empty if it is to be looked at.
        lamp: The type of lamp to use; empty if none.
        treatment: ``"clean"``, ``"heat"``, ``"cool"``, or empty.
        number: How many things.
    """

    thing: str
    where: str = ""
    lamp: str = ""
    treatment: str = ""
    number: int = 1


class Sight(NamedTuple):
    """What a feedback shows of a receptacle.

    Attributes:
        receptacle: Its name.
        things: Names of what is in or on it; None if it is closed.
    """

    receptacle: str
    things: tuple[str, ...] | None


def check_alfworld(briefing: Briefing, name: str) -> None:
    """Checks that ALFWorld is played.

    Raises:
        UnsupportedGameError: Another world, or a game, is played.
    """
    if briefing.world.title != "ALFWorld":
        raise UnsupportedGameError(f"{name} plays ALFWorld, not {briefing.world.title}")


def wanted_by(task: str) -> Wanted | None:
    """Reads a task; None if it is in other words than ALFWorld's own.

    >>> wanted_by("heat some egg and put it in fridge.")
    Wanted(thing='egg', where='fridge', lamp='', treatment='heat', number=1)
    """
    for pattern in _TASKS:
        found = pattern.fullmatch(task)
        if found:
            parts = found.groupdict(default="")
            treatment = _TREATMENT.get(parts.get("treatment", ""), "")
            number = 2 if parts.get("two") else 1
            return Wanted(parts["thing"], parts.get("where", ""), parts.get("lamp", ""), treatment, number)
    return None


def seen_in(feedback: str) -> Sight | None:
    """Reads what a feedback shows of a receptacle; None if it shows none.

    >>> seen_in("You arrive at desk 1. On the desk 1, you see a pen 2, and a cd 1.")
    Sight(receptacle='desk 1', things=('pen 2', 'cd 1'))
    """
    seen = _SEEN.search(feedback)
    if seen:
        return Sight(seen["on"] or seen["opened"], tuple(_NAME.findall(seen["things"])))
    closed = _CLOSED.search(feedback)
    return Sight(closed["closed"], None) if closed else None


def type_of(name: str) -> str:
    """Returns the type in a name: ``"pen 2"`` is a pen."""
    return name.rpartition(" ")[0]
