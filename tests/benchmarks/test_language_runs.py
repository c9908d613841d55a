"""Runs of language agents: the same records however they are scheduled, faults that are no moves, causal controls."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.controls import CONTROLS
from benchmarks.plan import Plan, make_plan
from benchmarks.records import Record
from benchmarks.runner import Scheduling, run
from benchmarks.verification import verify
from mage_agent.agents import make_agent
from mage_agent.backends.base import BackendError, Request
from mage_agent.backends.fake import FakeBackend, Reply, by_draw
from mage_agent.errors import Overloaded
from mage_agent.model_settings import ModelSettings
from tests.agents.language_loop import act_first
from tests.agents.test_language_agents import LANGUAGE, REMEMBERING
from tests.benchmarks.fakes import ignore_progress, suite

ANY = ModelSettings("fake", "any")
AGENTS = ("zero_shot", "reflexion", 'reflective(memory="history+reflection")', "a_mem", "memento")


def plan_of(model: Any, *agents: str, control: str = "none", size: int = 6) -> Plan:
    return make_plan(suite(size), agents, control=control, factory=partial(make_agent, model=model))


def records(plan: Plan, folder: Path, **how: Any) -> list[Record]:
    return list(run(plan, folder, ignore_progress, how=Scheduling(**how)).stream())


def test_scheduling_changes_no_record(tmp_path: Path) -> None:
    plan = plan_of(ANY, *AGENTS)
    one = records(plan, tmp_path / "one", concurrency=1)
    assert records(plan, tmp_path / "many", concurrency=9) == one
    assert {record.status for record in one} <= {"ok", "forfeit"}
    assert len(one) == 6 * len(AGENTS)


def test_an_overloaded_server_changes_no_record(tmp_path: Path) -> None:
    seen: set[Request] = set()

    def busy(request: Request) -> Reply:
        if by_draw(request, 4) == 0 and request not in seen:
            seen.add(request)
            return Overloaded(0.0)
        return act_first(request)

    free = records(plan_of(FakeBackend(act_first), *AGENTS), tmp_path / "free", concurrency=4)
    assert records(plan_of(FakeBackend(busy), *AGENTS), tmp_path / "busy", concurrency=4) == free
    assert seen


@pytest.mark.parametrize("name", LANGUAGE)
def test_a_fault_of_the_backend_ends_as_an_error_and_is_no_move(name: str, tmp_path: Path) -> None:
    def gone(request: Request) -> Reply:
        return BackendError("the server is gone") if request.draw.endswith("/1") else act_first(request)

    for record in records(plan_of(FakeBackend(gone), name), tmp_path / "run"):
        assert record.status == "error"
        assert "the server is gone" in str(record.error)
        assert not record.scored


@pytest.mark.parametrize("control", CONTROLS[1:])
def test_language_agents_that_remember_play_under_every_control(control: str, tmp_path: Path) -> None:
    plan = plan_of(ANY, *REMEMBERING, control=control, size=4)
    assert not plan.manifest.unsupported
    found = run(plan, tmp_path / "run", ignore_progress)
    assert {record.status for record in found.stream()} <= {"ok", "forfeit"}
    assert verify(found, plan.panel, jobs=1, progress=ignore_progress) == 4 * len(REMEMBERING)


@pytest.mark.parametrize("name", ["zero_shot", "react", "reflective(memory=none)"])
def test_those_that_keep_nothing_are_refused_with_the_reason(name: str) -> None:
    plan = plan_of(ANY, name, control="no_memory")
    (reasons,) = plan.manifest.unsupported.values()
    assert "carries no memory from one episode into the next" in reasons["test/kuhn"]


def test_a_control_changes_what_a_prompt_shows(tmp_path: Path) -> None:
    def shown(control: str) -> list[str]:
        backend = FakeBackend(act_first)
        records(plan_of(backend, "reflective", control=control, size=2), tmp_path / control, concurrency=1)
        return [r.messages[1].content for r in backend.requests if "The situation now" in r.messages[1].content]

    assert any("of what may be true of it." in text for text in shown("none"))
    assert not any("of what may be true of it." in text or "after episode" in text for text in shown("no_memory"))
    shuffled = shown("shuffled_reflection")
    assert any("What you wrote after episode 1:" in text for text in shuffled)
    assert not any("of what may be true of it." in text for text in shuffled)


def test_an_agent_and_its_model_cross_to_other_processes(tmp_path: Path) -> None:
    plan = plan_of(ANY, "reflective", size=4)
    assert records(plan, tmp_path / "two", loops=2, concurrency=4) == records(plan, tmp_path / "one", concurrency=4)


def test_the_card_is_in_the_manifest_and_the_usage_in_the_record(tmp_path: Path) -> None:
    plan = plan_of(ANY, "reflective")
    (card,) = plan.manifest.config.agents
    assert (card.model, card.memory) == ("any", "reflection")
    assert card.prompt_hash == make_agent("reflective").card()["prompt_hash"]  # type: ignore[attr-defined]
    for record in records(plan, tmp_path / "run"):
        assert record.usage is not None
        assert record.usage.calls >= 5
        assert record.usage.memory_truncated == 0
