"""How often seeded runs of ``mcts`` choose each move, as a fixed table: against it values can be exact.

``mcts_table(simulations=n, runs=k)`` is another opponent than ``mcts(n)``: it plays each move with the share of k runs
that chose it, k fixed runs a position, and searches no more. The seeds of the runs are a hash of the position, so that
a position has one row, whoever asks, when and where. Tic-Tac-Toe's 4,520 rows take 1.2 s for 100 simulations and 16
runs, 1.9 s for 1,000.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version

import numpy as np

from mage_envs import cache
from mage_envs.games import GameSpec, View
from mage_envs.opponents.base import OPPONENTS, Distribution, Memory, check_range
from mage_envs.opponents.mcts import MCTS

MAX_RUNS = 10_000
FORMAT = 1
"""Of the file in the cache, and of the seeds; rises when either changes."""

_KIND = "mcts_table"
_TOLERANCE = 1e-9


class MCTSTable(MCTS):
    """Plays the move frequencies of seeded ``mcts`` runs, estimated once a position: no search, but a table."""

    summary = "a table, not a search: each move as often as seeded runs of mcts chose it here; one fixed row a position"
    tabular = True

    def __init__(
        self, game: GameSpec, simulations: int = 100, runs: int = 16, uct_c: float = 2.0, rollouts: int = 1
    ) -> None:
        """Checks the game and the parameters. Positions are searched when they are first asked for.

        Args:
            game: A game that ``mcts`` plays.
            simulations: Playouts a run; this and the others as in ``mcts``.
            runs: Searches a position, 1 to 10,000.
            uct_c: Exploration constant.
            rollouts: Random playouts averaged at each leaf.

        Raises:
            UnsupportedGameError: ``mcts`` does not play the game.
        """
        super().__init__(game, simulations, uct_c, rollouts)
        check_range("runs", runs, 1, MAX_RUNS)
        self._runs = runs
        self._rows: dict[str, Distribution] = {}
        self._opened = False
        # Where a key does not tell the position, a row is that of the position, and cannot be kept under the key.
        self._keeps = game.merge or bool(game.game.get_type().provides_information_state_string)

    def policy(self, view: View, memory: Memory, rng: np.random.Generator) -> tuple[Distribution, Memory]:
        """Looks the row up, or makes it; ``spec.remember`` rows are remembered besides those of :meth:`tabulate`."""
        self._open()
        row = self._row(view)
        if row is None:
            row = self._estimate(view, rng)
            if self._keeps and len(self._rows) < self.game.remember:
                self._rows[view.key] = row
        return row, memory

    def tabulate(self, views: Sequence[View]) -> None:
        """Makes all rows that are not in the cache on disk, and keeps them there."""
        if not self._keeps:
            return
        self._opened = False  # Another process may have written since.
        self._open()
        missing = [view for view in views if self._row(view) is None]
        if missing:
            rng = np.random.default_rng(0)
            self._rows |= {view.key: self._estimate(view, rng) for view in missing}
            cache.store(_KIND, self._content(), _encode(self._rows))

    def standard_error(self, view: View) -> Distribution:
        """Returns how far off the row of a view may be, as an estimate of how often ``mcts`` chooses each move.

        It is ``sqrt(p (1 − p) / runs)`` for each of ``view.legal``. It says nothing about values against this opponent,
        which are exact: the table is the opponent. Zero means that all runs agreed, not that ``mcts`` always does:
        a move that none of k runs chose may still be chosen with a probability of up to 3 / k (95 % bound).
        """
        row, _ = self.policy(view, None, np.random.default_rng(0))
        return tuple((p * (1.0 - p) / self._runs) ** 0.5 for p in row)

    def _row(self, view: View) -> Distribution | None:
        row = self._rows.get(view.key)
        return row if row is not None and len(row) == len(view.legal) else None

    def _estimate(self, view: View, rng: np.random.Generator) -> Distribution:
        counts, state = [0] * len(view.legal), view.sample_state(rng)
        for seed, playout_seed in _seeds(view.key, self._runs):
            counts[view.moves[self.search(state, seed, playout_seed)]] += 1
        return tuple(count / self._runs for count in counts)

    def _open(self) -> None:
        if not self._opened and self._keeps:
            self._rows |= cache.load(_KIND, self._content(), _decode) or {}
        self._opened = True

    def _content(self) -> str:
        return cache.content_key(
            str(FORMAT), version("open_spiel"), self.game.name, self.game.openspiel, str(self.spec)
        )


def _seeds(key: str, runs: int) -> Iterator[tuple[int, int]]:
    """Yields the two seeds of each run, in 0..2³¹−1: the same on every machine, as Python's own hash is not."""
    for run in range(runs):
        digest = hashlib.sha256(f"{run} {key}".encode()).digest()
        yield int.from_bytes(digest[:4], "little") >> 1, int.from_bytes(digest[4:8], "little") >> 1


def _encode(rows: dict[str, Distribution]) -> cache.Arrays:
    return {
        "keys": np.frombuffer(json.dumps([*rows]).encode(), dtype=np.uint8),
        "moves": np.array([len(row) for row in rows.values()], dtype=np.int32),
        "probabilities": np.array([p for row in rows.values() for p in row], dtype=np.float64),
    }


def _decode(arrays: cache.Arrays) -> dict[str, Distribution]:
    keys: list[str] = json.loads(arrays["keys"].tobytes())
    ends = np.cumsum(arrays["moves"])[:-1]
    rows = [tuple(part.tolist()) for part in np.split(arrays["probabilities"], ends)] if keys else []
    if any(min(row, default=-1.0) < 0.0 or abs(sum(row) - 1.0) > _TOLERANCE for row in rows):
        raise ValueError("a row is no distribution")
    return dict(zip(keys, rows, strict=True))


OPPONENTS.register("mcts_table", MCTSTable)
