"""Credit and advantages once more, a turn at a time by explicit sums, as the papers write them; and random batches."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from mage_agent.grpo.advantages import CreditRule
from mage_agent.grpo.samples import Ending, Phase, Played, Task, Turn

LONGEST = 8
"""Most tokens of a reply in these batches."""


class Valued(NamedTuple):
    key: Hashable
    value: float


def turn(
    phase: Phase = "play", episode: int = 0, *, valid: bool = True, tokens: int = 1, anchor: str = "start"
) -> Turn:
    return Turn((1,), (2,) * tokens, None, False, phase, episode, 0.0, valid, anchor)


def ending(score: float, outcome: str = "draw") -> Ending:
    return Ending(score, outcome, 1, 0)


def assert_close(actual: npt.ArrayLike, expected: npt.ArrayLike) -> None:
    np.testing.assert_allclose(np.asarray(actual, dtype=float), np.asarray(expected, dtype=float), rtol=0.0, atol=1e-12)


@st.composite
def batches(draw: st.DrawFn) -> list[Played]:
    """Meta-episodes of any shape: none, unequal lengths, episodes without turns, repeated and missing reflections."""
    return [draw(meta_episodes(member)) for member in range(draw(st.integers(0, 6)))]


@st.composite
def meta_episodes(draw: st.DrawFn, member: int) -> Played:
    opponent, seat, seed = draw(st.sampled_from("ab")), draw(st.sampled_from([0, None])), draw(st.integers(0, 1))
    turns: list[Turn] = []
    endings: list[Ending] = []
    for episode in range(draw(st.integers(1, 4))):
        for phase, most in (("play", 4), ("reflect", 2)):
            for _ in range(draw(st.integers(0, most))):
                tokens, anchor = draw(st.integers(0, LONGEST)), draw(st.sampled_from("xyz"))
                turns.append(turn(phase, episode, valid=draw(st.booleans()), tokens=tokens, anchor=anchor))  # type: ignore[arg-type]
        endings.append(ending(draw(st.floats(-2, 2)), draw(st.sampled_from(["win", "draw", "loss"]))))
    return Played(Task("kuhn/train", opponent, seat, seed, member), tuple(turns), tuple(endings))


def rules() -> st.SearchStrategy[CreditRule]:
    """Every option, and discounts and weights at the ends of their ranges as well as inside."""
    unit = st.sampled_from([0.0, 0.6, 0.95, 1.0])
    return st.builds(
        CreditRule,
        max_completion=st.just(LONGEST),
        objective=st.sampled_from(["differential", "cumulative", "final", "single"]),
        gamma_step=unit,
        gamma_traj=unit,
        reward=st.sampled_from(["outcome", "score"]),
        reward_scale=st.sampled_from([0.1, 0.2]),
        invalid_penalty=unit,
        length_penalty=unit,
        estimator=st.sampled_from(["grpo", "gigpo"]),
        normalisation=st.sampled_from(["mean", "mean_std"]),
        std_floor=st.sampled_from([0.1, 1.0]),
        step_weight=unit,
        anchors=st.sampled_from(["across", "within"]),
        grouping=st.sampled_from(["opponent", "task"]),
    )


class SlowCredit:
    """The returns of one meta-episode."""

    def __init__(self, played: Played, rule: CreditRule) -> None:
        self.rule, self.turns = rule, played.turns
        self.linked = rule.objective != "single"
        self.rewards = [rule.reward_scale * self._reward(each) for each in played.endings]

    def _reward(self, each: Ending) -> float:
        return each.score if self.rule.reward == "score" else {"win": 10.0, "draw": 0.0, "loss": -10.0}[each.outcome]

    def cost(self, each: Turn) -> float:
        invalid = 0.0 if each.valid else self.rule.invalid_penalty
        length, half = len(each.completion_ids), self.rule.max_completion / 2
        return -invalid - (self.rule.length_penalty * (length - half) / half if length > half else 0.0)

    def target(self, n: int) -> float:
        match self.rule.objective:
            case "differential":
                return self.rewards[n] - (self.rewards[n - 1] if n else 0.0)
            case "final":
                return self.rewards[n] if n == len(self.rewards) - 1 else 0.0
        return self.rewards[n]

    def plays(self, n: int) -> list[Turn]:
        return [each for each in self.turns if each.episode == n and each.phase == "play"]

    def inside(self, n: int, t: int) -> float:
        costs = [self.cost(each) for each in self.plays(n)]
        if not costs:
            return self.target(n)
        costs[-1] += self.target(n)
        return math.fsum(self.rule.gamma_step ** (k - t) * costs[k] for k in range(t, len(costs)))

    def ahead(self, n: int) -> float:
        if not self.linked:
            return 0.0
        later = range(n + 1, len(self.rewards))
        return math.fsum(self.rule.gamma_traj ** (m - n) * self.inside(m, 0) for m in later)

    def episode_return(self, n: int) -> float:
        return self.inside(n, 0) + self.ahead(n)

    def step_return(self, index: int) -> float:
        each = self.turns[index]
        n = each.episode
        if each.phase == "reflect":
            follows = self.linked and n + 1 < len(self.rewards)
            return self.cost(each) + (self.episode_return(n + 1) if follows else 0.0)
        before = sum(other.episode == n and other.phase == "play" for other in self.turns[:index])
        return self.inside(n, before) + self.ahead(n)

    def trajectory_return(self) -> float:
        reflections = [each for each in self.turns if each.phase == "reflect"]
        costs = [self.rule.gamma_traj ** (each.episode + 1) * self.cost(each) for each in reflections]
        return self.episode_return(0) + math.fsum(costs)


def compared(mine: Valued, all_of_them: Sequence[Valued], rule: CreditRule) -> float:
    group = [each.value for each in all_of_them if each.key == mine.key]
    if len(group) == 1:
        return 0.0
    mean = math.fsum(group) / len(group)
    if rule.normalisation == "mean":
        return mine.value - mean
    variance = math.fsum((value - mean) ** 2 for value in group) / (len(group) - 1)
    return (mine.value - mean) / max(math.sqrt(variance), rule.std_floor)


def slow_advantages(played: Sequence[Played], rule: CreditRule) -> list[float]:
    credit = [SlowCredit(each, rule) for each in played]
    groups = [(t.scenario, t.seat, t.seed, t.opponent if rule.grouping == "opponent" else "") for t, _, _ in played]
    where = [(m, index, each) for m, one in enumerate(played) for index, each in enumerate(one.turns)]
    metas = [Valued(groups[m], each.trajectory_return()) for m, each in enumerate(credit)]
    if rule.estimator == "grpo" and rule.objective != "single":
        return [compared(metas[m], metas, rule) for m, _, _ in where]
    episodes = [
        Valued((groups[m], n), each.episode_return(n))
        for m, each in enumerate(credit)
        for n in range(len(each.rewards))
    ]
    returns = [credit[m].step_return(index) for m, index, _ in where]
    reflections = [
        Valued((groups[m], each.episode), value)
        for (m, _, each), value in zip(where, returns, strict=True)
        if each.phase == "reflect"
    ]
    steps = [
        Valued((groups[m], each.phase, each.anchor, each.episode if rule.anchors == "within" else 0), value)
        for (m, _, each), value in zip(where, returns, strict=True)
    ]
    found = []
    for (m, _, each), value, step in zip(where, returns, steps, strict=True):
        if each.phase == "reflect":
            episode_level = compared(Valued((groups[m], each.episode), value), reflections, rule)
        else:
            mine = Valued((groups[m], each.episode), credit[m].episode_return(each.episode))
            episode_level = compared(mine, episodes, rule)
        weight = rule.step_weight if rule.estimator == "gigpo" else 0.0
        found.append(episode_level + weight * compared(step, steps, rule))
    return found
