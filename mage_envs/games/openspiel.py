"""Any other OpenSpiel game by its game string, with OpenSpiel's own words for views and actions."""

from __future__ import annotations

from typing import Any

import pyspiel

from mage_envs.errors import UnsupportedGameError, near_matches
from mage_envs.games.base import Facts, GameSpec

_SAMPLED = pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC


def generic_spec(game: str, known: tuple[str, ...] = ()) -> GameSpec:
    """Builds the spec of an OpenSpiel game.

    Args:
        game: OpenSpiel game string, for instance ``"liars_dice(numdice=1)"``.
        known: Names that also work, for the error message.

    Returns:
        A spec whose facts are OpenSpiel's information-state string (the observation string where there is no other).

    Raises:
        UnsupportedGameError: There is no such game, it has fewer than two seats, is a mean-field game, draws its
            own hidden random numbers, or describes its states to players in no way.
    """
    loaded = _load(game, known)
    _refuse_unplayable(game, loaded)
    use_observation = not loaded.get_type().provides_information_state_string
    long_name = loaded.get_type().long_name

    def facts(state: Any, seat: int) -> Facts:
        shown = state.observation_string(seat) if use_observation else state.information_state_string(seat)
        names = {} if state.is_terminal() else _action_names(state, seat)
        return {"seat": seat, "shown": shown, "over": state.is_terminal(), "names": names}

    return GameSpec(
        name=game,
        title="OpenSpiel",
        openspiel=game,
        rules=f"{long_name} for {loaded.num_players()} players, by the rules of OpenSpiel's game {game!r}.\n"
        "A position is shown as OpenSpiel prints it for your seat. Answer with one of the legal actions.",
        facts=facts,
        describe=lambda facts: str(facts["shown"]).rstrip(),
        words=lambda facts, action: (facts["names"][action],),
        merge=False,
    )


def _load(game: str, known: tuple[str, ...]) -> Any:
    name = game.split("(")[0].strip()
    names = [kind.short_name for kind in pyspiel.registered_games()]
    if name not in names:
        raise UnsupportedGameError(f"unknown game {game!r}. {near_matches(name, {*names, *known})}")
    try:
        return pyspiel.load_game(game)
    except (pyspiel.SpielError, RuntimeError) as error:
        raise UnsupportedGameError(f"OpenSpiel cannot load {game!r}: {error}") from error


def _refuse_unplayable(game: str, loaded: Any) -> None:
    kind = loaded.get_type()
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
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


def _action_names(state: Any, seat: int) -> dict[int, str]:
    """Names the legal actions; names that read alike get the action id behind."""
    names = {int(a): " ".join(str(state.action_to_string(seat, a)).split()) for a in state.legal_actions(seat)}
    folded = [name.casefold() for name in names.values()]
    return {
        a: name if name and folded.count(name.casefold()) == 1 else f"{name} #{a}".strip() for a, name in names.items()
    }
