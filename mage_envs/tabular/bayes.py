"""The Bayes-adaptive value: the best expected score over N episodes against an opponent that is never revealed.

The opponent is drawn once from a population. What an agent can know of it after some episodes is a belief: a
probability for each *type*. A policy for the rest of the meta-episode is then a best response to the belief's
mixture, in which each end of an episode also pays what the belief that it leads to is worth in the episodes to come.

With fresh instances a type is an opponent. With replayed instances it is an opponent and a deal.
On Kuhn poker, seat 0, against conservative, aggressive and intermediate with equal weights, showdowns hidden:
1/18 chips in one episode, 17/36 in three; seat 1: 1/6 and 103/162.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.opponents.populations import load_population
from mage_envs.tabular.compiled import CompiledGame, compiled_game
from mage_envs.tabular.results import AdaptiveValue, FloatArray, IntArray
from mage_envs.tabular.seat_tree import seat_tree
from mage_envs.tabular.tables import Table, check_seat, load_game, other_seats, strategy_table

MAX_BELIEFS = 200_000
"""Beliefs past which a computation is given up, after about 10 s of Leduc poker (``leduc/train``, N = 3: 72,000)."""

PopulationWeights: TypeAlias = str | Mapping[str, float]
"""Specs of tabular opponents with weights, or the name of a population."""

_DIGITS = 12
_CHUNK = 4_000_000  # Numbers in one array while the beliefs before the last episode are rated.


def bayes_adaptive_value(
    game: str | GameSpec,
    population: PopulationWeights,
    seats: Sequence[int],
    instance: str = "fresh",
    reveal_showdown: bool = True,
) -> AdaptiveValue:
    """Computes the best expected score against an opponent drawn from a population.

    Args:
        game: Name or spec of a small game.
        population: Specs of tabular opponents with weights, which are normalised; or the name of a population.
        seats: The agent's seat in each episode; its length is N.
        instance: ``"fresh"`` draws a new deal for each episode; ``"replay"`` draws one for all, unknown to the agent.
        reveal_showdown: Whether a terminal view tells what the game reveals at its end. The agent always knows its
            own score.

    Returns:
        The value in total, per episode, and per opponent. Among equally good actions the lowest id is taken; the
        parts are those of the policy that follows.

    Raises:
        ValueError: A weight is negative or all are 0, there is no episode, or ``instance`` is neither word.
        UnsupportedGameError: An opponent has no table, the game is too large, or there are too many beliefs:
            :func:`~mage_envs.tabular.bounds.adaptive_bounds` says what can be said then.
    """
    plan = adaptive_plan(game, population, seats, instance, reveal_showdown)
    return AdaptiveValue(float(plan.per_episode.sum()), tuple(plan.per_episode.tolist()), plan.per_opponent())


def adaptive_plan(
    game: str | GameSpec,
    population: PopulationWeights,
    seats: Sequence[int],
    instance: str = "fresh",
    reveal_showdown: bool = True,
) -> AdaptivePlan:
    """Returns the policy behind :func:`bayes_adaptive_value`, which has the same arguments and errors."""
    spec = load_game(game)
    check_episodes(spec, seats, instance)
    if spec.merge:
        raise UnsupportedGameError(
            f"{spec.name!r} merges all ways to a board, and with them what they say about the opponent: it has no "
            "exact Bayes-adaptive value. adaptive_bounds() has bounds"
        )
    weights = tuple(normalised(spec, population).items())
    return _plan(spec, weights, tuple(int(seat) for seat in seats), instance, bool(reveal_showdown))


def check_episodes(spec: GameSpec, seats: Sequence[int], instance: str) -> None:
    """Refuses seats and instances that no meta-episode has.

    Raises:
        ValueError: There is no episode, no such seat, or ``instance`` is neither word.
    """
    if not seats:
        raise ValueError("seats must name the agent's seat in each episode; it is empty")
    for seat in seats:
        check_seat(spec, seat)
    if instance not in ("fresh", "replay"):
        raise ValueError(f"instance must be 'fresh' or 'replay', got {instance!r}")


def normalised(spec: GameSpec, population: PopulationWeights) -> dict[str, float]:
    """Returns the opponents that can come, with weights that add up to 1.

    Raises:
        ValueError: A weight is negative, or all are 0.
    """
    if isinstance(population, str):
        population = dict(load_population(population, spec).members)
    total = sum(population.values())
    if not 0.0 < total < float("inf") or min(population.values()) < 0.0:
        raise ValueError(f"a population needs weights of 0 or more that are not all 0, got {dict(population)!r}")
    return {opponent: weight / total for opponent, weight in population.items() if weight > 0.0}


class SeatModel:
    """An episode in one seat, by type and by what the agent sees of it.

    A *signal* is what the agent has seen of an episode when it is over: its own last sequence, its view and its score.

    Attributes:
        tree: The seat's tree.
        sequence: For each signal, the last sequence of the seat; shape ``(signals,)``.
        seen: Probability of the signal, given type and own sequence; shape ``(types, signals)``.
        score: The same times the score.
        deals: Probability of each deal; a type is an opponent and a deal, in this order. With fresh instances there
            is one "deal", whatever comes.
    """

    def __init__(self, game: CompiledGame, tables: Sequence[Table], seat: int, instance: str, reveal: bool) -> None:
        """Works it out.

        Args:
            game: The game as arrays.
            tables: What each opponent does.
            seat: The agent's.
            instance: ``"fresh"`` or ``"replay"``.
            reveal: Whether terminal views tell what the game reveals.
        """
        tree = self.tree = seat_tree(game, seat)
        reach = np.array([tree.reach(table) for table in tables])
        self.deals: FloatArray = np.ones(1)
        if instance == "replay":
            self.deals, consistent = tree.deals()
            reach = (reach[:, None, :] * consistent[None]).reshape(-1, reach.shape[1])
        else:
            reach *= tree.chance
        shown = tree.game.shown[tree.ends, seat]
        self._reveal = reveal
        names = np.stack([tree.sequence, self._named(shown), self._returns(tree.payoff[:, 0])], axis=1)
        kinds, signal = np.unique(names, axis=0, return_inverse=True)
        self._numbers = {tuple(kind): number for number, kind in enumerate(kinds.tolist())}
        self.sequence: IntArray = kinds[:, 0]
        self.seen = self._by_signal(signal.ravel(), reach)
        self.score = self._by_signal(signal.ravel(), reach * tree.payoff[:, 0])

    @cached_property
    def by_sequence(self) -> FloatArray:
        """The scores of all signals on a sequence together; shape ``(types, sequences)``."""
        return self.tree.gather(self.sequence, self.score.T).T

    def signal(self, sequence: int, view: int, score: float) -> int | None:
        """Returns the number of a signal; None if it cannot be.

        Args:
            sequence: The seat's last sequence.
            view: Number of its terminal view.
            score: What it got.
        """
        named = self._named(np.array([view]))[0]
        return self._numbers.get((sequence, int(named), int(self._returns(np.array([score]))[0])))

    def _named(self, views: IntArray) -> IntArray:
        return views if self._reveal else self.tree.game.unrevealed[views]

    def _returns(self, scores: FloatArray) -> IntArray:
        """Numbers the returns of the game; a score that is none of them gets the nearest."""
        known = np.unique(self.tree.payoff[:, 0])
        nearest: IntArray = np.argmin(abs(np.asarray(scores)[:, None] - known), axis=1)
        return nearest

    def _by_signal(self, signal: IntArray, weights: FloatArray) -> FloatArray:
        rows = [np.bincount(signal, weights=row, minlength=len(self._numbers)) for row in weights]
        return np.array(rows)


class Node(NamedTuple):
    """What is best from a belief on.

    Attributes:
        value: Expected score in this episode and each that follows; shape ``(episodes left,)``.
        choice: The action index at each decision of the seat in this episode; shape ``(decisions,)``.
    """

    value: FloatArray
    choice: IntArray


class AdaptivePlan:
    """The best policy for a meta-episode: what to do at every decision of every episode, from every belief.

    Attributes:
        opponents: Who can come.
        episodes: For each episode the model of its seat.
        prior: The belief at the start; shape ``(types,)``.
        per_episode: Expected score of each episode; shape ``(N,)``.
    """

    def __init__(
        self, spec: GameSpec, weights: Sequence[tuple[str, float]], seats: Sequence[int], instance: str, reveal: bool
    ) -> None:
        """Solves it. Use :func:`adaptive_plan`, which remembers it."""
        self.opponents = tuple(opponent for opponent, _ in weights)
        models = {}
        for seat in sorted(set(seats)):
            tables = [strategy_table(spec, opponent, *other_seats(spec, seat)) for opponent in self.opponents]
            models[seat] = SeatModel(compiled_game(spec), tables, seat, instance, reveal)
        self.episodes = [models[seat] for seat in seats]
        self.prior: FloatArray = np.outer([weight for _, weight in weights], self.episodes[0].deals).ravel()
        self._known: dict[Hashable, Node] = {}
        self._rated = 0
        self.per_episode = self.node(0, self.prior).value

    def node(self, episode: int, belief: FloatArray) -> Node:
        """Returns what is best from a belief at the start of an episode on; worked out once.

        Args:
            episode: 0-based.
            belief: Probability of each type, adding up to 1; shape ``(types,)``.
        """
        key = (episode, np.round(belief, _DIGITS).tobytes())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._best(episode, belief)
        return found

    def posterior(self, episode: int, belief: FloatArray, signal: int) -> FloatArray:
        """Returns the belief after an episode that ended with a signal."""
        weights = belief * self.episodes[episode].seen[:, signal]
        posterior: FloatArray = weights / weights.sum()
        return posterior

    def per_opponent(self) -> dict[str, tuple[float, ...]]:
        """Returns the expected score of each episode for each opponent, if it is the one that came."""
        scores = self._by_type(0, self.prior, {}).reshape(len(self.opponents), -1, len(self.episodes))
        deals = self.episodes[0].deals
        return {o: tuple((deals @ rows).tolist()) for o, rows in zip(self.opponents, scores, strict=True)}

    def _best(self, episode: int, belief: FloatArray) -> Node:
        model, last = self.episodes[episode], episode + 1 == len(self.episodes)
        possible = np.flatnonzero(belief)
        seen = belief[possible, None] * model.seen[possible]
        mass = seen.sum(axis=0)
        parts = np.zeros((len(mass), len(self.episodes) - episode))
        parts[:, 0] = belief[possible] @ model.score[possible]
        if not last:
            self._count(1)
            signals = np.flatnonzero(mass)
            posteriors = np.zeros((len(signals), len(belief)))
            posteriors[:, possible] = (seen[:, signals] / mass[signals]).T
            parts[signals, 1:] = mass[signals, None] * self._values(episode + 1, posteriors)
        leaves = model.tree.gather(model.sequence, parts)
        value, choice = model.tree.maximise(leaves, np.ones(parts.shape[1]))
        return Node(value, choice.astype(np.int16))

    def _by_type(self, episode: int, belief: FloatArray, done: dict[Hashable, FloatArray]) -> FloatArray:
        """Returns the expected score of this episode and each that follows for every type, shape ``(types, left)``."""
        key = (episode, np.round(belief, _DIGITS).tobytes())
        if key not in done:
            model = self.episodes[episode]
            played = model.tree.played(self.node(episode, belief).choice)[model.sequence]
            scores = np.zeros((len(belief), len(self.episodes) - episode))
            scores[:, 0] = model.score @ played
            mass = (belief @ model.seen) * played
            for signal in np.flatnonzero(mass) if scores.shape[1] > 1 else ():
                later = self._by_type(episode + 1, self.posterior(episode, belief, int(signal)), done)
                scores[:, 1:] += model.seen[:, signal, None] * later
            done[key] = scores
        return done[key]

    def _values(self, episode: int, beliefs: FloatArray) -> FloatArray:
        """Returns the value of every belief, shape ``(beliefs, episodes left)``.

        Those of the last episode are rated together; what to do there is worked out when :meth:`node` is asked.
        """
        if episode + 1 < len(self.episodes):
            return np.array([self.node(episode, belief).value for belief in beliefs])
        kinds, number = np.unique(np.round(beliefs, _DIGITS), axis=0, return_inverse=True)
        self._count(len(kinds))
        model = self.episodes[episode]
        rows = max(1, _CHUNK // model.tree.sequences)
        chunks = [kinds[first : first + rows] for first in range(0, len(kinds), rows)]
        values = np.concatenate([model.tree.best_values(model.by_sequence.T @ chunk.T) for chunk in chunks])
        return values[number.ravel(), None]

    def _count(self, beliefs: int) -> None:
        self._rated += beliefs
        if self._rated > MAX_BELIEFS:
            raise UnsupportedGameError(
                f"more than {MAX_BELIEFS:,} beliefs for {len(self.episodes)} episodes; take fewer episodes or "
                "opponents, or the bounds that adaptive_bounds() gives"
            )


@lru_cache(maxsize=8)  # A large one holds 100 MB.
def _plan(
    spec: GameSpec, weights: tuple[tuple[str, float], ...], seats: tuple[int, ...], instance: str, reveal: bool
) -> AdaptivePlan:
    return AdaptivePlan(spec, weights, seats, instance, reveal)
