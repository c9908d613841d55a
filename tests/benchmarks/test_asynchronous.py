"""Agents that wait: scheduling changes no result, one object a meta-episode, failures are the agent's own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.asking import AgentFailure, Call, waits
from benchmarks.limiter import AdaptiveLimit, Gate
from benchmarks.panels import make_panel
from benchmarks.plan import MakeAgent, make_plan
from benchmarks.records import Record
from benchmarks.run_directory import RunDirectory
from benchmarks.runner import Scheduling, run
from benchmarks.verification import verify
from mage_envs.errors import MageError
from tests.benchmarks.awaited import Drawing, Waiting, make_at_once, make_awaited
from tests.benchmarks.fakes import BuggySuite, ignore_progress, suite
from tests.benchmarks.test_resume import files

MIXED = suite(30, "drawing", "random")


def go(path: Path, make: MakeAgent, agents: tuple[str, ...], how: Scheduling, size: int = 10) -> RunDirectory:
    plan = make_plan(suite(size, *agents), factory=make)
    return run(plan, path, ignore_progress, how=how)


def records(directory: RunDirectory) -> list[Record]:
    return list(directory.stream())


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("at_once")
    run(make_plan(MIXED, factory=make_at_once), path, ignore_progress)
    return files(path)


@pytest.mark.parametrize(
    ("make", "how"),
    [
        (make_at_once, Scheduling(jobs=4)),
        (make_awaited, Scheduling(concurrency=1)),
        (make_awaited, Scheduling(concurrency=7)),
        (make_awaited, Scheduling(concurrency=64)),
        (make_awaited, Scheduling(jobs=2, loops=2, concurrency=9)),
        (make_awaited, Scheduling(concurrency=64, time_limit=100.0)),
    ],
    ids=["4 jobs", "1 in flight", "7 in flight", "64 in flight", "2 loops", "time limit"],
)
def test_scheduling_changes_no_byte(
    one_by_one: dict[str, bytes], tmp_path: Path, make: MakeAgent, how: Scheduling
) -> None:
    run(make_plan(MIXED, factory=make), tmp_path, ignore_progress, how=how)
    assert files(tmp_path) == one_by_one


def test_as_many_are_in_flight_as_asked_for_each_with_an_agent_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Waiting, "most", 0)
    go(tmp_path, make_awaited, ("drawing",), Scheduling(concurrency=8), size=40)
    assert Waiting.most == 8


def test_which_agents_wait() -> None:
    assert waits(make_awaited("drawing"))
    assert not waits(make_at_once("drawing"))
    plan = make_plan(suite(2, "drawing", "random"), factory=make_awaited)
    assert plan.awaited == {"drawing"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("awaited_cancelled", "CancelledError: "),
        ("awaited_timeout", "TimeoutError: the server is slow"),
        ("awaited_exits", "SystemExit: 3"),
        ("awaited_lost", "ConnectionError: the server is gone (in act"),
    ],
)
@pytest.mark.parametrize("time_limit", [None, 100.0])
def test_whatever_an_agent_raises_is_its_own_error(
    tmp_path: Path, name: str, message: str, time_limit: float | None
) -> None:
    (record, *_) = records(go(tmp_path, make_awaited, (name,), Scheduling(time_limit=time_limit), size=2))
    assert record.status == "error"
    assert record.error is not None
    assert record.error.startswith(message)


def test_a_bug_of_the_environment_is_raised(tmp_path: Path) -> None:
    base = suite(4, "drawing")
    buggy = BuggySuite(base.name, base.version, base.summary, base.parts)
    with pytest.raises(MageError, match="an opponent gave nonsense"):
        run(make_plan(buggy, factory=make_awaited), tmp_path, ignore_progress)


def test_runs_where_a_loop_is_running(tmp_path: Path) -> None:
    async def notebook() -> RunDirectory:
        return go(tmp_path, make_awaited, ("drawing",), Scheduling(), size=2)

    assert len(records(asyncio.run(notebook()))) == 2


@pytest.mark.parametrize(
    ("make", "name", "how"),
    [
        (make_at_once, "hanging", Scheduling()),
        (make_at_once, "spinning", Scheduling()),
        (make_at_once, "stubborn", Scheduling()),
        (make_at_once, "hanging", Scheduling(jobs=2)),
        (make_awaited, "hanging", Scheduling()),
    ],
    ids=["sleeping", "spinning", "catching errors", "in workers", "awaited"],
)
def test_a_meta_episode_that_takes_too_long_has_no_score(
    tmp_path: Path, make: MakeAgent, name: str, how: Scheduling
) -> None:
    how = Scheduling(jobs=how.jobs, time_limit=0.25)
    directory = go(tmp_path, make, (name,), how, size=4)
    found = records(directory)
    assert [record.status for record in found] == ["ok", "timeout", "ok", "timeout"]
    assert [len(record.episodes) for record in found] == [3, 1, 3, 1]
    assert found[1].error == "not finished within 0.25 s"
    assert verify(directory, make_panel(suite(4, name)), jobs=1, progress=ignore_progress) == 4


def test_only_what_has_no_score_can_be_played_again(tmp_path: Path) -> None:
    plan = make_plan(suite(4, "hanging", "failing_at_seat_1"), factory=make_at_once)
    run(plan, tmp_path, ignore_progress, how=Scheduling(time_limit=0.2))
    before = (tmp_path / "meta_episodes.jsonl").read_bytes()
    run(plan, tmp_path, ignore_progress, mode="resume", how=Scheduling(time_limit=0.4))
    assert (tmp_path / "meta_episodes.jsonl").read_bytes() == before
    counted: list[tuple[int, int, int]] = []
    how = Scheduling(time_limit=0.4, retry=("timeout",))
    directory = run(plan, tmp_path, lambda *told: counted.append(told), mode="resume", how=how)
    assert counted[0] == (6, 8, 2)
    assert counted[-1] == (8, 8, 4)
    assert [record.error for record in records(directory) if record.status == "timeout"] == [
        "not finished within 0.4 s"
    ] * 2
    healed = make_plan(suite(4, "hanging", "failing_at_seat_1"), factory=_healed)
    how = Scheduling(retry=("timeout", "error"))
    assert {r.status for r in records(run(healed, tmp_path, ignore_progress, mode="resume", how=how))} == {"ok"}


def _healed(name: str) -> Drawing:
    return Drawing(name)


@pytest.mark.parametrize("make", [make_at_once, make_awaited])
def test_a_busy_server_costs_time_and_no_result(tmp_path: Path, make: MakeAgent) -> None:
    busy = records(go(tmp_path / "busy", make, ("busy",), Scheduling(concurrency=3)))
    calm = records(go(tmp_path / "calm", make_at_once, ("drawing",), Scheduling()))
    assert [record.episodes for record in busy] == [record.episodes for record in calm]


@pytest.mark.parametrize("make", [make_at_once, make_awaited])
def test_a_server_that_is_always_busy_is_an_error(tmp_path: Path, make: Callable[[str], Drawing]) -> None:
    (record, _) = records(go(tmp_path, make, ("always_busy",), Scheduling(), size=2))
    assert record.status == "error"
    assert str(record.error).startswith("Overloaded: 503 from the server (in act")


def test_what_happened_is_in_the_log_of_the_attempt(tmp_path: Path) -> None:
    for mode in ("new", "resume"):
        run(make_plan(suite(2, "awaited_lost"), factory=make_awaited), tmp_path, ignore_progress, mode=mode)  # type: ignore[arg-type]
    first, second = ((tmp_path / "logs" / f"attempt-{n}.log").read_text() for n in (1, 2))
    assert "2 meta-episodes, 2 of them owed" in first
    assert "awaited_lost, act: ConnectionError: the server is gone" in first
    assert "raise self.errors" in first
    assert "2 meta-episodes, 0 of them owed" in second
    assert not logging.getLogger("benchmarks").handlers


def test_workers_write_to_the_log_of_the_attempt(tmp_path: Path) -> None:
    go(tmp_path, make_at_once, ("failing",), Scheduling(jobs=2))
    assert (tmp_path / "logs" / "attempt-1.log").read_text().count("failing, act: ConnectionError") == 10


def test_a_gate_lets_through_no_more_than_its_limit() -> None:
    limit = AdaptiveLimit(3)
    seen: list[int] = []

    class Agent(Drawing):
        async def act(self, observation: object, info: object) -> int:  # type: ignore[override]
            seen.append(limit.in_flight)
            await asyncio.sleep(0)
            return 0

    async def ask_all() -> None:
        gate = Gate(limit)
        await asyncio.gather(*(gate.ask(Call(Agent("x"), "act", (None, {}))) for _ in range(20)))

    asyncio.run(ask_all())
    assert max(seen) == 3
    assert len(seen) == 20
    assert limit.in_flight == 0


def test_a_waiter_that_is_cancelled_holds_nobody_up() -> None:
    limit = AdaptiveLimit(1)

    class Agent(Drawing):
        async def act(self, observation: object, info: object) -> int:  # type: ignore[override]
            await asyncio.sleep(0.01)
            return 0

    async def ask_all() -> list[object]:
        gate = Gate(limit)
        tasks = [asyncio.create_task(gate.ask(Call(Agent("x"), "act", (None, {})))) for _ in range(6)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        tasks[2].cancel()
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)

    answers = asyncio.run(ask_all())
    assert [answer for answer in answers if answer == 0] == [0] * 4
    assert limit.in_flight == 0


def test_an_awaited_begin_that_fails_is_an_error() -> None:
    async def fail() -> None:
        await Gate(AdaptiveLimit(1)).ask(Call(make_awaited("awaited_lost"), "act", (None, {})))

    with pytest.raises(AgentFailure, match="the server is gone"):
        asyncio.run(fail())
