"""A meta-episode in which every seat decides from outside: N episodes, with a free action of each player between two.

The PettingZoo adapters are thin layers over a :class:`Match`. Players are numbered; in episode n player k has seat
``(k + n) % seats`` if seats alternate, else seat k.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mage_envs.envs.actions import read_action
from mage_envs.games import GameSpec, View, position_graph
from mage_envs.games.positions import CHANCE, SIMULTANEOUS, TERMINAL
from mage_envs.text.messages import not_played
from mage_envs.text.parser import ReplyKind


class Match:
    """The state of one meta-episode among ``spec.seats`` players.

    Attributes:
        started: Whether :meth:`start` was called.
        phase: ``"play"`` or ``"reflect"``.
        episode: 0-based.
        over: Whether the last episode has ended.
        results: For each player, the result of the episode that has just ended, or None during play.
        reasons: For each player, the kind of its last answer if that was not played, else the empty string.
        notes: The same in words.
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
        self.started = False

    def start(self, rng: np.random.Generator, instances: list[int] | None) -> None:
        """Starts the meta-episode; draws the instances unless they are given."""
        drawn = [int(u * 2**53) for u in rng.random(1 if self._replay else self.episodes)]
        self._instances = instances or (drawn * self.episodes if self._replay else drawn)
        self.started, self.over = True, False
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

    def decide(self, decisions: Mapping[int, Any]) -> list[float]:
        """Takes decisions of some of the players in ``waiting``; of several, as made at once.

        Args:
            decisions: By player, in phase ``play`` an action id or a reply, in phase ``reflect`` anything. None at all
                once the meta-episode is over.

        Returns:
            The reward of each player for what has happened.

        Raises:
            ValueError: An action of the wrong type.
        """
        rewards = [0.0 for _ in self._players]
        if self.phase == "reflect":
            self._pending.update(dict.fromkeys(decisions, 0))
            if not self.waiting:
                self._begin(self.episode + 1)
            return rewards
        read = {who: read_action(self.view(who), action, text=self._text) for who, action in decisions.items()}
        for player, (kind, move) in read.items():
            if move is None:
                self._refuse(player, kind, rewards)
            else:
                self._accept(player, move)
        if self._losers:
            self._forfeit(rewards)
        elif decisions and not self.waiting:
            self._move_on(rewards)
        for other, reward in enumerate(rewards):
            self._scores[other] += reward
        if self._ended:
            self._end_episode()
        return rewards

    def _begin(self, episode: int) -> None:
        self.phase, self.episode = "play", episode
        self.results: list[dict[str, Any]] | None = None
        self.reasons = ["" for _ in self._players]
        self.notes = ["" for _ in self._players]
        self._pending: dict[int, int] = {}
        self._scores = [0.0 for _ in self._players]
        self._paid = [0.0 for _ in self._players]
        self._lengths = [0 for _ in self._players]
        self._invalid = [0 for _ in self._players]
        self._refused: list[dict[str, int]] = [{} for _ in self._players]
        self._in_a_row = [0 for _ in self._players]
        self._losers: set[int] = set()
        self._ended = False
        self._events = 0
        self._position = self._graph.root
        self._deal()

    def _deal(self) -> None:
        while self._position.player == CHANCE:
            self._position = self._position.after_chance(self.instance, self._events)
            self._events += 1
        self._ended = self._position.player == TERMINAL

    def _accept(self, player: int, move: int) -> None:
        self.reasons[player], self.notes[player], self._in_a_row[player] = "", "", 0
        self._pending[player] = move

    def _move_on(self, rewards: list[float]) -> None:
        """Plays what all have decided."""
        joint = self._position.player == SIMULTANEOUS
        moves = [self._pending.get(player, 0) for player in sorted(self._players, key=self.seat)]
        for player, move in self._pending.items():
            self.last_actions[player] = move
            self._lengths[player] += 1
        self._position = self._position.child(tuple(moves) if joint else move)
        self._pending.clear()
        self._deal()
        for player in self._players:
            rewards[player] = self._position.returns[self.seat(player)] - self._paid[player]
            self._paid[player] += rewards[player]

    def _refuse(self, player: int, kind: ReplyKind, rewards: list[float]) -> None:
        self._invalid[player] += 1
        self._in_a_row[player] += 1
        self._refused[player][kind.value] = self._refused[player].get(kind.value, 0) + 1
        self.reasons[player] = kind.value
        self.notes[player] = not_played(kind, self._in_a_row[player], self._max_invalid)
        rewards[player] = 0.0 - self._penalty
        if self._in_a_row[player] >= self._max_invalid:
            self._losers.add(player)

    def _forfeit(self, rewards: list[float]) -> None:
        """Gives those who forfeit the loss of the rules; in a zero-sum game of two, the other wins it."""
        self._ended = True
        worst, duel = self.spec.worst_return, self.spec.zero_sum and self.spec.seats == 2
        for player in self._players:
            if player in self._losers:
                rewards[player] += worst - self._paid[player]
            elif duel:
                rewards[player] += -worst - self._paid[player]

    def _end_episode(self) -> None:
        self.results = [
            {
                "reward": self._scores[player],
                "outcome": self._outcome(player),
                "length": self._lengths[player],
                "invalid": self._invalid[player],
                "refused": self._refused[player],
                "forfeit": player in self._losers,
            }
            for player in self._players
        ]
        self.phase = "reflect"
        self._pending.clear()
        if self.episode + 1 == self.episodes:
            self.phase, self.over = "play", True

    def _outcome(self, player: int) -> str:
        if not self._losers:
            return self.spec.outcome(self._position.returns, self.seat(player))
        return "loss" if player in self._losers else "win"
