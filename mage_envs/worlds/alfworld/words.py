"""What a game says: lists, views of receptacles, the intro, how a thing looks. Word for word as ALFWorld's grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mage_envs.worlds.alfworld.game import Game
    from mage_envs.worlds.alfworld.state import State

NOTHING_HAPPENS = "Nothing happens."

WELCOME = "-= Welcome to TextWorld, ALFRED! =-"
IN_THE_MIDDLE = "You are in the middle of a room. Looking quickly around you, you see"

_HELP = (
    ("look", "look around your current location", 34),
    ("inventory", "check your current inventory", 34),
    ("go to (receptacle)", "move to a receptacle", 34),
    ("open (receptacle)", "open a receptacle", 34),
    ("close (receptacle)", "close a receptacle", 34),
    ("take (object) from (receptacle)", "take an object from a receptacle", 34),
    ("move (object) to (receptacle)", "place an object in or on a receptacle", 32),
    ("examine (something)", "examine a receptacle or an object", 34),
    ("use (object)", "use an object", 34),
    ("heat (object) with (receptacle)", "heat an object using a receptacle", 34),
    ("clean (object) with (receptacle)", "clean an object using a receptacle", 34),
    ("cool (object) with (receptacle)", "cool an object using a receptacle", 34),
    ("slice (object) with (object)", "slice an object using a sharp object", 34),
)
"""A command, what it does, and the column at which that begins."""


def _help_text() -> str:
    lines = [f"  {f'{command}:'.ljust(column)}{use}" for command, use, column in _HELP]
    return "\n".join(["Available commands:", *lines, ""])


HELP = _help_text()


def listed(names: Sequence[str]) -> str:
    """Returns a list in words.

    >>> listed(["egg 2", "tomato 1"]), listed([])
    ('a egg 2, and a tomato 1', 'nothing')
    """
    if not names:
        return "nothing"
    told = "a " + ", a ".join(names[:-1]) + f", and a {names[-1]}" if len(names) > 1 else f"a {names[0]}"
    return told


def members(things: int) -> list[int]:
    """Returns the numbers in a set, ascending.

    >>> members(0b1010)
    [1, 3]
    """
    found = []
    while things:
        lowest = things & -things
        found.append(lowest.bit_length() - 1)
        things ^= lowest
    return found


def names_of(game: Game, things: int) -> list[str]:
    """Returns the names of a set of things."""
    names = game.things
    return [names[thing] for thing in members(things)]


def intro(game: Game, state: State) -> str:
    """Returns the text at the start: where the player is, and the task."""
    here = game.at[state.here]
    view = around(game, state) if here else f"{IN_THE_MIDDLE} {listed(game.receptacles)}."
    return f"{WELCOME}\n\n{view}\n\nYour task is to: {game.task}"


def around(game: Game, state: State) -> str:
    """Returns what ``look`` says."""
    here = game.at[state.here]
    if not here:
        return f"{IN_THE_MIDDLE} nothing."
    facing = ", ".join(game.receptacles[receptacle] for receptacle in here[:-1])
    last = game.receptacles[here[-1]]
    beside = [
        game.things[thing]
        for thing in members(state.lying[state.here])
        for receptacle in here  # What was taken from two of them is told twice.
        if state.taken[receptacle] >> thing & 1
    ]
    return f"You are facing the {f'{facing}, and {last}' if facing else last}. Next to it, you see {listed(beside)}."


def view(game: Game, state: State, receptacle: int) -> str:
    """Returns what is seen in or on a receptacle."""
    name = game.receptacles[receptacle]
    if game.openable >> receptacle & 1:
        if not state.opened >> receptacle & 1:
            return f"The {name} is closed."
        return f"The {name} is open. In it, you see {listed(names_of(game, state.inside[receptacle]))}."
    return f"On the {name}, you see {listed(names_of(game, state.inside[receptacle]))}."


def looks(game: Game, state: State, thing: int) -> str:
    """Returns how a thing looks."""
    name = game.things[thing]
    if thing in game.content:
        return f"This is a normal {name}. In it, you see {listed(names_of(game, game.content[thing]))}."
    bit = 1 << thing
    clean, sliced = state.clean & bit, state.sliced & bit
    warmth = "hot" if state.hot & bit else "cool" if state.cool & bit else ""
    if warmth == "cool" and not clean and not sliced:
        warmth = "cold"
    state_words = " and ".join(word for word in (warmth, "clean" if clean else "") if word)
    if sliced and (state_words or game.sliceable & bit):
        state_words = f"{state_words} sliced".strip()
    if state_words:
        return f"This is a {state_words} {name}."
    if state.toggled & game.toggleable & bit:
        return f"This {name} is on."
    return f"There's nothing special about {name}."
