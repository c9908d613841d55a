"""What a study came to, in numbers.

One observation is one seed: the mean over the panel of that seed, on which all arms and the start played. So an
interval over seeds (Student's t) has in it what differs from training to training, from deal to deal and from reply to
reply; differences are taken seed by seed before they are averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.ceilings import Ceilings, panel_ceilings
from benchmarks.statistics import EMPTY, Estimate, mean_estimate
from benchmarks.study import entries_of, read
from mage_agent.grpo.study import NONE, START, Study, StudyFolder


class Played(NamedTuple):
    """What one trained model came to on the panel of its seed.

    Attributes:
        seed: Its seed.
        n: Meta-episodes with a score.
        errors: Meta-episodes in which the agent failed; they are in no score.
        score: Mean score, by episode.
        collapsed: Whether its training was stopped.
    """

    seed: int
    n: int
    errors: int
    score: tuple[float, ...]
    collapsed: bool = False

    @property
    def gain(self) -> float:
        """Score of the last episode minus score of the first."""
        return self.score[-1] - self.score[0]


class Line(NamedTuple):
    """One row of the table: an arm, or the compared arm under a control, or the start.

    Attributes:
        arm: Its name.
        control: Name of the control; ``none``: as it is.
        summary: What it is, in a line.
        played: By seed, those that have played.
        score: By episode.
        gain: Score of the last episode minus score of the first.
        last_to_base: Last episode's score minus that of the compared arm.
        gain_to_base: Likewise the gain.
        last_to_start: Last episode's score minus that of the start.
        normalised: Last episode's score on the scale on which equilibrium play is 0 and the last episode of the
            Bayes-adaptive policy is 1; empty without exact values, and where there is nothing to gain.
    """

    arm: str
    control: str
    summary: str
    played: tuple[Played, ...]
    score: tuple[Estimate, ...]
    gain: Estimate
    last_to_base: Estimate
    gain_to_base: Estimate
    last_to_start: Estimate
    normalised: Estimate

    @property
    def name(self) -> str:
        """Its name in tables and figures."""
        return self.arm if self.control == NONE else f"{self.arm}, {self.control}"

    def complete(self, meta_episodes: int, seeds: int) -> bool:
        """Whether all that should be there is."""
        return len(self.played) == seeds and all(found.n == meta_episodes for found in self.played)


class Results(NamedTuple):
    """What a study came to.

    Attributes:
        study: The study.
        lines: The start, the compared arm, the same under controls, the other arms: those that have played.
        ceilings: Exact values of the panels, averaged over seeds.
        panels: Hashes of the panels, by seed.
    """

    study: Study
    lines: tuple[Line, ...]
    ceilings: Ceilings
    panels: Mapping[int, str]


def over_seeds(values: Sequence[float]) -> Estimate:
    """Estimates a mean over seeds, with the t interval of n - 1 degrees of freedom; none with one seed."""
    return mean_estimate(values, range(len(values)))


def results(study: Study, folder: StudyFolder) -> Results:
    """Computes what a study came to, as far as it is.

    Args:
        study: The study.
        folder: Where it is kept.
    """
    ceilings = {seed: _ceilings(study, seed) for seed in study.seeds}
    places = [(START, NONE, "the model before training")]
    for each in sorted(study.arms, key=lambda each: each.name != study.compared):
        places += [(each.name, control, each.summary) for control in study.controls_of(each.name)]
    played = {place[:2]: _played(study, folder, *place[:2]) for place in places}
    base, start = played[study.compared, NONE], played[START, NONE]
    lines = []
    for arm, control, summary in places:
        own = played[arm, control]
        if own:
            itself = arm == study.compared and control == NONE
            lines.append(
                Line(
                    arm,
                    control,
                    summary,
                    tuple(own.values()),
                    _scores(own, len(next(iter(own.values())).score)),
                    over_seeds([found.gain for found in own.values()]),
                    EMPTY if itself else _difference(own, base, _last),
                    EMPTY if itself else _difference(own, base, lambda found: found.gain),
                    EMPTY if arm == START else _difference(own, start, _last),
                    _normalised(own, ceilings),
                )
            )
    hashes = {seed: entries_of(study.panel, seed).hash for seed in study.seeds}
    return Results(study, tuple(lines), _average(list(ceilings.values())), hashes)


def _played(study: Study, folder: StudyFolder, arm: str, control: str) -> dict[int, Played]:
    found = {}
    for seed in study.seeds:
        records = read(study.panel, seed, folder.records(arm, seed, control))
        scored = [record for record in records.values() if record.scored]
        if scored:
            by_episode = zip(*([e.reward for e in record.episodes] for record in scored), strict=True)
            score = tuple(float(np.mean(rewards)) for rewards in by_episode)
            collapsed = folder.collapse(arm, seed).exists()
            found[seed] = Played(seed, len(scored), len(records) - len(scored), score, collapsed)
    return found


def _scores(own: Mapping[int, Played], episodes: int) -> tuple[Estimate, ...]:
    return tuple(over_seeds([found.score[n] for found in own.values()]) for n in range(episodes))


def _last(found: Played) -> float:
    return found.score[-1]


def _difference(own: Mapping[int, Played], other: Mapping[int, Played], take: Callable[[Played], float]) -> Estimate:
    return over_seeds([take(own[seed]) - take(other[seed]) for seed in own if seed in other])


def _normalised(own: Mapping[int, Played], ceilings: Mapping[int, Ceilings]) -> Estimate:
    values = []
    for seed, found in own.items():
        zero, adaptive = ceilings[seed].equilibrium, ceilings[seed].adaptive
        if zero is None or adaptive is None or adaptive[-1] - zero < ceilings[seed].least_gap:
            return EMPTY
        values.append((found.score[-1] - zero) / (adaptive[-1] - zero))
    return over_seeds(values)


def _ceilings(study: Study, seed: int) -> Ceilings:
    panel = entries_of(study.panel, seed)
    return panel_ceilings(panel.suite, study.panel.scenario, panel.entries)


def _average(found: Sequence[Ceilings]) -> Ceilings:
    """Averages over panels: shares of opponents may differ by one meta-episode."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if len(known) == len(values) else None

    adaptive = [each.adaptive for each in found]
    known = [each for each in adaptive if each is not None]
    return Ceilings(
        equilibrium=mean([each.equilibrium for each in found]),
        told=mean([each.told for each in found]),
        adaptive=tuple(np.mean(known, axis=0).tolist()) if len(known) == len(found) else None,
        random=mean([each.random for each in found]),
    )
