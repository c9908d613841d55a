"""Simple Rock-Paper-Scissors players that count over all throws of the meta-episode.

Whoever knows a cycle wins every throw; whoever repeats one throw against ``frequency`` loses every throw but the first.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, View
from mage_envs.games.rock_paper_scissors import THROWS
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, Opponent, check_choice, one_hot
from mage_envs.opponents.observed import is_rock_paper_scissors, throws_seen

Counts: TypeAlias = tuple[int, int, int]

DIRECTIONS = {"forward": 1, "backward": -1}


class RockPaperScissorsOpponent(Opponent):
    """What these players share: they play Rock-Paper-Scissors only, and remember."""

    plays = "Rock-Paper-Scissors"
    tabular = False

    def __init__(self, game: GameSpec) -> None:
        """Refuses other games."""
        super().__init__(game)
        if not is_rock_paper_scissors(game):
            raise UnsupportedGameError(f"{type(self).__name__.lower()} plays rock_paper_scissors only, not "
                                       f"{game.name!r}; constant and random play any game")  # fmt: skip


class Cycle(RockPaperScissorsOpponent):
    """Throws rock, paper, scissors, rock ... in turn, on and on over the episodes."""

    summary = "throws rock, paper, scissors in turn, or the other way round, on and on over the episodes"

    def __init__(self, game: GameSpec, start: str = "rock", direction: str = "forward") -> None:
        """Takes the first throw and the order.

        Args:
            game: Rock-Paper-Scissors.
            start: ``"rock"``, ``"paper"`` or ``"scissors"``.
            direction: ``"forward"`` (each throw beats the one before) or ``"backward"``.

        Raises:
            SpecError: Another name.
        """
        super().__init__(game)
        self._first = THROWS.index(check_choice("start", start, THROWS))
        self._step = DIRECTIONS[check_choice("direction", direction, DIRECTIONS)]

    def start(self, rng: np.random.Generator) -> int:
        """Nothing thrown yet."""
        return 0

    def policy(self, view: View, memory: int, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Throws the next of the cycle."""
        made = memory + len(throws_seen(view))
        return one_hot(view, (self._first + self._step * made) % len(THROWS)), memory

    def end_episode(self, view: View, memory: int) -> int:
        """Counts the throws."""
        return memory + len(throws_seen(view))


class Frequency(RockPaperScissorsOpponent):
    """Follows the other's frequencies: beats rock as often as the other has thrown rock, and so on."""

    summary = "beats each throw as often as the other has thrown it so far in the meta-episode; uniform at first"

    def start(self, rng: np.random.Generator) -> Counts:
        """Nothing seen yet."""
        return (0, 0, 0)

    def policy(self, view: View, memory: Counts, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Shifts the other's frequencies by one: paper beats rock, scissors paper, rock scissors."""
        rock, paper, scissors = _counted(memory, view)
        total = rock + paper + scissors
        return ((scissors / total, rock / total, paper / total) if total else view.uniform), memory

    def end_episode(self, view: View, memory: Counts) -> Counts:
        """Counts the other's throws."""
        return _counted(memory, view)


def _counted(counts: Counts, view: View) -> Counts:
    others = [other for _, other in throws_seen(view)]
    rock, paper, scissors = (count + others.count(throw) for throw, count in enumerate(counts))
    return rock, paper, scissors


OPPONENTS.register("cycle", Cycle)
OPPONENTS.register("frequency", Frequency)
