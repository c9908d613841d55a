"""What is said below a run's boards: who forfeited and why, with a remedy, and what the calls of a model came to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.records import EpisodeRecord, Record, UsageRecord
from benchmarks.remarks import MEMORY_REMEDY, REMEDIES, dollars, remarks
from tests.benchmarks.fakes import record
from tests.benchmarks.test_cli import Terminal
from tests.benchmarks.test_cli import benchmark as benchmark
from tests.benchmarks.test_language_run import FAKE, play, prices


def usage(**more: Any) -> UsageRecord:
    known = {"calls": 3, "prompt_tokens": 1000, "completion_tokens": 20, "cost": None, "memory_truncated": 0}
    return UsageRecord.model_validate({**known, "prompts": "a" * 64, **more})


def lost(refused: dict[str, int], number: int = 0, **more: Any) -> Record:
    """A record of two episodes that were lost by answers that could not be played."""
    told: dict[str, Any] = {"forfeit": True, "invalid": sum(refused.values()), "refused": refused}
    played: dict[str, Any] = {"instance": "i", "seat": 0, "reward": -2.0, "outcome": "loss", "length": 0}
    episode = EpisodeRecord(**played, **told, actions=("x",) * 3)
    return record(number, episode, episode, agent="zero_shot", status="forfeit", **more)


def test_nothing_is_said_of_a_run_without_trouble_and_without_a_model() -> None:
    assert remarks([record(0), record(1)]) == []


def test_forfeits_are_said_with_a_remedy_for_the_most_frequent_kind() -> None:
    records = [lost({"truncated": 3}, number, usage=usage()) for number in range(2)]
    records.append(lost({"illegal": 1}, 2, usage=usage()))
    assert remarks(records) == [
        "zero_shot: 6 of 6 episodes forfeited; answers not played: 12 truncated, 2 illegal, of 18: "
        f"{REMEDIES['truncated']}",
        "zero_shot: 9 calls; prompts 3,000 tokens, replies 60 tokens",
    ]


def test_options_of_a_model_do_not_help_an_agent_without_one() -> None:
    (line,) = remarks([lost({"illegal": 1})])
    assert line.endswith("look at its answers in meta_episodes.jsonl")


def test_memory_that_was_shortened_is_said() -> None:
    line, _ = remarks([record().model_copy(update={"usage": usage(memory_truncated=2)})])
    assert line.endswith(f": 2 of 3 prompts with shortened memory: {MEMORY_REMEDY}")


def test_tokens_that_nobody_knows_are_left_out() -> None:
    (line,) = remarks([record().model_copy(update={"usage": usage(prompt_tokens=None, cost=0.25)})])
    assert line.endswith(": 3 calls; $0.25")


@pytest.mark.parametrize(("cost", "text"), [(0.0, "$0.00"), (1.0, "$1.00"), (0.0123, "$0.012"), (1234.5, "$1234.50")])
def test_dollars(cost: float, text: str) -> None:
    assert dollars(cost) == text


def test_run_and_show_say_it(benchmark: Terminal) -> None:
    said = play(benchmark, "--backend", "fake", "--model", "no", agent="zero_shot")
    again = benchmark("show", "r")
    assert Path("r").exists()
    for text in (" ".join(each.out.split()) for each in (said, again)):
        assert "zero_shot: 48 of 48 episodes forfeited; answers not played: 144 unparsable, of 144: keep the" in text
        assert "zero_shot: 144 calls; prompts " in text


def test_cost_is_said(benchmark: Terminal) -> None:
    said = play(benchmark, *FAKE, *prices(), agent="zero_shot")
    assert "tokens; $0.0" in " ".join(said.out.split())
