"""What a view shows of the other seat's actions, for opponents that learn from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import pyspiel

from mage_envs.games import GameSpec, View, position_graph
from mage_envs.games.kuhn_poker import MOVES
from mage_envs.games.positions import SIMULTANEOUS
from mage_envs.games.rock_paper_scissors import THROWS

Reader: TypeAlias = Callable[[Any, int], Iterable[int]]

_READERS: dict[str, Reader] = {
    "KuhnPoker": lambda facts, seat: [MOVES.index(move) for move in facts["moves"][1 - seat :: 2]],
    "LeducPoker": lambda facts, seat: [a for moves in facts["rounds"] for player, a in moves if player != seat],
    "RockPaperScissors": lambda facts, seat: [THROWS.index(other) for _, other in facts["pairs"]],
}


def shows_actions(game: GameSpec) -> bool:
    """Whether views of this game show what the other seat did: poker and Rock-Paper-Scissors, and one-shot games."""
    return game.title in _READERS or is_one_shot(game)


def is_one_shot(game: GameSpec) -> bool:
    """Whether two seats move once, at the same time: a matrix game."""
    one_shot = game.game.get_type().information == pyspiel.GameType.Information.ONE_SHOT
    return bool(one_shot and game.seats == 2 and position_graph(game).root.player == SIMULTANEOUS)


def other_actions(view: View) -> tuple[int, ...]:
    """Returns the ids of the other seat's actions in this episode that the view shows, oldest first."""
    reader = _READERS.get(view.spec.title)
    if reader is not None:
        return tuple(reader(view.facts, view.seat))
    played = view.facts.get("played", ())
    return tuple(action for seat, (action, _) in enumerate(played) if seat != view.seat)


def is_rock_paper_scissors(game: GameSpec) -> bool:
    """Whether a game is Rock-Paper-Scissors with readable throws: ``rock_paper_scissors`` or ``matrix_rps``."""
    return game.title == "RockPaperScissors" or game.openspiel == "matrix_rps"


def throws_seen(view: View) -> tuple[tuple[int, int], ...]:
    """Returns the throws of this episode that the view shows, oldest first: own id, other's id."""
    if view.spec.title == "RockPaperScissors":
        return tuple((THROWS.index(own), THROWS.index(other)) for own, other in view.facts["pairs"])
    played = [action for action, _ in view.facts.get("played", ())]
    return ((played[view.seat], played[1 - view.seat]),) if played else ()
