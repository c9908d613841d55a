"""Commands: how each is written in a dialect, and which of them are possible in a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mage_envs.worlds.alfworld.words import members

if TYPE_CHECKING:
    from mage_envs.worlds.alfworld.game import Dialect, Game
    from mage_envs.worlds.alfworld.state import State


class Act(NamedTuple):
    """A command, read.

    Attributes:
        rule: Its rule in :data:`~mage_envs.worlds.alfworld.rules.RULES`.
        named: Indices of the things and receptacles that it names, in order.
    """

    rule: str
    named: tuple[int, ...] = ()


PUT = {"0.3": ("put", " in/on "), "0.4": ("move", " to ")}
"""How each dialect says that the held thing goes somewhere: the verb, and what stands between thing and receptacle."""

_BARE: dict[str, Act] = {"look": Act("look"), "inventory": Act("inventory")}
_PAIRS = {
    "take": ("take", " from "),
    "clean": ("clean", " with "),
    "heat": ("heat", " with "),
    "cool": ("cool", " with "),
}
_NAMED = {
    "go": ("receptacle",),
    "examine receptacle": ("receptacle",),
    "examine thing": ("thing",),
    "open": ("receptacle",),
    "close": ("receptacle",),
    "use": ("thing",),
    "slice": ("thing", "thing"),
    **dict.fromkeys(("take", "put", "clean", "heat", "cool"), ("thing", "receptacle")),
}
"""Rules of commands that name something: things and receptacles, in order."""

_SINGLE = {"open": "open", "close": "close"}


def _pairs(dialect: Dialect) -> dict[str, tuple[str, str]]:
    verb, between = PUT[dialect]
    return {**_PAIRS, verb: ("put", between)}


_BY_DIALECT = {"0.3": (_BARE, _pairs("0.3")), "0.4": ({**_BARE, "help": Act("help")}, _pairs("0.4"))}


def read(game: Game, command: str) -> Act | None:
    """Reads a command as the game's dialect writes it, to the letter but for spaces around it; None if it is none."""
    command = command.strip()
    bare, pairs = _BY_DIALECT[game.dialect]
    verb, _, rest = command.partition(" ")
    if not rest:
        return bare.get(command)
    if verb in pairs:
        rule, between = pairs[verb]
        one, _, other = rest.partition(between)
        return _act(rule, game.thing.get(one), game.receptacle.get(other))
    return _read_single(game, verb, rest)


def _read_single(game: Game, verb: str, rest: str) -> Act | None:
    if verb == "go":
        return _act("go", game.receptacle.get(rest[3:])) if rest.startswith("to ") else None
    if verb == "examine":
        receptacle = game.receptacle.get(rest)
        if receptacle is not None:
            return Act("examine receptacle", (receptacle,))
        return _act("examine thing", game.thing.get(rest))
    if verb in _SINGLE:
        return _act(verb, game.receptacle.get(rest))
    if verb == "use":
        return _act("use", game.thing.get(rest))
    if verb == "slice":
        one, _, other = rest.partition(" with ")
        return _act("slice", game.thing.get(one), game.thing.get(other))
    return None


def _act(rule: str, *named: int | None) -> Act | None:
    known = tuple(index for index in named if index is not None)
    return Act(rule, known) if len(known) == len(named) else None


def write(game: Game, rule: str, *named: int) -> str:
    """Returns a command as the game's dialect writes it; :func:`read` gives it back.

    Args:
        game: The game.
        rule: What it does: ``"put"``.
        named: Indices of the things and receptacles that it names, in order.
    """
    names = [
        (game.things if kind == "thing" else game.receptacles)[index]
        for kind, index in zip(_NAMED.get(rule, ()), named, strict=True)
    ]
    if len(names) == 2:
        verb, between = PUT[game.dialect] if rule == "put" else (rule, " with ")
        return f"{verb} {names[0]}{' from ' if rule == 'take' else between}{names[1]}"
    verb = {"go": "go to"}.get(rule, rule.split()[0])
    return f"{verb} {names[0]}" if names else verb


def possible(state: State) -> list[str]:
    """Returns the commands that are possible, sorted: what ALFWorld calls the admissible commands."""
    game = state.game
    things, receptacles = game.things, game.receptacles
    found = ["inventory", "look"] if game.dialect == "0.3" else ["help", "inventory", "look"]
    found += game.away[state.here]
    portable = game.portable if state.held < 0 else 0
    for receptacle in game.at[state.here]:
        name = receptacles[receptacle]
        found.append(f"examine {name}")
        if game.openable >> receptacle & 1:
            if not state.opened >> receptacle & 1:
                found.append(f"open {name}")
                continue
            found.append(f"close {name}")
        if portable:
            found += [f"take {things[thing]} from {name}" for thing in members(state.inside[receptacle] & portable)]
    if state.held >= 0:
        _with_held(state, found)
    for receptacle in game.at[state.here]:
        if state.inside[receptacle] & game.toggleable:
            found += [f"use {things[thing]}" for thing in members(state.inside[receptacle] & game.toggleable)]
    found = list(dict.fromkeys(found))
    found.sort()
    return found


def _with_held(state: State, found: list[str]) -> None:
    """Adds what can be done with the thing that is held."""
    game, held = state.game, state.held
    bit, name = 1 << held, game.things[held]
    if name not in game.receptacle:
        found.append(f"examine {name}")
    verb, between = PUT[game.dialect]
    closed = game.openable & ~state.opened
    for receptacle in game.at[state.here]:
        where = game.receptacles[receptacle]
        if game.fits[receptacle] & bit and not closed >> receptacle & 1:
            found.append(f"{verb} {name}{between}{where}")
        for treat, able, appliances in (
            ("clean", game.cleanable, game.basins),
            ("heat", game.heatable, game.microwaves),
            ("cool", game.coolable, game.fridges),
        ):
            if able & bit and appliances >> receptacle & 1:
                found.append(f"{treat} {name} with {where}")
    if game.knives & bit:
        found += [
            f"slice {game.things[thing]} with {name}" for thing in members(state.lying[state.here] & game.sliceable)
        ]
