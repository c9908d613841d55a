"""Bounds of the Bayes-adaptive value, for where it is too large to be computed.

Above: what an agent gets that is told the opponent (with replayed instances, after the first episode the deal too).
Below: the larger of what two agents get. One learns nothing and plays the best response to the mixture of all
opponents, which is exact, and known for games that are trees. The other is Thompson sampling, which draws an opponent
from its belief and plays the best response to it for an episode (W. R. Thompson, Biometrika 25, 1933). Its value is
estimated by play, with a standard error: only beliefs are drawn, the score of an episode is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.games.positions import CHANCE, TERMINAL
from mage_envs.tabular import sweeps
from mage_envs.tabular.bayes import PopulationWeights, SeatModel, check_episodes, normalised
from mage_envs.tabular.compiled import compiled_game
from mage_envs.tabular.results import FloatArray, IntArray, weights_of
from mage_envs.tabular.tables import load_game, other_seats, strategy_table, tremble

TREMBLING = 1e-3
"""Probability with which Thompson sampling takes opponents to move at random: then nothing is impossible."""


@dataclass(frozen=True)
class AdaptiveBounds:
    """Bounds of what the best adaptive policy gets.

    Attributes:
        lower: Total of the better of the two agents below.
        lower_error: Standard error of ``lower``, 0 if it is exact.
        lower_per_episode: The same in each episode.
        upper: Total of an agent that is told the opponent.
        upper_per_episode: The same in each episode.
    """

    lower: float
    lower_error: float
    lower_per_episode: tuple[float, ...]
    upper: float
    upper_per_episode: tuple[float, ...]


def adaptive_bounds(
    game: str | GameSpec,
    population: PopulationWeights,
    seats: Sequence[int],
    instance: str = "fresh",
    reveal_showdown: bool = True,
    runs: int = 10_000,
    seed: int = 0,
) -> AdaptiveBounds:
    """Bounds the best expected score against an opponent drawn from a population.

    The arguments and errors are those of :func:`~mage_envs.tabular.bayes.bayes_adaptive_value`, and two more. Games
    with ``merge`` are taken, if they deal nothing.

    Args:
        game: Name or spec of a small game.
        population: Specs of tabular opponents with weights, or the name of a population.
        seats: The agent's seat in each episode.
        instance: ``"fresh"`` or ``"replay"``.
        reveal_showdown: Whether a terminal view tells what the game reveals at its end.
        runs: Meta-episodes that are drawn for the lower bound; its error falls with the square root.
        seed: Of their generator.
    """
    spec = load_game(game)
    check_episodes(spec, seats, instance)
    if runs < 2:
        raise ValueError(f"runs must be at least 2, for a standard error, got {runs!r}")
    weights = normalised(spec, population)
    kinds = {seat: _kind(spec, tuple(weights), seat, instance, reveal_showdown) for seat in sorted(set(seats))}
    episodes = [kinds[seat] for seat in seats]
    shares = np.array(list(weights.values()))
    later = [kind.told if number == 0 else kind.told_deal for number, kind in enumerate(episodes)]
    upper = [float(shares @ told) for told in later]
    types, scores = _thompson(episodes, shares, runs, np.random.default_rng(seed))
    totals = scores.sum(axis=1)
    learning = scores.mean(axis=0)
    fixed = np.array([kind.mixture(shares) for kind in episodes])
    better, error = (fixed, 0.0) if fixed.sum() > learning.sum() else (learning, _error(types, totals))
    return AdaptiveBounds(
        lower=float(better.sum()),
        lower_error=error,
        lower_per_episode=tuple(better.tolist()),
        upper=float(sum(upper)),
        upper_per_episode=tuple(upper),
    )


class _Kind(ABC):
    """What happens in an episode of one seat, for K opponents as they are and K policies that answer one each.

    Attributes:
        told: Score of the best response to each opponent; shape ``(K,)``.
        told_deal: The same for an agent that knows the deal as well, where that is repeated; shape ``(K,)``.
        deals: Probability of each deal; a type is an opponent and a deal.
        score: Expected score of each policy against each type; shape ``(types, K)``.
    """

    told: FloatArray
    told_deal: FloatArray
    deals: FloatArray
    score: FloatArray

    def mixture(self, shares: FloatArray) -> float:
        """Returns the score of the best response to the mixture of all opponents, −inf if that is not known."""
        return -np.inf

    @abstractmethod
    def likelihood(self, types: IntArray, drawn: IntArray, rng: np.random.Generator) -> FloatArray:
        """Plays episodes. Returns how likely each type makes what was seen; shape ``(runs, types)``."""


class _Tree(_Kind):
    """An episode of a game with perfect recall: what is seen of it is a signal."""

    def __init__(self, spec: GameSpec, opponents: Sequence[str], seat: int, instance: str, reveal: bool) -> None:
        game, others = compiled_game(spec), other_seats(spec, seat)
        tables = [strategy_table(spec, opponent, *others) for opponent in opponents]
        trembling = [tremble(game, table, TREMBLING) for table in tables]
        model = SeatModel(game, tables, seat, instance, reveal)
        tree, aim = model.tree, weights_of("score")
        answers = [tree.answer(tree.chance * tree.reach(table), aim)[1] for table in trembling]
        self.deals, self._seen = model.deals, model.seen
        self._believed = SeatModel(game, trembling, seat, instance, reveal).seen
        self._played = np.array([tree.played(answer) for answer in answers])[:, model.sequence]
        self.score = model.score @ self._played.T
        self.told = np.array([tree.answer(tree.chance * tree.reach(table), aim)[0] @ aim for table in tables])
        self._reach = np.array([tree.chance * tree.reach(table) for table in tables])
        self._tree, self.told_deal = tree, self.told
        if instance == "replay":
            fits = tree.deals().fits
            values = [[tree.answer(tree.reach(table) * deal, aim)[0] @ aim for deal in fits] for table in tables]
            self.told_deal = np.array(values) @ self.deals

    def mixture(self, shares: FloatArray) -> float:
        """Solves the tree once more."""
        aim = weights_of("score")
        return float(self._tree.answer(shares @ self._reach, aim)[0] @ aim)

    def likelihood(self, types: IntArray, drawn: IntArray, rng: np.random.Generator) -> FloatArray:
        """Draws a signal for each run."""
        signals = np.zeros(len(types), dtype=np.int64)
        for kind, answer in np.unique(np.stack([types, drawn], axis=1), axis=0):
            runs = np.flatnonzero((types == kind) & (drawn == answer))
            chances = self._seen[kind] * self._played[answer]
            signals[runs] = rng.choice(len(chances), size=len(runs), p=chances / chances.sum())
        believed: FloatArray = self._believed[:, signals].T
        return believed


class _Board(_Kind):
    """An episode of a game with merged boards, in which everything is seen and nothing is dealt."""

    def __init__(self, spec: GameSpec, opponents: Sequence[str], seat: int) -> None:
        game, others, aim = compiled_game(spec), other_seats(spec, seat), weights_of("score")
        self._game, self._seat, self.deals = game, seat, np.ones(1)
        self._tables = np.array([strategy_table(spec, opponent, *others) for opponent in opponents])
        self._believed = np.array([tremble(game, table, TREMBLING) for table in self._tables])
        answers = [sweeps.best_response(game, table, seat, aim).policy for table in self._believed]
        own = np.array([strategy_table(spec, answer, seat) for answer in answers])
        self._answers = own.argmax(axis=2)
        self.score = np.array(
            [[sweeps.evaluate(game, table + answer, seat).score for answer in own] for table in self._tables]
        )
        self.told = np.array([sweeps.best_response(game, table, seat, aim).result.score for table in self._tables])
        self.told_deal = self.told

    def likelihood(self, types: IntArray, drawn: IntArray, rng: np.random.Generator) -> FloatArray:
        """Plays the runs side by side."""
        game, found = self._game, np.ones((len(types), len(self._tables)))
        states = np.zeros(len(types), dtype=np.int64)
        while len(runs := np.flatnonzero(game.actor[states] != TERMINAL)):
            rows = game.information[states[runs]]
            own = game.actor[states[runs]] == self._seat
            cumulative = self._tables[types[runs], rows].cumsum(axis=1)
            sampled = (cumulative > rng.random((len(runs), 1)) * cumulative[:, -1:]).argmax(axis=1)
            actions = np.where(own, self._answers[drawn[runs], rows], sampled)
            found[runs] *= np.where(own[:, None], 1.0, self._believed[:, rows, actions].T)
            states[runs] = game.child[game.first[states[runs]] + game.move[rows, actions]]
        return found


def _thompson(
    episodes: Sequence[_Kind], shares: FloatArray, runs: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Plays runs, in which types come as often as they should and not by chance.

    Returns:
        The type of each run, and the expected score of each episode given the type and what was drawn; ``(runs, N)``.
    """
    prior = np.outer(shares, episodes[0].deals).ravel()
    belief = np.tile(prior, (runs, 1))
    types = np.searchsorted(prior.cumsum()[:-1], (np.arange(runs) + rng.random()) / runs, side="right")
    scores = np.zeros((runs, len(episodes)))
    for number, kind in enumerate(episodes):
        cumulative = belief.reshape(runs, len(shares), -1).sum(axis=2).cumsum(axis=1)
        drawn = (cumulative > rng.random((runs, 1)) * cumulative[:, -1:]).argmax(axis=1)
        scores[:, number] = kind.score[types, drawn]
        belief = belief * kind.likelihood(types, drawn, rng)
        belief /= belief.sum(axis=1, keepdims=True)
    return types, scores


def _error(types: IntArray, totals: FloatArray) -> float:
    """Returns the standard error of a mean over runs whose types were not drawn."""
    counts = np.maximum(np.bincount(types), 1)
    means = np.bincount(types, weights=totals) / counts
    return float(np.sqrt(((totals - means[types]) ** 2).sum()) / len(types))


@lru_cache(maxsize=32)
def _kind(spec: GameSpec, opponents: tuple[str, ...], seat: int, instance: str, reveal: bool) -> _Kind:
    if not spec.merge:
        return _Tree(spec, opponents, seat, instance, reveal)
    if CHANCE in compiled_game(spec).actor:
        raise UnsupportedGameError(f"{spec.name!r} merges boards and deals something: no bounds are known")
    return _Board(spec, opponents, seat)
