"""An opponent with a favourite: it plays one action with a given probability, and each other legal one equally often.

In Rock-Paper-Scissors the best response to a share of 0.8 throws what beats the favourite and expects 0.7 a throw.
"""

from __future__ import annotations

import numpy as np

from mage_envs.games import GameSpec, View
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, check_range
from mage_envs.opponents.constant import Constant


class Leaning(Constant):
    """Plays its favourite with probability ``share`` where it is legal, and the other legal actions equally often."""

    summary = "plays one action with a given probability, and the other legal ones equally often"

    def __init__(self, game: GameSpec, action: str | int, share: float = 0.8) -> None:
        """Takes the favourite.

        Args:
            game: Any game.
            action: Its name (``"rock"``), or its OpenSpiel id as a number.
            share: Probability of the favourite, in 0..1.

        Raises:
            SpecError: The game has no such action, or the share is out of range.
        """
        super().__init__(game, action)
        check_range("share", share, 0.0, 1.0, float)
        self._share = share

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Plays the favourite with its share if it is legal, and at random if it is not."""
        favourite = view.spellings.get(self._name) if self._name else self._action
        if favourite not in view.legal or len(view.legal) == 1:
            return view.uniform, memory
        rest = (1.0 - self._share) / (len(view.legal) - 1)
        return tuple(self._share if action == favourite else rest for action in view.legal), memory


OPPONENTS.register("leaning", Leaning)
