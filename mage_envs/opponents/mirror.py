"""Tit for tat: play what the other seat played last (Axelrod 1984), within an episode and from one to the next."""

from __future__ import annotations

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, View
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, one_hot
from mage_envs.opponents.observed import other_actions, shows_actions


class Mirror(Opponent):
    """Plays the action that the other seat was last seen to play; at random when there is none, or it is not legal."""

    summary = "plays what the other seat was last seen to play; at random where that is not legal, and at first"
    plays = "Kuhn and Leduc poker, Rock-Paper-Scissors, matrix games"
    tabular = False

    def __init__(self, game: GameSpec) -> None:
        """Refuses games whose views do not show what the other seat did.

        Raises:
            UnsupportedGameError: The game is none of Kuhn poker, Leduc poker, Rock-Paper-Scissors and matrix games.
        """
        super().__init__(game)
        if not shows_actions(game):
            raise UnsupportedGameError("mirror plays kuhn_poker, leduc_poker, rock_paper_scissors and matrix games of "
                                       f"two seats, not {game.name!r}; random plays any game")  # fmt: skip

    def policy(self, view: View, memory: int | None, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Plays the last action seen."""
        last = _last(view, memory)
        return (one_hot(view, last) if last in view.legal else view.uniform), memory

    def end_episode(self, view: View, memory: int | None) -> int | None:
        """Remembers the last action seen."""
        return _last(view, memory)


def _last(view: View, memory: int | None) -> int | None:
    seen = other_actions(view)
    return seen[-1] if seen else memory


OPPONENTS.register("mirror", Mirror)
