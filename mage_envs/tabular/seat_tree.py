"""A game as one seat sees it: its decisions in a tree, and all terminal histories hanging on its action sequences.

A *sequence* is one (decision, action) of the seat; with perfect recall it stands for all that the seat did before.
What the others and chance do is a weight of each terminal history, so everything that can be asked of one seat
against fixed strategies is linear in those weights: a best response is one pass from the leaves to the root.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec, View
from mage_envs.tabular.histories import History, decision_views, terminal_histories
from mage_envs.tabular.results import BestResponse, FloatArray, IntArray, Score, argmax
from mage_envs.tabular.tables import Table, check_seat

_OUTCOMES = ("win", "draw", "loss")
_TOLERANCE = 1e-9


class Decision(NamedTuple):
    """A decision of the seat; its actions are the sequences ``first``, ``first + 1``, and so on.

    Attributes:
        key: View key.
        parent: The sequence that leads here; 0 is the empty one.
        first: The sequence of its first legal action.
        legal: Legal action ids.
    """

    key: str
    parent: int
    first: int
    legal: tuple[int, ...]


class Level(NamedTuple):
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
        fits: 1 where a history agrees with a deal; shape ``(deals, histories)``.
    """

    probabilities: FloatArray
    fits: FloatArray


class SeatTree:
    """The tree of one seat.

    Attributes:
        decisions: Parents before children.
        sequences: Number of sequences, the empty one (number 0) included.
        histories: All terminal histories.
        sequence: For each history, the last sequence of the seat; shape ``(histories,)``.
        payoff: For each history, the :class:`Score` of the seat; shape ``(histories, 4)``.
        chance: For each history, the probability of its chance outcomes; shape ``(histories,)``.
    """

    def __init__(self, spec: GameSpec, seat: int) -> None:
        """Builds the tree. Use :func:`seat_tree`, which remembers it."""
        check_seat(spec, seat)
        self.spec, self.seat = spec, seat
        self.histories = terminal_histories(spec)
        self.decisions: list[Decision] = []
        self.sequences = 1
        self._known: dict[str, Decision] = {}
        views = decision_views(spec)[seat]
        self.sequence: IntArray = np.array([self._grow(history, views) for history in self.histories])
        self.payoff: FloatArray = np.array([_payoff(history, seat) for history in self.histories])
        self.chance: FloatArray = np.array([history.chance for history in self.histories])

    def reach(self, tables: Mapping[int, Table]) -> FloatArray:
        """Returns the probability that the strategies of other seats allow each history, shape ``(histories,)``.

        Args:
            tables: A table for each other seat. Chance is not in it: multiply by :attr:`chance`.
        """
        weights = np.ones(len(self.histories))
        for number, history in enumerate(self.histories):
            for seat, key, index in history.moves:
                if seat != self.seat:
                    weights[number] *= tables[seat][key][index]
        return weights

    def deals(self) -> Deals:
        """Lists the complete deals.

        Raises:
            UnsupportedGameError: The players' moves decide what chance may do, so that no deal is fixed beforehand.
        """
        chance = {history.deal: history.chance for history in self.histories}
        inner = {deal[:length] for deal in chance for length in range(len(deal))}
        complete = [deal for deal in chance if deal not in inner]
        probabilities = np.array([chance[deal] for deal in complete])
        if abs(probabilities.sum() - 1.0) > _TOLERANCE:
            raise UnsupportedGameError(f"chance in {self.spec.name!r} depends on the moves; it has no fixed deals")
        fits = [[deal[: len(history.deal)] == history.deal for history in self.histories] for deal in complete]
        return Deals(probabilities, np.array(fits, dtype=np.float64))

    def best_response(self, weights: FloatArray, objective: FloatArray) -> BestResponse:
        """Finds the best policy of the seat.

        Args:
            weights: Of each history: chance times the reach of the other seats; shape ``(histories,)``.
            objective: Weights of the four parts of a :class:`Score`, shape ``(4,)``.
        """
        leaves = np.zeros((self.sequences, 4))
        np.add.at(leaves, self.sequence, self.payoff * weights[:, None])
        result, choice = self.maximise(leaves, objective)
        policy = {d.key: d.legal[index] for d, index in zip(self.decisions, choice, strict=True)}
        return BestResponse(Score(*result.tolist()), policy)

    def maximise(self, leaves: FloatArray, objective: FloatArray) -> tuple[FloatArray, IntArray]:
        """Chooses the best action at every decision, from the last to the first.

        Args:
            leaves: What the histories that end on each sequence give, weighted; shape ``(sequences, parts)``.
            objective: How the parts add up to what is maximised; shape ``(parts,)``.

        Returns:
            The parts under the best policy, shape ``(parts,)``, and its action index at each decision, shape
            ``(decisions,)``.
        """
        values = leaves.copy()
        choice = np.zeros(len(self.decisions), dtype=np.int64)
        for numbers, parents, sequences in reversed(self._levels):
            best = argmax(values[sequences] @ objective)
            choice[numbers] = best
            np.add.at(values, parents, values[sequences[np.arange(len(best)), best]])
        return values[0].copy(), choice

    def evaluate(self, table: Table, weights: FloatArray) -> Score:
        """Returns the expected result of a table of this seat; ``weights`` as in :meth:`best_response`."""
        own = np.ones(self.sequences)
        for key, parent, first, legal in self.decisions:
            own[first : first + len(legal)] = own[parent] * np.array(table[key])
        return Score(*((weights * own[self.sequence]) @ self.payoff).tolist())

    @cached_property
    def _levels(self) -> list[Level]:
        """Groups the decisions by depth and number of actions, from the root on."""
        depth = np.zeros(self.sequences, dtype=np.int64)
        groups: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, (_, parent, first, legal) in enumerate(self.decisions):
            depth[first : first + len(legal)] = depth[parent] + 1
            groups[int(depth[first]), len(legal)].append(number)
        return [self._level(numbers, actions) for (_, actions), numbers in sorted(groups.items())]

    def _level(self, numbers: list[int], actions: int) -> Level:
        parents = np.array([self.decisions[number].parent for number in numbers])
        firsts = np.array([self.decisions[number].first for number in numbers])
        return Level(np.array(numbers), parents, firsts[:, None] + np.arange(actions))

    def _grow(self, history: History, views: Mapping[str, View]) -> int:
        """Adds the decisions of a history to the tree and returns its last sequence."""
        sequence = 0
        for seat, key, index in history.moves:
            if seat == self.seat:
                decision = self._known.get(key) or self._add(views[key], sequence)
                if decision.parent != sequence:
                    raise UnsupportedGameError(
                        f"{self.spec.name!r}: seat {self.seat} forgets what it did before {key!r}; exact values need "
                        "perfect recall"
                    )
                sequence = decision.first + index
        return sequence

    def _add(self, view: View, parent: int) -> Decision:
        decision = Decision(view.key, parent, self.sequences, view.legal)
        self._known[view.key] = decision
        self.decisions.append(decision)
        self.sequences += len(view.legal)
        return decision


@lru_cache(maxsize=64)
def seat_tree(spec: GameSpec, seat: int) -> SeatTree:
    """Returns the tree of a seat, built once per process."""
    return SeatTree(spec, seat)


def _payoff(history: History, seat: int) -> tuple[float, ...]:
    returns = history.position.returns
    outcome = history.position.spec.outcome(returns, seat)
    return (returns[seat], *(float(outcome == name) for name in _OUTCOMES))
