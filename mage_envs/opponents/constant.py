"""An opponent that always plays the same action. Always throwing rock loses every throw to paper."""

from __future__ import annotations

import numpy as np

from mage_envs.errors import SpecError, near_matches
from mage_envs.games import GameSpec, View, fold, position_graph
from mage_envs.games.positions import SIMULTANEOUS
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, check_range, one_hot


class Constant(Opponent):
    """Plays one action wherever it is legal, and every legal action with equal probability elsewhere."""

    summary = "plays one action wherever it is legal, any other legal one at random elsewhere"

    def __init__(self, game: GameSpec, action: str | int) -> None:
        """Takes the action.

        Args:
            game: Any game.
            action: Its name (``"rock"``), or its OpenSpiel id as a number.

        Raises:
            SpecError: The game has no such action; near matches are listed.
        """
        super().__init__(game)
        self._name = ""
        if isinstance(action, str):
            self._name = _check_name(game, action)
        else:
            check_range("action", action, 0, game.actions - 1)
            self._action = action

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Plays the action if it is legal."""
        action = view.spellings.get(self._name) if self._name else self._action
        return (one_hot(view, action) if action in view.legal else view.uniform), memory


def _check_name(game: GameSpec, name: str) -> str:
    """Returns a folded action name, checked against the game's words, or those of its first decision if it has none."""
    known = {fold(word) for word in game.vocabulary}
    root = position_graph(game).root
    for seat in range(game.seats) if root.player == SIMULTANEOUS else ():
        known |= set(root.view(seat).spellings)
    if fold(name) not in known:
        raise SpecError(f"action must be a name in {game.name!r} or an OpenSpiel id in 0..{game.actions - 1}, "
                        f"got {name!r}. {near_matches(name, known)}")  # fmt: skip
    return fold(name)


OPPONENTS.register("constant", Constant)
