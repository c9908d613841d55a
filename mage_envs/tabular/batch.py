"""A batch of meta-episodes: seeded, drawn, stepped and shown by rows, with no loop over environments in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from mage_envs.opponents import Opponent, make_opponent
from mage_envs.opponents.populations import Population
from mage_envs.tabular.backends import load_backend
from mage_envs.tabular.batch_arrays import OVER, Rules, Shown, State, make_shown, make_state
from mage_envs.tabular.batch_tables import Array, make_tables
from mage_envs.tabular.compiled import CompiledGame
from mage_envs.tabular.streams import Words, seeded
from mage_envs.tabular.threads import shares, side_by_side


class Batch:
    """Environments by number. ``rows`` are ascending numbers of environments.

    Attributes:
        game: The game as arrays.
        rules: What all have in common.
        shares: What is stepped side by side.
        seeds: The seed of each environment's stream, −1 before it has one; int64, shape (n,).
    """

    def __init__(self, game: CompiledGame, population: Population, rules: Rules, count: int, backend: str) -> None:
        """Makes the tables.

        Raises:
            UnsupportedGameError: An opponent has no table.
        """
        self.game, self.rules = game, rules
        self.seeds = np.full(count, -1, np.int64)
        self._weights = [weight for _, weight in population.members]
        self._opponents: list[Opponent] = []
        self.admit(*(spec for spec, _ in population.members))
        self._backend = load_backend(backend)
        self._state = make_state(count, rules.episodes)
        self.shares = shares(count) if self._backend.PARALLEL else [slice(0, count)]
        self._states = [State(*(array[share] for array in self._state)) for share in self.shares]

    @property
    def opponents(self) -> tuple[str, ...]:
        """Specs of the opponents by number: those of the population, then those that were admitted later."""
        return tuple(str(opponent.spec) for opponent in self._opponents)

    @property
    def streams(self) -> Words:
        """The random streams, shape (4, n)."""
        return self._state.streams

    def generators(self) -> tuple[np.random.Generator, ...]:
        """Returns NumPy generators that will give the next numbers of the streams."""
        return tuple(_generator(*words) for words in self.streams.T.tolist())

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """Which meta-episodes are over, or have not begun."""
        return np.asarray(self._state.records["status"] == OVER)

    def admit(self, *specs: str) -> None:
        """Makes tables for opponents that have none yet; nobody draws those that came later."""
        new = [spec for spec in specs if spec not in self.opponents]
        if new:
            opponents = self._opponents + [make_opponent(spec, self.game.spec) for spec in new]
            self._tables = make_tables(self.game, opponents, self._weights)
            self._opponents = opponents

    def room(self) -> Shown:
        """Returns room for what the environments show."""
        return make_shown(len(self.seeds), self.game.spec.actions)

    def seed(self, rows: Array, seeds: npt.NDArray[np.int64]) -> None:
        """Starts the streams of environments anew."""
        self.seeds[rows] = seeds
        self.streams[:, rows] = seeded(seeds)

    def draw(self, rows: Array, order: int | None = None) -> None:
        """Draws opponent, seats and instances of new meta-episodes, the seats by another rule if one is given."""
        self._backend.draw(self._tables, self.rules, self._state, rows, self.rules.order if order is None else order)

    def fix(
        self, rows: Array, seeds: Array, opponent: str | None = None, instances: Sequence[int] | None = None
    ) -> None:
        """Writes over what was drawn; and the seeds that began the meta-episodes, −1 for none."""
        self._state.records["seed"][rows] = seeds
        if opponent is not None:
            self._state.records["opponent"][rows] = self.opponents.index(opponent)
        if instances is not None:
            self._state.instances[rows] = instances

    def begin(self, rows: Array, shown: Shown) -> None:
        """Begins what was drawn, and shows it."""
        self._backend.begin(self._tables, self._state, rows)
        self.show(rows, shown)

    def show(self, rows: Array, shown: Shown) -> None:
        """Shows environments as they are."""
        self._backend.show(self._tables, self._state, rows, shown)

    def step(self, actions: npt.NDArray[np.int64], shown: Sequence[Shown], then: Callable[[int], None]) -> None:
        """Plays an action of each environment, starts those anew that are over, and shows them all.

        Args:
            actions: One for each.
            shown: Where each share of :attr:`shares` is shown.
            then: Is called with the number of each share when it has been stepped, perhaps in another thread.
        """

        def step(number: int) -> None:
            share = actions[self.shares[number]]
            self._backend.step(self._tables, self.rules, self._states[number], share, shown[number])
            then(number)

        side_by_side([partial(step, number) for number in range(len(self.shares))])

    def sample(self, key: int) -> npt.NDArray[np.int64]:
        """Chooses a legal action in phase play, any action otherwise, from a key in 0..2**64 - 1."""
        actions = np.empty(len(self.seeds), np.int64)
        self._backend.sample(self._tables, self._state, key, actions)
        return actions


def _generator(high: int, low: int, increment_high: int, increment_low: int) -> np.random.Generator:
    bits = np.random.PCG64()
    state = bits.state
    state["state"] = {"state": high << 64 | low, "inc": increment_high << 64 | increment_low}
    bits.state = state
    return np.random.Generator(bits)
