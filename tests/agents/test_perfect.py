"""A language agent that says the exact best answer scores what the exact best answer scores: nothing is lost between
the prompt, the reply, the memory and the score."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.panels import make_panel
from benchmarks.plan import make_plan
from benchmarks.records import Record
from benchmarks.runner import Scheduling, run
from benchmarks.statistics import mean_estimate
from benchmarks.suites.base import Part, Protocol, Suite
from mage_agent.agents import make_agent
from mage_agent.backends.fake import FakeBackend
from mage_envs.scenarios import SCENARIOS, Scenario
from mage_envs.tabular.solve import best_response_value
from tests.agents.perfect import Adaptive, Perfect
from tests.benchmarks.fakes import ignore_progress

RPS = "mage/RockPaperScissors-meta-v0"
GAMES = {
    "kuhn/train": "kuhn_poker",
    "kuhn/heldout": "kuhn_poker",
    "tictactoe/patterns_heldout": "tic_tac_toe",
    "test/rock": "rock_paper_scissors",
    "test/scissors": "rock_paper_scissors",
    "test/scissors_3": "rock_paper_scissors(throws=3)",
    "test/random": "rock_paper_scissors",
}
SIZES = {"kuhn/train": 60, "kuhn/heldout": 20, "tictactoe/patterns_heldout": 16}
SCENARIOS_HERE = {
    "test/rock": Scenario("test/rock", RPS, "", "", "constant(action=rock)", (0,)),
    "test/scissors": Scenario("test/scissors", RPS, "", "", "constant(action=scissors)", (1,)),
    "test/scissors_3": Scenario("test/scissors_3", RPS, "", "", "constant(action=scissors)", (0,),
                                arguments=(("game", "rock_paper_scissors(throws=3)"),)),
    "test/random": Scenario("test/random", RPS, "", "", "random", (0,)),
}  # fmt: skip
SUITE = Suite(
    "perfect", 1, "for tests",
    tuple(Part(SCENARIOS_HERE.get(name) or SCENARIOS.get(name), SIZES.get(name, 4), ()) for name in GAMES),
    Protocol(episodes=3),
)  # fmt: skip
LANGUAGE = ("zero_shot", *(f'reflective(memory="{mode}")' for mode in ("none", "reflection", "history+reflection")))


def played(suite: Suite, script: Any, folder: Path, *agents: str) -> dict[str, list[Record]]:
    """Runs a suite by the harness. Returns the records of each agent."""
    plan = make_plan(suite, agents, factory=partial(make_agent, model=FakeBackend(script)))
    directory = run(plan, folder / "run", ignore_progress, how=Scheduling(concurrency=16))
    found: dict[str, list[Record]] = {agent.name: [] for agent in plan.manifest.config.agents}
    for record in directory.stream():
        assert record.status == "ok", record.error
        assert not any(episode.invalid for episode in record.episodes)
        found[record.agent].append(record)
    return found


def rewards(records: list[Record]) -> list[list[float]]:
    return [[episode.reward for episode in record.episodes] for record in records]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Record]]:
    script = Perfect(make_panel(SUITE), GAMES)
    return played(SUITE, script, tmp_path_factory.mktemp("perfect"), "best_response", *LANGUAGE)


def test_every_meta_episode_is_that_of_the_exact_best_response(told: dict[str, list[Record]]) -> None:
    exact = rewards(told["best_response"])
    assert len(told) == 1 + len(LANGUAGE)
    for records in told.values():
        assert rewards(records) == exact
        assert all(record.usage.calls for record in records if record.usage)


def test_the_score_is_the_ceiling_within_its_interval(told: dict[str, list[Record]]) -> None:
    for records in told.values():
        for scenario, game in GAMES.items():
            chosen = [record for record in records if record.scenario == scenario]
            over = [
                episode.reward - best_response_value(game, str(record.opponent), record.seat)
                for record in chosen
                for episode in record.episodes
            ]
            found = mean_estimate(over, [record.seed for record in chosen for _ in record.episodes])
            assert found.low is not None
            assert found.high is not None
            assert found.low - 1e-9 <= 0.0 <= found.high + 1e-9, (scenario, found)


def test_what_a_model_writes_in_a_reflection_is_all_that_it_needs_to_be_bayes_optimal(tmp_path: Path) -> None:
    suite = Suite("adaptive", 1, "for tests", (Part(SCENARIOS.get("kuhn/train"), 40, ()),), Protocol(episodes=4))
    script = Adaptive(make_panel(suite), "kuhn/train", 4)
    found = played(suite, script, tmp_path, "bayes_optimal", "reflective", "zero_shot(memory=reflection)")
    exact = rewards(found.pop("bayes_optimal"))
    assert len(found) == 2
    for records in found.values():
        assert rewards(records) == exact
    (forgetful,) = played(suite, script, tmp_path / "none", "react").values()
    assert np.mean(rewards(forgetful)) < np.mean(exact) - 0.02
