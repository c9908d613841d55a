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

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.opponents.populations import load_population
from mage_envs.tabular.results import AdaptiveValue, FloatArray, IntArray
from mage_envs.tabular.seat_tree import SeatTree, seat_tree
from mage_envs.tabular.tables import load_game, other_tables

MAX_BELIEFS = 100_000
"""Beliefs past which a computation is given up, after about 25 s of Leduc poker (``leduc/train``, N = 3: 72,000)."""

_DIGITS = 12


def bayes_adaptive_value(
    game: str | GameSpec,
    population: str | Mapping[str, float],
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
        The value in total and per episode. Among equally good actions the lowest id is taken; the parts per episode
        are those of the policy that follows.

    Raises:
        ValueError: A weight is negative or all are 0, there is no episode, or ``instance`` is neither word.
        UnsupportedGameError: An opponent has no table, the game is too large, or there are too many beliefs.
    """
    spec = load_game(game)
    if not seats:
        raise ValueError("seats must name the agent's seat in each episode; it is empty")
    if instance not in ("fresh", "replay"):
        raise ValueError(f"instance must be 'fresh' or 'replay', got {instance!r}")
    if isinstance(population, str):
        population = dict(load_population(population, spec).members)
    weights = _normalised(population)
    models = {seat: _SeatModel(spec, list(weights), seat, instance, reveal_showdown) for seat in sorted(set(seats))}
    prior = np.array(list(weights.values()))
    if instance == "replay":
        prior = np.outer(prior, models[seats[0]].deal_probabilities).ravel()
    per_episode = _Solver([models[seat] for seat in seats]).value(0, prior)
    return AdaptiveValue(float(per_episode.sum()), tuple(per_episode.tolist()))


class _SeatModel:
    """An episode in one seat, by type and by what the agent sees of it.

    Attributes:
        tree: The seat's tree.
        sequence: For each signal, the last sequence of the seat; shape ``(signals,)``.
        seen: Probability of the signal, given type and own sequence; shape ``(types, signals)``.
        score: The same times the score.
    """

    def __init__(self, spec: GameSpec, opponents: Sequence[str], seat: int, instance: str, reveal: bool) -> None:
        tree = self.tree = seat_tree(spec, seat)
        reach = np.array([tree.reach(other_tables(spec, opponent, seat)) for opponent in opponents])
        if instance == "replay":
            self.deal_probabilities, consistent = tree.deals()
            reach = (reach[:, None, :] * consistent[None]).reshape(-1, reach.shape[1])
        else:
            reach *= tree.chance
        signal, self.sequence = _signals(tree, reveal)
        self.seen = np.zeros((len(reach), len(self.sequence)))
        self.score = np.zeros_like(self.seen)
        np.add.at(self.seen.T, signal, reach.T)
        np.add.at(self.score.T, signal, (reach * tree.payoff[:, 0]).T)


class _Solver:
    """Dynamic programming over beliefs, remembered by episode and belief."""

    def __init__(self, episodes: Sequence[_SeatModel]) -> None:
        self.episodes = episodes
        self.known: dict[Hashable, FloatArray] = {}

    def value(self, episode: int, belief: FloatArray) -> FloatArray:
        """Returns the expected score in this episode and each that follows, from a normalised belief."""
        key = (episode, np.round(belief, _DIGITS).tobytes())
        found = self.known.get(key)
        if found is None:
            self._check_size()
            found = self.known[key] = self._best(episode, belief)
        return found

    def _best(self, episode: int, belief: FloatArray) -> FloatArray:
        model, last = self.episodes[episode], episode + 1 == len(self.episodes)
        possible = np.flatnonzero(belief)
        seen = belief[possible, None] * model.seen[possible]
        mass = seen.sum(axis=0)
        parts = np.zeros((len(mass), len(self.episodes) - episode))
        parts[:, 0] = belief[possible] @ model.score[possible]
        for signal in () if last else np.flatnonzero(mass):
            posterior = np.zeros_like(belief)
            posterior[possible] = seen[:, signal] / mass[signal]
            parts[signal, 1:] = mass[signal] * self.value(episode + 1, posterior)
        leaves = np.zeros((model.tree.sequences, parts.shape[1]))
        np.add.at(leaves, model.sequence, parts)
        return model.tree.maximise(leaves, np.ones(parts.shape[1]))[0]

    def _check_size(self) -> None:
        if len(self.known) >= MAX_BELIEFS:
            raise UnsupportedGameError(
                f"more than {MAX_BELIEFS:,} beliefs for {len(self.episodes)} episodes; take fewer episodes or "
                "opponents, or bound the value from above by the best response to each opponent"
            )


def _signals(tree: SeatTree, reveal: bool) -> tuple[IntArray, IntArray]:
    """Groups histories that end alike for the seat: the signal of each history, and the sequence of each signal."""
    spec, seat = tree.spec, tree.seat
    numbers: dict[Hashable, int] = {}
    signal = np.zeros(len(tree.histories), dtype=np.int64)
    for index, history in enumerate(tree.histories):
        view = history.position.view(seat)
        key = view.key if reveal else spec.information_state(history.position.state(), seat)
        seen = (int(tree.sequence[index]), key, history.position.returns[seat])
        signal[index] = numbers.setdefault(seen, len(numbers))
    sequence = np.zeros(len(numbers), dtype=np.int64)
    sequence[signal] = tree.sequence
    return signal, sequence


def _normalised(population: Mapping[str, float]) -> dict[str, float]:
    total = sum(population.values())
    if not 0.0 < total < float("inf") or min(population.values()) < 0.0:
        raise ValueError(f"a population needs weights of 0 or more that are not all 0, got {dict(population)!r}")
    return {spec: weight / total for spec, weight in population.items() if weight > 0.0}
