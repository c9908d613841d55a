"""The three Kuhn poker archetypes of the MAGE paper (arXiv 2603.03680): each is a set of cards to bet and one to call.

An archetype bets the same cards as first player and after a check, and calls with the same cards from either seat:
that fixes all 12 information sets. The best response to them earns, in chips a hand from seat 0 / seat 1:
conservative 1/6, 1/3; aggressive 1/3, 1/3; intermediate 1/3, 1/6.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, View
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent

_PASS: Distribution = (1.0, 0.0)
_BET: Distribution = (0.0, 1.0)


class KuhnArchetype(Opponent):
    """A deterministic Kuhn poker player.

    Attributes:
        bets: Cards that it bets when nobody has bet; it checks with the others.
        calls: Cards that it calls a bet with; it folds the others.
    """

    plays = "Kuhn poker"
    bets: ClassVar[str]
    calls: ClassVar[str]

    def __init__(self, game: GameSpec) -> None:
        """Refuses every game but Kuhn poker."""
        super().__init__(game)
        if game.name != "kuhn_poker":
            raise UnsupportedGameError(
                f"{type(self).__name__.lower()} plays kuhn_poker only, not {game.name!r}; try cfr or random"
            )

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Bets or passes for sure."""
        cards = self.calls if "bet" in view.facts["moves"] else self.bets
        return (_BET if view.facts["card"] in cards else _PASS), memory


class Conservative(KuhnArchetype):
    """Bets and calls only with the King."""

    summary = "bets and calls only with the King"
    bets = "K"
    calls = "K"


class Aggressive(KuhnArchetype):
    """Always bets; facing a bet, folds only the Jack."""

    summary = "always bets; facing a bet, folds only the Jack"
    bets = "JQK"
    calls = "QK"


class Intermediate(KuhnArchetype):
    """Bets Queen and King when nobody has bet; calls only with the King."""

    summary = "bets Queen and King when nobody has bet; calls only with the King"
    bets = "QK"
    calls = "K"


for archetype in (Conservative, Aggressive, Intermediate):
    OPPONENTS.register(archetype.__name__.lower(), archetype)
