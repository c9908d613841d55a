"""A run that stops early keeps what it has, says why, and goes on when it is resumed; agents are closed at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from benchmarks.plan import MakeAgent, make_plan
from benchmarks.pool import Tally
from benchmarks.records import Record, UsageRecord
from benchmarks.runner import Scheduling, run
from benchmarks.spending import Meter, unfinished_cost
from benchmarks.stopping import Limits, StoppedEarly, cost_of, most_frequent_error
from mage_agent.base import Agent, Briefing, Usage
from mage_envs.errors import RecordError
from tests.benchmarks.fakes import Fake, ignore_progress, make_fake, record, suite


class Closable(Fake):
    """Fails as a server that is gone; says in a file that it was closed, and that its calls were cancelled."""

    folder: ClassVar[Path]

    async def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        if info["seat"] == 1:
            raise ConnectionError("the server is gone")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.note("cancelled")
            raise

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.note("closed")

    def begin(self, briefing: Briefing) -> None:
        super().begin(briefing)

    def note(self, word: str) -> None:
        with (Path(self.name.removeprefix("closable:")) / word).open("a") as file:
            file.write("x")


class Closing(Fake):
    closed: ClassVar[list[str]] = []

    def close(self) -> None:
        self.closed.append(self.name)


class Unclosable(Closing):
    async def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return info["view"].legal[0]

    def close(self) -> None:
        super().close()
        raise ConnectionError("it was closed already")


def make(name: str) -> Agent:
    kinds: dict[str, type[Fake]] = {"closable": Closable, "closing": Closing, "unclosable": Unclosable}
    kind = kinds.get(name.split(":")[0])
    return kind(name) if kind else make_fake(name)


RATE = Limits(error_rate=0.2)


@pytest.mark.parametrize(
    ("agent", "how"),
    [
        ("failing", Scheduling(limits=RATE)),
        ("failing", Scheduling(jobs=2, limits=RATE)),
        ("closable", Scheduling(limits=RATE)),
        ("closable", Scheduling(jobs=2, loops=2, limits=RATE)),
    ],
    ids=["here", "in processes", "in a loop", "in loops in processes"],
)
def test_too_many_errors_stop_a_run_and_what_was_finished_is_kept(tmp_path: Path, agent: str, how: Scheduling) -> None:
    name = f"{agent}:{tmp_path}" if agent == "closable" else agent
    plan = make_plan(suite(2000, name), factory=make)
    for word in ("closed", "cancelled"):
        (tmp_path / word).unlink(missing_ok=True)
    path = tmp_path / "run"
    with pytest.raises(StoppedEarly, match=r"\d+ of \d+ meta-episodes have no score") as caught:
        run(plan, path, ignore_progress, how=how)
    assert (caught.value.reason, caught.value.error) == ("errors", "ConnectionError: the server is gone")
    from benchmarks.run_directory import load_run

    kept = load_run(path).records()
    assert 20 <= len(kept) < 2000
    assert {found.status for found in kept.values()} == {"error"}
    assert (path / "meta_episodes.jsonl").read_bytes().endswith(b"\n")
    if agent == "closable":
        flying = len((tmp_path / "cancelled").read_text())
        assert flying >= 20
        assert len((tmp_path / "closed").read_text()) >= flying
    healed = run(plan_of_healed(name), path, ignore_progress, mode="resume", how=Scheduling(retry=("error",)))
    assert {found.status for found in healed.stream()} == {"ok"}
    assert len(healed.stream()) == 2000


def plan_of_healed(name: str) -> Any:
    def healed(spec: str) -> Agent:
        return Fake(spec)

    return make_plan(suite(2000, name), factory=healed)


def test_a_low_error_rate_and_the_first_nineteen_stop_nothing(tmp_path: Path) -> None:
    for number, (found, rate) in enumerate([(suite(20, "failing"), 0.0), (suite(40, "failing_at_seat_1"), 0.5)]):
        path = tmp_path / str(number)
        played = run(make_plan(found, factory=make), path, ignore_progress, how=Scheduling(limits=Limits(rate)))
        assert len(played.stream()) == found.parts[0].meta_episodes


@pytest.mark.parametrize(
    ("tally", "stops"),
    [((19, 19), False), ((20, 4), False), ((20, 5), True), ((100, 20), False), ((100, 21), True), ((200, 200), False)],
)
def test_the_limit_of_errors_is_a_share_of_what_is_finished(tally: tuple[int, int], stops: bool) -> None:
    if not stops:
        RATE.check(Tally(*tally), 200, 0.0)
        return
    with pytest.raises(StoppedEarly):
        RATE.check(Tally(*tally), 200, 0.0)


def test_the_limit_of_cost_counts_the_whole_run() -> None:
    limits = Limits(cost=2.0)
    limits.check(Tally(3, 0, 0.5), 10, 1.99)
    limits.check(Tally(10, 0, 0.5), 10, 2.5)
    with pytest.raises(StoppedEarly, match=r"has cost 2 dollars, and its limit is 2"):
        limits.check(Tally(3, 0, 0.5), 10, 2.0)


def test_a_cost_that_nobody_knows_is_not_nothing() -> None:
    known, unknown = (Usage(2, 9, 9, cost, 0, "a" * 64)._asdict() for cost in (0.5, None))
    records = [record(n).model_copy(update={"usage": UsageRecord(**usage)}) for n, usage in enumerate((known, unknown))]
    none = record(2)
    assert cost_of([records[0], none]) == 0.5
    spent = cost_of([*records, none])
    Limits(error_rate=0.5).check(Tally(3, 0, spent), 10, spent)
    with pytest.raises(StoppedEarly, match="did not say how many tokens it used: --cost-limit cannot hold"):
        Limits(cost=9.0).check(Tally(3, 0, spent), 10, spent)


@pytest.mark.parametrize("values", [(-0.1, None), (1.1, None), (None, 0.0), (None, float("inf")), (None, float("nan"))])
def test_limits_have_ranges(values: tuple[float | None, float | None]) -> None:
    with pytest.raises(ValueError, match=r"the error rate is a share|the cost limit must be more than 0"):
        Limits(*values)


def test_errors_that_differ_in_their_place_only_are_one() -> None:
    def bad(error: str) -> Record:
        return record(status="error", error=error)

    found = [bad("A: x (in act, line 3)"), bad("B: y"), bad("A: x (in reflect, line 9)"), record()]
    assert most_frequent_error(found) == "A: x"
    assert most_frequent_error([record()]) == ""


@pytest.mark.parametrize("name", ["closing", "unclosable"])
def test_agents_are_closed_at_the_end_and_may_fail_at_that(tmp_path: Path, name: str) -> None:
    Closing.closed.clear()
    plan: Any = make_plan(suite(4, name), factory=_maker)
    planned = len(Closing.closed)
    played = run(plan, tmp_path, ignore_progress)
    assert {found.status for found in played.stream()} == {"ok"}
    assert len(Closing.closed) > planned
    log = (tmp_path / "logs" / "attempt-1.log").read_text()
    assert ("unclosable, close: ConnectionError: it was closed already" in log) == (name == "unclosable")


_maker: MakeAgent = make


class Priced(Fake):
    """Pays a dollar for each answer, and is never done: what it costs is known on the way only."""

    calls = 0

    def begin(self, briefing: Briefing) -> None:
        self.calls = 0

    async def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        await asyncio.sleep(60 if self.calls else 0)
        self.calls += 1
        return info["view"].legal[0]

    def usage(self) -> Usage:
        return Usage(self.calls, 9 * self.calls, self.calls, float(self.calls), 0, "a" * 64)


def make_priced(name: str) -> Agent:
    return Priced(name)


@pytest.mark.parametrize("how", [Scheduling(limits=Limits(cost=3.0)), Scheduling(loops=2, limits=Limits(cost=3.0))])
def test_what_is_in_flight_counts_to_the_limit_of_cost_and_is_not_forgotten(tmp_path: Path, how: Scheduling) -> None:
    plan = make_plan(suite(8, "priced"), factory=make_priced)
    told: list[Tally] = []
    with pytest.raises(StoppedEarly, match=r"has cost \d dollars, and its limit is 3"):
        run(plan, tmp_path / "run", ignore_progress, how=how, calls=told.append)
    assert 3.0 <= told[-1].cost <= 8.0
    assert (told[-1].done, told[-1].calls, told[-1].tokens) == (0, told[-1].cost, told[-1].cost * 10)
    assert unfinished_cost(tmp_path / "run") == told[-1].cost
    with pytest.raises(StoppedEarly):
        run(plan, tmp_path / "run", ignore_progress, mode="resume", how=how)
    assert unfinished_cost(tmp_path / "run") == told[-1].cost


def test_a_meter_reads_what_is_new_and_a_record_settles_it() -> None:
    meter, agent = Meter(), Priced("priced")
    agent.calls = 2  # Of the meta-episode before.
    agent.begin(Briefing(None, "", 1, (), 0))  # type: ignore[arg-type]
    meter.begin()
    assert meter.read(agent) == Tally()
    agent.calls = 3
    assert meter.read(agent) == Tally(cost=3.0, calls=3, tokens=30)
    assert meter.read(agent) == Tally()
    meter.begin()
    agent.calls = 1
    assert meter.read(agent).cost == 1.0
    spent = UsageRecord(calls=5, prompt_tokens=45, completion_tokens=5, cost=5.0, memory_truncated=0, prompts="")
    settled = record().model_copy(update={"usage": spent})
    assert meter.end(settled) == Tally(1, 0, 1.0, 5.0, 1, 10)


def test_a_cost_that_becomes_unknown_stays_unknown() -> None:
    class Silent(Priced):
        def usage(self) -> Usage:
            return Usage(1, None, None, None, 0, "a" * 64)

    meter, agent = Meter(), Silent("silent")
    assert meter.read(agent).cost == float("inf")
    assert meter.read(agent) == Tally()


def test_a_damaged_file_of_unfinished_cost_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "unfinished_cost.json").write_text("much")
    with pytest.raises(RecordError, match="mend or delete it"):
        unfinished_cost(tmp_path)
