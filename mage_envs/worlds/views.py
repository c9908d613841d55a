"""Views of worlds: what the agent may know of a state, filled on demand; as :class:`mage_envs.games.View` is for games.

Agents, recorders and the environment's texts use both kinds of view by the same attributes.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mage_envs.charset import printable
from mage_envs.games import fold
from mage_envs.worlds.base import Command, Facts, State, World

_NO_SPELLINGS: dict[str, int] = {}


class WorldView:
    """What the agent may know of a state, and of the turns that it has left.

    Two views are equal if, and only if, they say the same.

    Attributes:
        spec: The world.
        turn: Turns played in this episode.
        turns: The limit.
        truncated: Whether the turn limit ended the episode.
        terminal: Whether the episode is over, by the rules or by the limit.
        seat: Always 0.
    """

    seat = 0

    def __init__(self, spec: World, state: State, turn: int, turns: int) -> None:
        """Makes the view.

        Args:
            spec: The world.
            state: One of its states.
            turn: Turns played so far.
            turns: The limit of the episode.
        """
        self.spec, self.turn, self.turns = spec, turn, turns
        self._state = state
        over = spec.outcome(state) is not None
        if not spec.actions:  # No ids, and no spellings of them.
            self.legal, self.spellings = (), _NO_SPELLINGS
        self.truncated = not over and turn >= turns
        self.terminal = over or self.truncated

    @property
    def whole_state(self) -> State:
        """The state with all that is hidden from the agent: for agents that declare themselves an oracle, no others."""
        return self._state

    @property
    def to_act(self) -> bool:
        """Whether the agent must act."""
        return not self.terminal

    @cached_property
    def key(self) -> str:
        """The situation, without the turn: equal wherever the world offers the agent the same."""
        return self.spec.key(self._state)

    @cached_property
    def facts(self) -> Facts:
        """All that the agent may know of the state, as data."""
        return self.spec.facts(self._state)

    @cached_property
    def text(self) -> str:
        """The facts and the turn in words."""
        return printable(f"{self.spec.describe(self.facts)}\n{self._turn_line()}")

    @cached_property
    def legal(self) -> tuple[int, ...]:
        """Legal action ids, ascending; empty when the episode is over, and in worlds whose nature is text."""
        return () if self.terminal else self.spec.legal(self._state)

    @property
    def moves(self) -> dict[int, Command]:
        """From a legal action id to the command that it is."""
        return _moves(self.legal)

    @property
    def mask(self) -> npt.NDArray[np.int8]:
        """1 for each legal action id, else 0; int8, shape ``(spec.actions,)``, read-only."""
        return _mask(self.spec.actions, self.legal)

    @property
    def uniform(self) -> tuple[float, ...]:
        """The uniform distribution over the legal action ids."""
        return (1.0 / len(self.legal),) * len(self.legal) if self.legal else ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the agent is told that it may answer."""
        return () if self.terminal else self.spec.names(self._state)

    @cached_property
    def spellings(self) -> dict[str, int]:
        """Every spelling of a legal action, folded to lower case and single spaces, to its id."""
        found: dict[str, int] = {}
        for action in self.legal:
            for name in self.spec.words(self._state, action):
                found.setdefault(fold(name), action)
        return found

    @cached_property
    def tensor(self) -> npt.NDArray[Any]:
        """The state as an array, as ``spec.box`` says; read-only."""
        found = self.spec.tensor(self._state)
        found.flags.writeable = False
        return found

    def read(self, answer: str) -> Command | None:
        """Reads an answer that is no spelling of a legal action; None if the world can make nothing of it."""
        return self.spec.read(self._state, answer)

    def picture(self) -> npt.NDArray[np.uint8]:
        """Draws what the agent sees; shape (height, width, 3)."""
        return self.spec.picture(self.facts)

    def _turn_line(self) -> str:
        if self.truncated:
            return f"All {self.turns} turns are used."
        if self.terminal:
            return f"Turns used: {self.turn} of {self.turns}."
        return f"Turn {self.turn + 1} of {self.turns}."

    def __eq__(self, other: object) -> bool:
        """Whether the other view is of the same world and says the same."""
        if not isinstance(other, WorldView):
            return NotImplemented
        return (self.spec.name, self.text, self.terminal) == (other.spec.name, other.text, other.terminal)

    def __hash__(self) -> int:
        """Hashes by what the view says."""
        return hash((self.spec.name, self.text, self.terminal))


@lru_cache(maxsize=4096)
def _moves(legal: tuple[int, ...]) -> dict[int, Command]:
    return {action: action for action in legal}


@lru_cache(maxsize=4096)
def _mask(actions: int, legal: tuple[int, ...]) -> npt.NDArray[np.int8]:
    mask = np.zeros(actions, dtype=np.int8)
    mask[list(legal)] = 1
    mask.flags.writeable = False
    return mask
