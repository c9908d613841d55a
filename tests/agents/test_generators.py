"""Agents that are seeded like the environment draw other numbers, so that they cannot foresee who comes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import mage_agent
from mage_agent.agents import make_agent
from mage_agent.base import agent_generator
from mage_envs.tabular.solve import bayes_adaptive_value, best_response_value
from tests.agents.loop import make, play

TRAIN = {"conservative": 0.3, "aggressive": 0.3, "intermediate": 0.4}


def first_numbers(rng: np.random.Generator) -> list[float]:
    return rng.random(4).tolist()


def test_no_agent_draws_the_numbers_of_an_environment() -> None:
    seeds = [*range(2_000), *(2**bits + k for bits in (32, 52, 64, 96) for k in range(100))]
    environments = {number for seed in seeds for number in first_numbers(np.random.default_rng(seed))}
    agents = [number for seed in seeds for number in first_numbers(agent_generator(seed))]
    assert len(set(agents)) == len(agents)
    assert environments.isdisjoint(agents)


def test_the_two_are_not_correlated() -> None:
    pairs = [(np.random.default_rng(seed).random(), agent_generator(seed).random()) for seed in range(10_000)]
    assert abs(np.corrcoef(np.array(pairs).T)[0, 1]) < 0.03  # Three standard errors.


def test_an_agent_has_one_stream_for_each_seed() -> None:
    assert first_numbers(agent_generator(7)) == first_numbers(agent_generator(7))
    assert first_numbers(agent_generator(7))[0] == pytest.approx(0.27710616780507624, abs=0.0)


def test_thompson_with_the_environments_seed_does_not_foresee_its_opponent() -> None:
    """Its first draw would be the opponent that comes, and its score that of who is told: 1/6 to 1/3, by opponent."""
    env, agent = make(population="kuhn/train", seat=0, episodes=1), make_agent("thompson")
    scores = np.array([play(agent, env, seed)[0] for seed in range(4_000)])
    told = sum(weight * best_response_value("kuhn_poker", name, 0) for name, weight in TRAIN.items())
    half_width = 1.96 * scores.std(ddof=1) / np.sqrt(len(scores))
    assert scores.mean() - half_width < bayes_adaptive_value("kuhn_poker", TRAIN, [0]).total
    assert scores.mean() + half_width < told


def test_all_agents_take_their_generator_from_one_place() -> None:
    room = Path(mage_agent.__file__).parent
    files = [*room.glob("*.py"), *(room / "baselines").glob("*.py")]
    makers = [file.name for file in files if re.search(r"default_rng|SeedSequence|PCG64", file.read_text())]
    assert makers == ["base.py"]
