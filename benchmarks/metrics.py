"""What a row of a board says, computed from the records of one agent in one scenario. Defined in docs/benchmark.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from benchmarks.ceilings import Ceilings
from benchmarks.records import EpisodeFigures, EpisodeRecord, Figures, Record, Refusal, UsageRecord
from benchmarks.statistics import EMPTY, Estimate, cluster_labels, mean_estimate, rate_estimate

Number = TypeVar("Number", int, float)


class EpisodeMetrics(NamedTuple):
    """What episode number n of the meta-episodes came to.

    Attributes:
        score: Mean score.
        win: Share of wins.
        draw: Share of draws.
        loss: Share of losses.
        invalid: Share of episodes with at least one answer that could not be played.
        passed: Share of meta-episodes won by this episode or before (pass@n).
        normalised: Mean score on the scale on which equilibrium play is 0 and the told-the-opponent ceiling is 1.
        regret: Bayes-adaptive value of this episode minus mean score. Below 0 early on, the agent explores less than
            the best one does.
    """

    score: Estimate
    win: Estimate
    draw: Estimate
    loss: Estimate
    invalid: Estimate
    passed: Estimate
    normalised: Estimate
    regret: Estimate


@dataclass(frozen=True)
class RowMetrics:
    """What the records of one agent in one scenario come to.

    Attributes:
        n_expected: Meta-episodes in the panel.
        n_scored: Meta-episodes with a score.
        n_error: Meta-episodes in which the agent failed.
        n_timeout: Meta-episodes that took longer than the wall limit.
        n_forfeit: Scored meta-episodes in which answers that could not be played lost an episode.
        refused: Answers of scored meta-episodes that could not be played, by the reason.
        n_memory_truncated: Prompts of scored meta-episodes from which memory was left out.
        prompt_tokens: Tokens that the agent's model read in all meta-episodes; None if unknown for any.
        completion_tokens: Tokens that it wrote; likewise.
        cost: US dollars for them; likewise.
        episodes: By episode.
        gain: Adaptation gain: score of the last episode minus score of the first, paired.
        regret: Bayes-adaptive value of the whole meta-episode minus the score over it.
    """

    n_expected: int
    n_scored: int
    n_error: int
    n_timeout: int
    n_forfeit: int
    refused: Mapping[Refusal, int]
    n_memory_truncated: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    episodes: tuple[EpisodeMetrics, ...]
    gain: Estimate
    regret: Estimate

    @property
    def complete(self) -> bool:
        """Whether every meta-episode of the panel has a score."""
        return self.n_scored == self.n_expected


def row_metrics(
    records: Iterable[Record | Figures], n_expected: int, episodes: int, ceilings: Ceilings, *, stops: bool = False
) -> RowMetrics:
    """Computes a row.

    Args:
        records: The records of one agent in one scenario, or what of them goes into numbers.
        n_expected: Meta-episodes in the panel.
        episodes: N.
        ceilings: Exact values; empty ones leave ``normalised`` and ``regret`` empty.
        stops: Whether the first win ends the meta-episode. Then what is left to episode 2 are the meta-episodes that an
            agent did not win at once, others for each agent: scores from there on, and the gain, are empty.

    Returns:
        The metrics. Records of status ``error`` and ``timeout`` are counted, and in no score.
    """
    rows = list(records)
    scored = [record for record in rows if record.scored]
    clusters = cluster_labels(_cluster_keys(record) for record in scored)
    played = [_Column(scored, clusters, number) for number in range(episodes)]
    adaptive = ceilings.adaptive or (None,) * episodes
    gains = [(r.episodes[-1].reward - r.episodes[0].reward, c) for r, c in zip(scored, clusters, strict=True)]
    totals = [sum(episode.reward for episode in record.episodes) for record in scored]
    return RowMetrics(
        n_expected=n_expected,
        n_scored=len(scored),
        n_error=sum(record.status == "error" for record in rows),
        n_timeout=sum(record.status == "timeout" for record in rows),
        n_forfeit=sum(record.status == "forfeit" for record in scored),
        refused=sum((Counter(record.refused) for record in scored if record.refused), Counter[Refusal]()),
        n_memory_truncated=sum(record.usage.memory_truncated for record in scored if record.usage),
        prompt_tokens=_total(rows, lambda usage: usage.prompt_tokens),
        completion_tokens=_total(rows, lambda usage: usage.completion_tokens),
        cost=_total(rows, lambda usage: usage.cost),
        episodes=tuple(
            column.metrics(ceilings, best, comparable=not stops or number == 0)
            for number, (column, best) in enumerate(zip(played, adaptive, strict=True))
        ),
        gain=EMPTY if episodes < 2 or stops else mean_estimate([gain for gain, _ in gains], clusters),
        regret=_regret(totals, clusters, None if ceilings.adaptive is None else sum(ceilings.adaptive)),
    )


class _Column:
    """The episodes of one number, of the meta-episodes that got that far."""

    def __init__(self, scored: Sequence[Record | Figures], clusters: Sequence[int], number: int) -> None:
        there = [(r.episodes[number], c) for r, c in zip(scored, clusters, strict=True) if number < len(r.episodes)]
        self.episodes: list[EpisodeRecord | EpisodeFigures] = [episode for episode, _ in there]
        self.clusters = [cluster for _, cluster in there]
        self.passed = [any(episode.outcome == "win" for episode in r.episodes[: number + 1]) for r in scored]
        self.all_clusters = clusters

    def metrics(self, ceilings: Ceilings, adaptive: float | None, *, comparable: bool) -> EpisodeMetrics:
        scores = [episode.reward for episode in self.episodes] if comparable else []
        score = mean_estimate(scores, self.clusters)
        return EpisodeMetrics(
            score=score,
            win=self.rate([episode.outcome == "win" for episode in self.episodes]),
            draw=self.rate([episode.outcome == "draw" for episode in self.episodes]),
            loss=self.rate([episode.outcome == "loss" for episode in self.episodes]),
            invalid=self.rate([episode.invalid > 0 for episode in self.episodes]),
            passed=rate_estimate(self.passed, self.all_clusters),
            normalised=ceilings.normalise(score) if comparable else EMPTY,
            regret=_regret(scores, self.clusters, adaptive) if comparable else EMPTY,
        )

    def rate(self, hits: Sequence[bool]) -> Estimate:
        return rate_estimate(hits, self.clusters)


def _cluster_keys(record: Record | Figures) -> set[tuple[str | None, str]]:
    return {(record.opponent, episode.instance) for episode in record.episodes}


def _total(records: Iterable[Record | Figures], take: Callable[[UsageRecord], Number | None]) -> Number | None:
    """Returns the sum over records; None if there are none, or one does not know its number."""
    total: Number | None = None
    for record in records:
        number = None if record.usage is None else take(record.usage)
        if number is None:
            return None
        total = number if total is None else total + number
    return total


def _regret(scores: Sequence[float], clusters: Sequence[int], best: float | None) -> Estimate:
    return EMPTY if best is None else mean_estimate([best - score for score in scores], clusters)
