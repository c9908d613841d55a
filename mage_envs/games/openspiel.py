"""Any other OpenSpiel game by its game string, with OpenSpiel's own words for views and actions.

A view shows OpenSpiel's information-state string. Games that have none show their observation string: what the seat
sees now, not what it remembers. In such a game with hidden information ``View.key`` adds the moves on offer, since
these can differ where the observation does not (``gin_rummy``). A repeated game remembers all its rounds unless
``recall`` says otherwise. At the end of a one-shot game each seat learns what the others played.

Nothing is merged: OpenSpiel does not promise that the future depends on the printed board alone (chess: it does not).
Games written in Python (``python_*``) are loaded when asked for.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from typing import Any

import pyspiel

from mage_envs.errors import UnsupportedGameError, near_matches
from mage_envs.games.base import NOTHING, Facts, GameSpec
from mage_envs.games.positions import SIMULTANEOUS, fold

_REMEMBER = 2_000  # A position with its views can take 150 kB (gin_rummy, hive), and deep ones never come back.
_SAMPLED = pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
_ONE_SHOT = pyspiel.GameType.Information.ONE_SHOT
_MEAN_FIELD = pyspiel.GameType.Dynamics.MEAN_FIELD


def generic_spec(game: str, known: tuple[str, ...] = ()) -> GameSpec:
    """Builds the spec of an OpenSpiel game.

    Args:
        game: OpenSpiel game string, for instance ``"liars_dice(numdice=1)"``.
        known: Names that also work, for the error message.

    Returns:
        A spec whose facts are OpenSpiel's information-state string (the observation string where there is no other).

    Raises:
        UnsupportedGameError: There is no such game or parameter, or the game has fewer than two seats, is a
            mean-field game, draws its own hidden random numbers, or describes its states to players in no way.
    """
    game = re.sub(r"[ \t]*([(),=])[ \t]*", r"\1", game.strip())
    loaded = _load(game, known)
    _refuse_unplayable(game, loaded)
    kind, seats, actions = loaded.get_type(), loaded.num_players(), loaded.num_distinct_actions()
    one_shot = kind.information == _ONE_SHOT
    return GameSpec(
        name=game,
        title="OpenSpiel",
        openspiel=_remembering(game, loaded),
        rules=f"{kind.long_name} for {seats} players, by the rules of OpenSpiel's game {game!r}.\n"
        "A position is shown as OpenSpiel prints it for your seat. Answer with one of the legal actions.",
        facts=_facts if kind.provides_information_state_string else _observed_facts,
        revealed=lambda state, seat: _played(state) if one_shot else NOTHING,
        describe=_describe,
        words=lambda facts, action: (facts["names"][action],),
        reveal_size=actions * (seats - 1) if one_shot else 0,
        reveal_array=lambda facts: _reveal_array(facts, actions),
        remember=_REMEMBER,
    )


def _facts(state: Any, seat: int) -> Facts:
    return {"seat": seat, "shown": state.information_state_string(seat), "names": _action_names(state, seat)}


def _observed_facts(state: Any, seat: int) -> Facts:
    return {"seat": seat, "shown": state.observation_string(seat), "names": _action_names(state, seat)}


def _played(state: Any) -> Facts:
    named = tuple((action, state.action_to_string(other, action)) for other, action in enumerate(state.history()))
    return {"played": named}


def _describe(facts: Facts) -> str:
    lines = [facts["shown"].rstrip() or "Nothing to be seen yet."]
    lines += [f"Seat {other} played {name}." for other, (_, name) in enumerate(facts.get("played", ()))]
    return "\n".join(lines)


def _reveal_array(facts: Facts, actions: int) -> tuple[float, ...]:
    """One-hot actions of the other seats, in order."""
    others = [action for other, (action, _) in enumerate(facts["played"]) if other != facts["seat"]]
    return tuple(float(action == index) for action in others for index in range(actions))


def _action_names(state: Any, seat: int) -> dict[int, str]:
    """Names the actions of a seat that must act; names that read alike get the action id behind."""
    if state.current_player() not in (seat, SIMULTANEOUS):
        return {}
    names = {int(a): " ".join(str(state.action_to_string(seat, a)).split()) for a in state.legal_actions(seat)}
    seen = Counter(fold(name) for name in names.values())
    return {a: name if name and seen[fold(name)] == 1 else f"{name} #{a}".strip() for a, name in names.items()}


def _load(game: str, known: tuple[str, ...]) -> Any:
    if "(" in game and not game.endswith(")"):
        raise UnsupportedGameError(f"bad game string {game!r}: it must end with the bracket that closes the first")
    try:
        _check_names(pyspiel.game_parameters_from_string(game), known)
        return pyspiel.load_game(game)
    except (pyspiel.SpielError, RuntimeError, IndexError) as error:  # An IndexError for nfg_game without a file.
        raise UnsupportedGameError(f"OpenSpiel cannot load {game!r}: {error}") from error


def _check_names(parameters: dict[str, Any], known: tuple[str, ...] = ()) -> None:
    """Refuses unknown names, with near matches; OpenSpiel would write the list of its games to stderr.

    Args:
        parameters: As OpenSpiel parses a game string; games inside games are dicts too.
        known: Names that MAGE knows besides.
    """
    name = parameters.get("name", "")
    kinds = _kinds()
    if name not in kinds:
        importlib.import_module("open_spiel.python.games")  # These register themselves.
        kinds = _kinds()
    if name not in kinds:
        raise UnsupportedGameError(f"unknown game {name!r}. {near_matches(name, {*kinds, *known})}")
    keys = kinds[name].parameter_specification
    for key, value in parameters.items():
        if key != "name" and key not in keys:
            raise UnsupportedGameError(f"game {name!r} has no parameter {key!r}. {near_matches(key, keys)}")
        if isinstance(value, dict):
            _check_names(value)


def _kinds() -> dict[str, Any]:
    return {kind.short_name: kind for kind in pyspiel.registered_games()}


def _refuse_unplayable(game: str, loaded: Any) -> None:
    kind = loaded.get_type()
    if kind.dynamics == _MEAN_FIELD:
        raise UnsupportedGameError(f"{game!r} is a mean-field game; MAGE plays sequential and simultaneous ones")
    if loaded.num_players() < 2:
        raise UnsupportedGameError(f"{game!r} has one seat; MAGE plays games with two or more")
    if kind.chance_mode == _SAMPLED:
        raise UnsupportedGameError(
            f"{game!r} draws its own random numbers inside OpenSpiel, so that a seed could not repeat it; "
            "choose a game with explicit chance"
        )
    if not (kind.provides_information_state_string or kind.provides_observation_string):
        raise UnsupportedGameError(f"OpenSpiel does not describe the states of {game!r} to its players")


def _remembering(game: str, loaded: Any) -> str:
    """Makes a repeated game's observation hold all rounds instead of the last, unless the caller chose."""
    given = pyspiel.game_parameters_from_string(game)
    if given.get("name") != "repeated_game" or "recall" in given:
        return game
    return f"{game[:-1]},recall={loaded.max_game_length()})"
