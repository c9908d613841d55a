"""Why nothing happened, in a sentence. Nothing is told that the player cannot see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from mage_envs.worlds.alfworld.commands import read
from mage_envs.worlds.alfworld.naming import NAME

if TYPE_CHECKING:
    from mage_envs.worlds.alfworld.state import State

_NO_COMMAND = "This is no command, or it names something that is not here."


def reason(state: State, command: str) -> str:
    """Returns why a command is impossible in a state.

    Args:
        state: Where it was given.
        command: A command that is not admissible there.
    """
    state = _as_if_all_existed(state, command)
    act = read(state.game, command)
    if act is None:
        return _NO_COMMAND
    why = _REASONS.get(act.rule)
    return _NO_COMMAND if why is None else why(state, *act.named)


def _as_if_all_existed(state: State, command: str) -> State:
    """Returns the state with every thing that the command names: one that is nowhere, if the house does not have it.

    So a reason never tells whether a thing that the player has not seen exists.
    """
    game = state.game
    unknown = [name for name in dict.fromkeys(NAME.findall(command)) if name not in (game.thing | game.receptacle)]
    if not unknown:
        return state
    things = (*game.things, *unknown)
    supposed = state.copy()
    supposed.game = replace(game, things=things, thing={name: index for index, name in enumerate(things)})
    return supposed


def _go(state: State, receptacle: int) -> str:
    return f"You are already at the {state.game.receptacles[receptacle]}."


def _not_at(state: State, receptacle: int) -> str:
    """Returns that a receptacle is elsewhere; empty if it is here."""
    game = state.game
    return "" if game.place_of[receptacle] == state.here else f"You are not at the {game.receptacles[receptacle]}."


def _barred(state: State, receptacle: int) -> str:
    """Returns why nothing can be taken from or put into a receptacle; empty if it can."""
    game = state.game
    closed = game.openable & ~state.opened
    shut = f"The {game.receptacles[receptacle]} is closed." if closed >> receptacle & 1 else ""
    return _not_at(state, receptacle) or shut


def _unheld(state: State, thing: int) -> str:
    return "" if state.held == thing else f"You are not carrying a {state.game.things[thing]}."


def _examine_thing(state: State, thing: int) -> str:
    return _unheld(state, thing)


def _open(state: State, receptacle: int) -> str:
    game = state.game
    name = game.receptacles[receptacle]
    is_open = f"The {name} is already open." if game.openable >> receptacle & 1 else f"The {name} does not open."
    return _not_at(state, receptacle) or is_open


def _close(state: State, receptacle: int) -> str:
    game = state.game
    name = game.receptacles[receptacle]
    shut = f"The {name} is already closed." if game.openable >> receptacle & 1 else f"The {name} does not close."
    return _not_at(state, receptacle) or shut


def _take(state: State, thing: int, receptacle: int) -> str:
    game = state.game
    name, where = game.things[thing], game.receptacles[receptacle]
    absent = "" if state.inside[receptacle] >> thing & 1 else f"There is no {name} in or on the {where}."
    full = f"You are carrying a {game.things[state.held]} already." if state.held >= 0 else ""
    return _barred(state, receptacle) or full or absent or f"The {name} cannot be taken."


def _put(state: State, thing: int, receptacle: int) -> str:
    game = state.game
    unfit = f"The {game.things[thing]} does not fit into or onto the {game.receptacles[receptacle]}."
    return _unheld(state, thing) or _barred(state, receptacle) or unfit


def _treat(verb: str, able: str) -> Callable[..., str]:
    def why(state: State, thing: int, receptacle: int) -> str:
        game = state.game
        name, where = game.things[thing], game.receptacles[receptacle]
        unable = "" if getattr(game, able) >> thing & 1 else f"The {name} cannot be {able.removesuffix('able')}ed."
        elsewhere = _unheld(state, thing) or _not_at(state, receptacle)
        return elsewhere or unable or f"You cannot {verb} anything with the {where}."

    return why


def _use(state: State, thing: int) -> str:
    return f"There is no {state.game.things[thing]} here that can be used."


def _slice(state: State, thing: int, knife: int) -> str:
    name = state.game.things[thing]
    blunt = "" if state.game.knives >> knife & 1 else f"The {state.game.things[knife]} is no knife."
    return _unheld(state, knife) or blunt or f"There is no {name} here that can be sliced."


_REASONS: dict[str, Callable[..., str]] = {
    "go": _go,
    "examine receptacle": _not_at,
    "examine thing": _examine_thing,
    "open": _open,
    "close": _close,
    "take": _take,
    "put": _put,
    "clean": _treat("clean", "cleanable"),
    "heat": _treat("heat", "heatable"),
    "cool": _treat("cool", "coolable"),
    "use": _use,
    "slice": _slice,
}
