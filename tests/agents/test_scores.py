"""How well the agents do, over many seeded meta-episodes. Intervals are 95 %, normal."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from mage_agent.agents import make_agent
from mage_envs.tabular.solve import bayes_adaptive_value, best_response_value
from tests.agents.loop import make, play

META_EPISODES = 2_000
TRAIN = {"conservative": 0.3, "aggressive": 0.3, "intermediate": 0.4}


def scores(name: str, population: str, seat: int | str = "alternate") -> npt.NDArray[np.float64]:
    """Returns the score of every episode, shape ``(META_EPISODES, 3)``."""
    env, agent = make(population=population, seat=seat), make_agent(name)
    return np.array([play(agent, env, seed) for seed in range(META_EPISODES)])


def half_width(sample: npt.NDArray[np.float64]) -> float:
    return float(1.96 * sample.std(ddof=1) / np.sqrt(len(sample)))


def test_thompson_beats_equilibrium_by_the_last_episode() -> None:
    """Issue 2, item 7. Pairs share opponent, seats and deals, so the interval is that of the difference."""
    learned, fixed = scores("thompson", "kuhn/train"), scores("equilibrium", "kuhn/train")
    gain = learned[:, -1] - fixed[:, -1]
    assert gain.mean() - half_width(gain) > 0.0
    assert learned[:, -1].mean() > learned[:, 0].mean()


@pytest.mark.parametrize("seat", [0, 1])
def test_thompson_stays_below_the_bayes_adaptive_value(seat: int) -> None:
    total = scores("thompson", "kuhn/train", seat).sum(axis=1)
    assert total.mean() - half_width(total) < bayes_adaptive_value("kuhn_poker", TRAIN, [seat] * 3).total


@pytest.mark.parametrize("seat", [0, 1])
def test_best_response_scores_its_exact_value(seat: int) -> None:
    means = scores("best_response", "kuhn/train", seat).mean(axis=1)
    exact = sum(weight * best_response_value("kuhn_poker", name, seat) for name, weight in TRAIN.items())
    assert means.mean() == pytest.approx(exact, abs=half_width(means))
