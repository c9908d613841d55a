"""From ids of a file to the names that a player reads: ``Apple_bar__minus_00_dot_36…`` is ``apple 2``.

A name is the type in lower case and a number. Ids of one type are sorted and numbered from the highest number down.
Things, receptacles and places are numbered together; letter case does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_BETWEEN = "_bar_"
_BASIN = "basin"

NAME = re.compile(r"[a-z]+ [0-9]+")
"""What a name looks like, whether or not the house has it."""


def type_of(identity: str) -> str:
    """Returns the type in an id; basins are told from the sinks and tubs that they are part of.

    >>> type_of("Sink_bar__minus_01_dot_90_bar_SinkBasin"), type_of("Bowl_bar__plus_00_dot_27")
    ('sinkbasin', 'bowl')
    """
    lowered = identity.lower()
    return lowered.partition(_BETWEEN)[0] + (_BASIN if _BASIN in lowered else "")


def is_thing(identity: str) -> bool:
    """Whether an id is of something in the house; the others are bare names of types."""
    return _BETWEEN in identity


def named(identities: Iterable[str]) -> dict[str, str]:
    """Returns the name of each id; ids in the order in which the text lists them.

    >>> named(["Pen_bar__plus_1", "Pen_bar__minus_1"])
    {'Pen_bar__minus_1': 'pen 2', 'Pen_bar__plus_1': 'pen 1'}
    """
    typed = [(identity, type_of(identity)) for identity in sorted(identities, key=str.lower)]
    left: dict[str, int] = {}
    for _, kind in typed:
        left[kind] = left.get(kind, 0) + 1
    found = {}
    for identity, kind in typed:
        found[identity] = f"{kind} {left[kind]}"
        left[kind] -= 1
    return found
