"""A game as one seat sees it: its decisions in a tree, and all ends of the game hanging on its action sequences.

A *sequence* is one (decision, action) of the seat; with perfect recall it stands for all that the seat did before.
What the others and chance do is a weight of each end, so everything that can be asked of one seat against fixed
strategies is linear in those weights: a best response is one pass from the leaves to the root.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games.positions import CHANCE, TERMINAL
from mage_envs.tabular.compiled import CompiledGame
from mage_envs.tabular.results import BestResponse, FloatArray, IntArray, Score, argmax, payoffs
from mage_envs.tabular.sweeps import edge_probabilities, levels, reach
from mage_envs.tabular.tables import Table, other_seats

_TOLERANCE = 1e-9


class Group(NamedTuple):
    """Decisions of one depth with equally many actions, solved together.

    Attributes:
        numbers: Which decisions; shape ``(n,)``.
        parents: Their parent sequences; shape ``(n,)``.
        sequences: The sequences of their actions; shape ``(n, actions)``.
    """

    numbers: IntArray
    parents: IntArray
    sequences: IntArray


class Deals(NamedTuple):
    """The complete deals: all chance outcomes that an episode can meet.

    Attributes:
        probabilities: Shape ``(deals,)``.
        fits: 1 where an end agrees with a deal; shape ``(deals, ends)``.
    """

    probabilities: FloatArray
    fits: FloatArray


class SeatTree:
    """The tree of one seat.

    Attributes:
        game: The game as arrays.
        seat: The seat.
        ends: The states in which the game is over; shape ``(ends,)``.
        rows: The information state of each decision; shape ``(decisions,)``.
        parent: The sequence that leads to each decision, 0 for the empty one; shape ``(decisions,)``.
        first: The sequence of the first action of each decision, the others follow; shape ``(decisions,)``.
        counts: The number of its actions; shape ``(decisions,)``.
        sequences: Number of sequences, the empty one (number 0) included.
        sequence: For each end, the last sequence of the seat; shape ``(ends,)``.
        payoff: For each end, the :class:`Score` of the seat; shape ``(ends, 4)``.
        chance: For each end, the probability of its chance outcomes; shape ``(ends,)``.
    """

    def __init__(self, game: CompiledGame, seat: int) -> None:
        """Builds the tree. Use :func:`seat_tree`, which remembers it.

        Raises:
            UnsupportedGameError: Seats of this game forget what they did.
        """
        if game.spec.merge:
            raise UnsupportedGameError(f"{game.spec.name!r} merges all ways to a board: it is no tree")
        self.game, self.seat = game, seat
        self.ends: IntArray = np.flatnonzero(game.actor == TERMINAL)
        self.rows: IntArray = game.of_seat(seat)
        self.counts: IntArray = game.mask[self.rows].sum(axis=1, dtype=np.int64)
        self.first: IntArray = 1 + np.cumsum(self.counts) - self.counts
        self.sequences = 1 + int(self.counts.sum())
        last, self._depth = self._sequences()
        self.parent = self._parents(last)
        self.sequence: IntArray = last[self.ends]
        self.payoff = payoffs(game, seat)[self.ends]
        self.chance = reach(game, game.chance)[self.ends]

    def reach(self, table: Table) -> FloatArray:
        """Returns the probability that the other seats allow each end if they play a table; shape ``(ends,)``.

        Chance is not in it: multiply by :attr:`chance`.
        """
        others = other_seats(self.game.spec, self.seat)
        return reach(self.game, edge_probabilities(self.game, table, others, chance=False))[self.ends]

    def best_response(self, weights: FloatArray, objective: FloatArray) -> BestResponse:
        """Finds the best policy of the seat.

        Args:
            weights: Of each end: chance times the reach of the other seats; shape ``(ends,)``.
            objective: Weights of the four parts of a :class:`Score`, shape ``(4,)``.
        """
        result, choice = self.answer(weights, objective)
        actions = np.flatnonzero(self.game.mask[self.rows].ravel()) % self.game.spec.actions
        played = actions[self.first - 1 + choice].tolist()
        return BestResponse(Score(*result.tolist()), dict(zip(self.keys, played, strict=True)))

    def answer(self, weights: FloatArray, objective: FloatArray) -> tuple[FloatArray, IntArray]:
        """Does the same in numbers: the :class:`Score`, shape ``(4,)``, and the action index at each decision."""
        return self.maximise(self.gather(self.sequence, self.payoff * weights[:, None]), objective)

    def maximise(self, leaves: FloatArray, objective: FloatArray) -> tuple[FloatArray, IntArray]:
        """Chooses the best action at every decision, from the last to the first.

        Args:
            leaves: What the ends on each sequence give, weighted; shape ``(sequences, parts)``.
            objective: How the parts add up to what is maximised; shape ``(parts,)``.

        Returns:
            The parts under the best policy, shape ``(parts,)``, and its action index at each decision, shape
            ``(decisions,)``.
        """
        values = leaves.copy()
        choice = np.zeros(len(self.rows), dtype=np.int64)
        for numbers, parents, sequences in reversed(self._groups):
            best = argmax(values[sequences] @ objective)
            choice[numbers] = best
            np.add.at(values, parents, values[sequences[np.arange(len(best)), best]])
        return values[0].copy(), choice

    def best_values(self, leaves: FloatArray) -> FloatArray:
        """Solves many problems at once, and returns only what the best policy of each gives.

        Args:
            leaves: What the ends on each sequence give in each problem, weighted; shape ``(sequences, problems)``.
                Written over.
        """
        values = leaves
        for _, parents, sequences in reversed(self._groups):
            np.add.at(values, parents, values[sequences].max(axis=1))
        best: FloatArray = values[0].copy()
        return best

    def played(self, choice: IntArray) -> FloatArray:
        """Returns 1 for each sequence that a policy plays if the others let it, else 0; shape ``(sequences,)``.

        Args:
            choice: The action index at each decision.
        """
        played = np.zeros(self.sequences)
        played[0] = 1.0
        for numbers, parents, sequences in self._groups:
            played[sequences[np.arange(len(numbers)), choice[numbers]]] = played[parents]
        return played

    def gather(self, sequence: IntArray, parts: FloatArray) -> FloatArray:
        """Adds up parts by sequence: from shape ``(n, parts)`` to ``(sequences, parts)``."""
        columns = [np.bincount(sequence, weights=column, minlength=self.sequences) for column in parts.T]
        return np.stack(columns, axis=1)

    def deals(self) -> Deals:
        """Lists the complete deals.

        Raises:
            UnsupportedGameError: The players' moves decide what chance may do, so that no deal is fixed beforehand.
        """
        prefix, parents, chances = self._prefixes()
        complete = np.setdiff1d(np.arange(len(parents)), parents)
        if np.isnan(chances).any() or abs(chances[complete].sum() - 1.0) > _TOLERANCE:
            raise UnsupportedGameError(f"chance in {self.game.spec.name!r} depends on the moves; it has no fixed deals")
        begins = np.zeros((len(complete), len(parents)))
        on = complete.copy()
        while (on >= 0).any():
            begins[np.flatnonzero(on >= 0), on[on >= 0]] = 1.0
            on = np.where(on >= 0, parents[on], -1)
        return Deals(chances[complete], begins[:, prefix[self.ends]])

    @cached_property
    def keys(self) -> list[str]:
        """The view key of each decision."""
        return [self.game.keys[row] for row in self.rows]

    def _sequences(self) -> tuple[IntArray, IntArray]:
        """Returns the seat's last sequence at each state, and how many it has behind it."""
        game = self.game
        first = np.zeros(game.information_states, dtype=np.int64)
        first[self.rows] = self.first
        last, depth = np.zeros(game.states, dtype=np.int64), np.zeros(game.states, dtype=np.int64)
        for level in levels(game):
            edges = np.arange(level.edges.start, level.edges.stop)
            source, child = game.source[edges], game.child[edges]
            own = game.actor[source] == self.seat
            taken = first[game.information[source]] + edges - game.first[source]
            last[child] = np.where(own, taken, last[source])
            depth[child] = depth[source] + own
        return last, depth

    def _parents(self, last: IntArray) -> IntArray:
        game = self.game
        states = np.flatnonzero(game.actor == self.seat)
        parent = np.zeros(game.information_states, dtype=np.int64)
        parent[game.information[states]] = last[states]
        forgets = states[parent[game.information[states]] != last[states]]
        if len(forgets):
            raise UnsupportedGameError(
                f"{game.spec.name!r}: seat {self.seat} forgets what it did before "
                f"{game.keys[game.information[forgets[0]]]!r}; exact values need perfect recall"
            )
        return parent[self.rows]

    def _prefixes(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Numbers the beginnings of deals.

        Returns:
            The beginning that each state has seen; of each beginning the one before it, −1 of the empty one; and its
            probability, NaN if that depends on the moves.
        """
        game = self.game
        prefix, parents, chances = np.zeros(game.states, dtype=np.int64), [-1], [1.0]
        number: dict[tuple[int, int], int] = {}
        for level in levels(game):
            source, child = game.source[level.edges], game.child[level.edges]
            prefix[child] = prefix[source]
            for edge in level.edges.start + np.flatnonzero(game.actor[source] == CHANCE):
                before, outcome = int(prefix[game.source[edge]]), int(game.action[edge])
                chance = chances[before] * float(game.chance[edge])
                found = number.setdefault((before, outcome), len(parents))
                if found == len(parents):
                    parents.append(before)
                    chances.append(chance)
                elif abs(chances[found] - chance) > _TOLERANCE:
                    chances[found] = np.nan
                prefix[game.child[edge]] = found
        return prefix, np.array(parents), np.array(chances)

    @cached_property
    def _groups(self) -> list[Group]:
        """Groups the decisions by depth and number of actions, from the root on."""
        depth = np.zeros(self.game.information_states, dtype=np.int64)
        states = np.flatnonzero(self.game.actor == self.seat)
        depth[self.game.information[states]] = self._depth[states]
        kinds = np.stack([depth[self.rows], self.counts], axis=1)
        return [self._group(np.flatnonzero((kinds == kind).all(axis=1))) for kind in np.unique(kinds, axis=0)]

    def _group(self, numbers: IntArray) -> Group:
        actions = np.arange(self.counts[numbers[0]])
        return Group(numbers, self.parent[numbers], self.first[numbers, None] + actions)


@lru_cache(maxsize=64)
def seat_tree(game: CompiledGame, seat: int) -> SeatTree:
    """Returns the tree of a seat, built once per process."""
    return SeatTree(game, seat)
