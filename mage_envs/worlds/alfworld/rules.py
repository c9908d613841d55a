"""The rules: for each verb, whether a command can be carried out, what it changes, and what the player is told.

A rule takes a state and the indices that a command names. It returns None, and changes nothing, where the command is
impossible.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from mage_envs.worlds.alfworld.words import HELP, around, listed, looks, view

if TYPE_CHECKING:
    from mage_envs.worlds.alfworld.state import State

Rule: TypeAlias = "Callable[..., str | None]"


def reachable(state: State, receptacle: int) -> bool:
    """Whether a receptacle is here and, if it opens, open."""
    game = state.game
    closed = game.openable & ~state.opened
    return game.place_of[receptacle] == state.here and not closed >> receptacle & 1


def _look(state: State) -> str | None:
    return around(state.game, state)


def _inventory(state: State) -> str | None:
    if state.held < 0:
        return "You are not carrying anything."
    return f"You are carrying: {listed([state.game.things[state.held]])}."


def _help(_: State) -> str | None:
    return HELP


def _go(state: State, receptacle: int) -> str | None:
    game = state.game
    place = game.place_of[receptacle]
    if place == state.here:
        return None
    state.here = place
    name = game.receptacles[receptacle] if game.dialect == "0.4" else game.places[place]
    return f"You arrive at {name}. {view(game, state, receptacle)}"


def _examine_receptacle(state: State, receptacle: int) -> str | None:
    if state.game.place_of[receptacle] != state.here:
        return None
    return view(state.game, state, receptacle)


def _examine_thing(state: State, thing: int) -> str | None:
    return looks(state.game, state, thing) if thing == state.held else None


def _open(state: State, receptacle: int) -> str | None:
    game, bit = state.game, 1 << receptacle
    if game.place_of[receptacle] != state.here or not game.openable & ~state.opened & bit:
        return None
    state.opened |= bit
    return f"You open the {game.receptacles[receptacle]}. {view(game, state, receptacle)}"


def _close(state: State, receptacle: int) -> str | None:
    game, bit = state.game, 1 << receptacle
    if game.place_of[receptacle] != state.here or not game.openable & state.opened & bit:
        return None
    state.opened ^= bit
    return f"You close the {game.receptacles[receptacle]}."


def _take(state: State, thing: int, receptacle: int) -> str | None:
    game, bit = state.game, 1 << thing
    there = state.inside[receptacle] & game.portable & bit
    if state.held >= 0 or not there or not reachable(state, receptacle):
        return None
    state.held = thing
    state.inside = _with(state.inside, receptacle, state.inside[receptacle] & ~bit)
    state.taken = _with(state.taken, receptacle, state.taken[receptacle] | bit)
    state.lying = _with(state.lying, state.here, state.lying[state.here] & ~bit)
    return f"You pick up the {game.things[thing]} from the {game.receptacles[receptacle]}."


def _put(state: State, thing: int, receptacle: int) -> str | None:
    game, bit = state.game, 1 << thing
    if state.held != thing or not game.fits[receptacle] & bit or not reachable(state, receptacle):
        return None
    state.held = -1
    state.inside = _with(state.inside, receptacle, state.inside[receptacle] | bit)
    state.taken = _with(state.taken, receptacle, state.taken[receptacle] & ~bit)
    state.lying = _with(state.lying, state.here, state.lying[state.here] | bit)
    if game.dialect == "0.4":
        return f"You move the {game.things[thing]} to the {game.receptacles[receptacle]}."
    return f"You put the {game.things[thing]} in/on the {game.receptacles[receptacle]}."


def _treated(state: State, thing: int, receptacle: int, able: int, appliances: int) -> bool:
    """Whether the held thing can be treated with an appliance here; it need not be open."""
    game = state.game
    here = game.place_of[receptacle] == state.here
    return here and state.held == thing and bool(able >> thing & 1) and bool(appliances >> receptacle & 1)


def _clean(state: State, thing: int, receptacle: int) -> str | None:
    game = state.game
    if not _treated(state, thing, receptacle, game.cleanable, game.basins):
        return None
    state.clean |= 1 << thing
    return f"You clean the {game.things[thing]} using the {game.receptacles[receptacle]}."


def _heat(state: State, thing: int, receptacle: int) -> str | None:
    game, bit = state.game, 1 << thing
    if not _treated(state, thing, receptacle, game.heatable, game.microwaves):
        return None
    state.hot, state.cool = state.hot | bit, state.cool & ~bit
    return f"You heat the {game.things[thing]} using the {game.receptacles[receptacle]}."


def _cool(state: State, thing: int, receptacle: int) -> str | None:
    game, bit = state.game, 1 << thing
    if not _treated(state, thing, receptacle, game.coolable, game.fridges):
        return None
    state.cool, state.hot = state.cool | bit, state.hot & ~bit
    return f"You cool the {game.things[thing]} using the {game.receptacles[receptacle]}."


def _use(state: State, thing: int) -> str | None:
    game, bit = state.game, 1 << thing
    if not game.toggleable & bit or not any(state.inside[receptacle] & bit for receptacle in game.at[state.here]):
        return None
    state.toggled |= bit
    return f"You turn on the {game.things[thing]}."


def _slice(state: State, thing: int, knife: int) -> str | None:
    game, bit = state.game, 1 << thing
    if state.held != knife or not game.knives >> knife & 1 or not state.lying[state.here] & game.sliceable & bit:
        return None
    state.sliced |= bit
    return f"You sliced the {game.things[thing]} with the {game.things[knife]}."


def _with(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    """Returns the values with one of them changed."""
    return (*values[:index], value, *values[index + 1 :])


RULES: dict[str, Rule] = {
    "look": _look,
    "inventory": _inventory,
    "help": _help,
    "go": _go,
    "examine receptacle": _examine_receptacle,
    "examine thing": _examine_thing,
    "open": _open,
    "close": _close,
    "take": _take,
    "put": _put,
    "clean": _clean,
    "heat": _heat,
    "cool": _cool,
    "use": _use,
    "slice": _slice,
}
"""From what a command does to its rule."""
