"""One move of look-ahead: take a win, else leave the other as few winning replies as can be, else play at random.

In Tic-Tac-Toe and Connect Four leaving the fewest winning replies is to block. It sees forks only when it is too late.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, View
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent

MAX_REMEMBERED = 100_000


class WinOrBlock(Opponent):
    """Wins if it can in one move, else blocks, else plays at random; equally good moves with equal probability."""

    summary = "takes a win in one move, else blocks the other's, else plays at random"
    plays = "zero-sum games of two seats, nothing hidden"

    def __init__(self, game: GameSpec) -> None:
        """Refuses games with hidden information, and those without two seats and one winner."""
        super().__init__(game)
        if not game.perfect_information or game.seats != 2 or not game.zero_sum:
            raise UnsupportedGameError(f"win_or_block plays zero-sum games of two seats where nothing is hidden, which "
                                       f"{game.name!r} is not; play cfr or random")  # fmt: skip
        self._known: dict[str, Distribution] = {}

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Looks one move ahead, once for each position."""
        found = self._known.get(view.key)
        if found is None:
            found = _look_ahead(view.sample_state(rng), view)
            if len(self._known) < MAX_REMEMBERED:
                self._known[view.key] = found
        return found, memory


def _look_ahead(state: Any, view: View) -> Distribution:
    children = [state.child(action) for action in view.legal]
    good = [_wins(child, view.seat) for child in children]
    if not any(good):
        threats = [_winning_replies(child, 1 - view.seat) for child in children]
        good = [threat == min(threats) for threat in threats]
    return tuple(1.0 / sum(good) if fine else 0.0 for fine in good)


def _wins(state: Any, seat: int) -> bool:
    return bool(state.is_terminal() and state.returns()[seat] > 0)


def _winning_replies(state: Any, seat: int) -> int:
    if state.is_terminal():
        return int(state.returns()[seat] > 0)
    if state.current_player() != seat:
        return 0
    return sum(_wins(state.child(action), seat) for action in state.legal_actions())


OPPONENTS.register("win_or_block", WinOrBlock)
