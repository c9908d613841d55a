"""A meta-episode in which every seat decides from outside: N episodes, with a free action of each player between two.

The PettingZoo adapters are thin layers over a :class:`Match`. Players are numbered; in episode n player k has seat
``(k + n) % seats`` if seats alternate, else seat k.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mage_envs.envs.actions import read_action
from mage_envs.games import GameSpec, View, position_graph
from mage_envs.games.positions import CHANCE, SIMULTANEOUS, TERMINAL
from mage_envs.text.messages import not_played


class Match:
    """The state of one meta-episode among ``spec.seats`` players.

    Attributes:
        phase: ``"play"`` or ``"reflect"``.
        episode: 0-based.
        over: Whether the last episode has ended.
        results: For each player, the result of the episode that has just ended, or None during play.
        notes: For each player, why its last answer was not played, or the empty string.
    """

    def __init__(
        self,
        spec: GameSpec,
        *,
        episodes: int,
        replay: bool,
        alternate: bool,
        penalty: float,
        max_invalid: int,
        text: bool,
    ) -> None:
        """Keeps the settings, which the caller has checked."""
        self.spec, self.episodes = spec, episodes
        self._replay, self._alternate, self._text = replay, alternate, text
        self._penalty, self._max_invalid = penalty, max_invalid
        self._players = range(spec.seats)
        self._graph = position_graph(spec)

    def start(self, rng: np.random.Generator, instances: list[int] | None) -> None:
        """Starts the meta-episode; draws the instances unless they are given."""
        drawn = [int(u * 2**53) for u in rng.random(1 if self._replay else self.episodes)]
        self._instances = instances or (drawn * self.episodes if self._replay else drawn)
        self.over = False
        self.last_actions = [-1 for _ in self._players]
        self._begin(0)

    @property
    def instance(self) -> int:
        """The instance id of this episode."""
        return self._instances[self.episode]

    @property
    def waiting(self) -> list[int]:
        """Players who must decide before anything happens, in ascending order; empty at the end."""
        if self.over:
            return []
        if self.phase == "reflect":
            asked = list(self._players)
        else:
            asked = [player for player in self._players if self.view(player).legal]
        return [player for player in asked if player not in self._pending]

    def seat(self, player: int) -> int:
        """Returns the seat of a player in this episode."""
        return (player + self.episode) % self.spec.seats if self._alternate else player

    def view(self, player: int) -> View:
        """Returns what a player may know."""
        return self._position.view(self.seat(player))

    def withdraw(self) -> None:
        """Forgets decisions that wait for others."""
        self._pending.clear()

    def decide(self, player: int, action: Any) -> list[float]:
        """Takes one player's decision.

        Args:
            player: One of ``waiting``.
            action: In phase ``play`` an action id or a reply, in phase ``reflect`` anything.

        Returns:
            The reward of each player for what has happened.

        Raises:
            ValueError: An action of the wrong type.
        """
        rewards = [0.0 for _ in self._players]
        if self.phase == "reflect":
            self._pending[player] = 0
            if not self.waiting:
                self._begin(self.episode + 1)
            return rewards
        kind, move = read_action(self.view(player), action, text=self._text)
        if move is None:
            self._refuse(player, kind, rewards)
        else:
            self._accept(player, move, rewards)
        for other, reward in enumerate(rewards):
            self._scores[other] += reward
        if self._ended:
            self._end_episode()
        return rewards

    def _begin(self, episode: int) -> None:
        self.phase, self.episode = "play", episode
        self.results: list[dict[str, Any]] | None = None
        self.notes = ["" for _ in self._players]
        self._pending: dict[int, int] = {}
        self._scores = [0.0 for _ in self._players]
        self._paid = [0.0 for _ in self._players]
        self._lengths = [0 for _ in self._players]
        self._invalid = [0 for _ in self._players]
        self._in_a_row = [0 for _ in self._players]
        self._loser: int | None = None
        self._ended = False
        self._events = 0
        self._position = self._graph.root
        self._deal()

    def _deal(self) -> None:
        while self._position.player == CHANCE:
            self._position = self._position.after_chance(self.instance, self._events)
            self._events += 1
        self._ended = self._position.player == TERMINAL

    def _accept(self, player: int, move: int, rewards: list[float]) -> None:
        self.notes[player], self._in_a_row[player] = "", 0
        self._pending[player] = move
        if self.waiting:
            return
        moves = [self._pending.get(other, 0) for other in self._players]
        for other in self._pending:
            self.last_actions[other] = moves[other]
            self._lengths[other] += 1
        by_seat = sorted(self._players, key=self.seat)
        joint = self._position.player == SIMULTANEOUS
        self._position = self._position.child(tuple(moves[other] for other in by_seat) if joint else move)
        self._pending.clear()
        self._deal()
        for other in self._players:
            rewards[other] = self._position.returns[self.seat(other)] - self._paid[other]
            self._paid[other] += rewards[other]

    def _refuse(self, player: int, kind: Any, rewards: list[float]) -> None:
        self._invalid[player] += 1
        self._in_a_row[player] += 1
        self.notes[player] = not_played(kind, self._in_a_row[player], self._max_invalid)
        rewards[player] = 0.0 - self._penalty
        if self._in_a_row[player] < self._max_invalid:
            return
        self._loser, self._ended = player, True
        worst = self.spec.worst_return
        for other in self._players:
            gain = -worst if self.spec.zero_sum and self.spec.seats == 2 else 0.0
            rewards[other] += (worst if other == player else gain) - self._paid[other]

    def _end_episode(self) -> None:
        forfeit = self._loser is not None
        self.results = [
            {
                "reward": self._scores[player],
                "outcome": self._outcome(player),
                "length": self._lengths[player],
                "invalid": self._invalid[player],
                "forfeit": forfeit and player == self._loser,
            }
            for player in self._players
        ]
        self.phase = "reflect"
        self._pending.clear()
        if self.episode + 1 == self.episodes:
            self.phase, self.over = "play", True

    def _outcome(self, player: int) -> str:
        if self._loser is None:
            return self.spec.outcome(self._position.returns, self.seat(player))
        return "loss" if player == self._loser else "win"
