"""Thousands of meta-episodes as arrays: the state they change, what they show, and the arithmetic between the two.

A batch plays meta-episodes of one compiled game against opponents that are tables. Both backends
(:mod:`~mage_envs.tabular.batch_numpy`, :mod:`~mage_envs.tabular.batch_numba`) work on the arrays of this file and do
the same operations on floats in the same order as ``mage_envs.envs.game_env``, so that environment i of a batch is,
decision for decision, the single environment with the same seed.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from mage_envs.tabular.batch_tables import Array, Tables

ALTERNATE, RANDOM = -1, -2
"""Codes of the seat orders; a seat of its own is its number."""

PLAY, REFLECT, OVER = 0, 1, 2
"""What an environment waits for: a decision, a free action, a reset."""


class Rules(NamedTuple):
    """What all environments of a batch have in common."""

    episodes: int
    seats: int
    replay: bool
    stop_on_success: bool
    order: int
    penalty: float
    max_invalid: int
    worst: float


RECORD = np.dtype(
    [
        *((name, np.uint64) for name in ("high", "low", "increment_high", "increment_low")),
        *((name, np.float64) for name in ("paid", "score", "last_reward")),
        *((name, np.int64) for name in ("instance", "seed")),
        *((name, np.uint32) for name in ("opponent", "episode", "seat", "state", "seen")),
        *((name, np.int32) for name in ("status", "events", "length", "invalid", "row", "last_action")),
    ],
    align=True,
)
"""What a batch remembers of one environment, side by side: a step reads and writes most of it.

``high`` to ``increment_low`` are its generator (see :mod:`~mage_envs.tabular.streams`). ``paid`` is what of the returns
has been given as reward, ``last_reward`` the reward that is observed; ``seed`` began the meta-episode, −1 if none did;
``state`` is the game's state, ``seen`` the view that the agent has; ``events`` counts chance events in the episode, and
``row`` unplayable actions in a row.
"""


class State(NamedTuple):
    """What a batch remembers of n environments.

    Attributes:
        records: What changes with every step; ``RECORD``, shape (n,).
        instances: Instance ids of all episodes; int64, shape (n, episodes).
        seats: The agent's seat in all episodes; int8, shape (n, episodes).
    """

    records: Array
    instances: Array
    seats: Array

    @property
    def streams(self) -> Array:
        """The generators; uint64, shape (4, n)."""
        words = self.records.view(np.uint64).reshape(len(self.records), -1)
        return words[:, :4].T


class Shown(NamedTuple):
    """What a batch shows after a step or reset; shape (n,) where nothing else is said.

    ``reward`` to ``ended`` tell what the step did. If ``ended``, the episode is over and ``score`` to ``forfeit`` are
    its result, else they are 0.
    """

    action_mask: Array
    phase: Array
    episode: Array
    seat: Array
    last_action: Array
    last_reward: Array
    seen: Array
    instance: Array
    opponent: Array
    seed: Array
    reward: Array
    terminated: Array
    refused: Array
    ended: Array
    score: Array
    outcome: Array
    length: Array
    invalid: Array
    forfeit: Array


class Backend(Protocol):
    """The arithmetic: a module with these functions. ``rows`` are ascending indices of environments.

    Attributes:
        PARALLEL: Whether two threads get on faster than one.
    """

    PARALLEL: bool

    def draw(self, tables: Tables, rules: Rules, state: State, rows: Array, order: int) -> None:
        """Draws opponent, seats and instances of new meta-episodes."""

    def begin(self, tables: Tables, state: State, rows: Array) -> None:
        """Begins the first episode of new meta-episodes."""

    def show(self, tables: Tables, state: State, rows: Array, shown: Shown) -> None:
        """Writes down what environments show, apart from what the last step did."""

    def step(self, tables: Tables, rules: Rules, state: State, actions: Array, shown: Shown) -> None:
        """Plays an action of each environment, starts those anew that are over, and shows them all."""

    def sample(self, tables: Tables, state: State, key: int, actions: Array) -> None:
        """Chooses a legal action in phase play, any action otherwise; number i by output i of SplitMix64."""


def make_state(count: int, episodes: int) -> State:
    """Returns the state of environments that are over."""
    records = np.zeros(count, RECORD)
    records["status"], records["seed"] = OVER, -1
    return State(records, np.zeros((count, episodes), np.int64), np.zeros((count, episodes), np.int8))


def make_shown(count: int, actions: int) -> Shown:
    """Returns room for what a batch shows."""
    long = ("phase", "episode", "seat", "last_action", "instance", "seed")
    small = {name: np.empty(count, np.int32) for name in ("seen", "opponent", "length", "invalid")}
    flags = {name: np.empty(count, np.bool_) for name in ("terminated", "refused", "ended", "forfeit")}
    return Shown(
        action_mask=np.empty((count, actions), np.int8),
        last_reward=np.empty((count, 1), np.float32),
        reward=np.empty(count),
        score=np.empty(count),
        outcome=np.empty(count, np.int8),
        **{name: np.empty(count, np.int64) for name in long},
        **small,
        **flags,
    )
