"""Fictitious play (Brown 1951): a best response to how often the other seat has played each action so far.

It plays games in which both seats move once at the same time (OpenSpiel's matrix games), and matches of
Rock-Paper-Scissors, throw by throw. Against a constant it plays the best response from the second throw on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, View, load_game_spec
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent
from mage_envs.opponents.observed import is_one_shot, is_rock_paper_scissors, other_actions

Counts: TypeAlias = tuple[tuple[int, int], ...]
"""The other's actions with how often they were seen, ascending."""


class FictitiousPlay(Opponent):
    """Best-responds to the other's frequencies; equally good actions with equal probability, all of them at first."""

    summary = "best response to how often the other has played each action so far; uniform over equally good ones"
    plays = "Rock-Paper-Scissors, matrix games"
    tabular = False

    def __init__(self, game: GameSpec) -> None:
        """Reads the payoffs.

        Raises:
            UnsupportedGameError: The game is neither a matrix game nor Rock-Paper-Scissors.
        """
        super().__init__(game)
        if not is_rock_paper_scissors(game) and not is_one_shot(game):
            raise UnsupportedGameError(f"fictitious_play plays matrix games and rock_paper_scissors, not "
                                       f"{game.name!r}; play cfr or random")  # fmt: skip
        stage = load_game_spec("rock_paper_scissors") if is_rock_paper_scissors(game) else game
        self._payoffs = _payoffs(stage)
        self._alike = np.array_equal(*self._payoffs)

    def start(self, rng: np.random.Generator) -> tuple[Counts, Counts]:
        """Nothing seen yet of either seat. Where the seats have the same payoffs, the first counts for both."""
        return (), ()

    def policy(
        self, view: View, memory: tuple[Counts, Counts], rng: np.random.Generator
    ) -> tuple[Distribution, Memory]:
        """Compares what each action would have earned."""
        counts = _counted(memory[self._slot(view)], other_actions(view))
        payoffs = self._payoffs[view.seat]
        earned = sum((payoffs[:, action] * count for action, count in counts), np.zeros(len(payoffs)))
        best = np.isclose(earned, earned.max())
        return tuple((best / best.sum()).tolist()), memory

    def end_episode(self, view: View, memory: tuple[Counts, Counts]) -> tuple[Counts, Counts]:
        """Counts the other's actions."""
        slot = self._slot(view)
        counted = _counted(memory[slot], other_actions(view))
        return (counted, memory[1]) if slot == 0 else (memory[0], counted)

    def _slot(self, view: View) -> int:
        return 0 if self._alike else view.seat


def _payoffs(game: GameSpec) -> tuple[Any, Any]:
    """Returns for each seat its payoffs, shape ``(own actions, other's actions)``."""
    root = game.game.new_initial_state()
    first, second = (root.legal_actions(seat) for seat in (0, 1))
    returns = np.array([[_returns(root, a, b) for b in second] for a in first])
    return returns[:, :, 0], returns[:, :, 1].T


def _returns(root: Any, first: int, second: int) -> list[float]:
    state = root.clone()
    state.apply_actions([first, second])
    return list(state.returns())


def _counted(counts: Counts, actions: Iterable[int]) -> Counts:
    found = dict(counts)
    for action in actions:
        found[action] = found.get(action, 0) + 1
    return tuple(sorted(found.items()))


OPPONENTS.register("fictitious_play", FictitiousPlay)
