"""Playing a panel: scheduling changes nothing, an agent's failure is no loss, a bug is not hidden."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from benchmarks.panels import make_panel
from benchmarks.plan import Plan, make_plan
from benchmarks.pool import Worker, run_tasks
from benchmarks.records import Record
from benchmarks.referee import drive, play, start
from benchmarks.runner import run
from benchmarks.suites.base import Suite
from mage_envs.errors import MageError, RecordError, UnknownNameError
from tests.benchmarks.fakes import KUHN, BuggySuite, Fake, Oracle, Raising, ignore_progress, make_fake, suite


def play_all(found: Suite, path: Path, jobs: int = 1) -> list[Record]:
    return list(run(make_plan(found, factory=make_fake), path, ignore_progress, jobs=jobs).records().values())


def plan(*agents: str, **more: Any) -> Plan:
    return make_plan(suite(10, *agents), factory=make_fake, **more)


def test_any_number_of_workers_writes_the_same_files(tmp_path: Path) -> None:
    found = make_plan(suite(30, "random", "thompson"), factory=make_fake)
    for jobs in (1, 3):
        run(found, tmp_path / str(jobs), ignore_progress, jobs=jobs)
    for name in ("manifest.json", "meta_episodes.jsonl"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes()


def test_records_are_in_the_order_of_the_plan_and_follow_the_panel(tmp_path: Path) -> None:
    found = plan("random", "first")
    records = list(run(found, tmp_path, ignore_progress).records().values())
    assert [record.key for record in records] == [task.key for task in found.tasks]
    for record, task in zip(records, found.tasks, strict=True):
        entry = task.entry
        assert (record.opponent, record.seat, record.seed) == (entry.opponent, entry.seat, entry.seed)
        assert [episode.seat for episode in record.episodes] == [entry.seat] * 3
        assert record.described.startswith(str(entry.opponent))


def test_all_agents_meet_the_same_instances_and_both_seats_share_them(tmp_path: Path) -> None:
    records = play_all(suite(10, "random", "first"), tmp_path)
    instances = [[episode.instance for episode in record.episodes] for record in records]
    assert instances[:10] == instances[10:]
    assert instances[0:10:2] == instances[1:10:2]


def test_an_agents_error_is_no_loss(tmp_path: Path) -> None:
    records = play_all(suite(10, "failing", "failing_at_seat_1"), tmp_path)
    assert {record.status for record in records[:10]} == {"error"}
    assert {record.status for record in records[10::2]} == {"ok"}
    assert {record.status for record in records[11::2]} == {"error"}
    assert [len(record.episodes) for record in records[10:12]] == [3, 1]
    assert records[0].error is not None
    assert records[0].error.startswith("ConnectionError: the server is gone (in act")


def test_an_answer_that_is_no_action_is_the_agents_error(tmp_path: Path) -> None:
    (record, *_) = play_all(suite(2, "wrong_type"), tmp_path)
    assert record.error == "the agent answered with NoneType, not with an action id"


@pytest.mark.parametrize("name", sorted(Raising.errors))
def test_whatever_an_agent_raises_is_its_own_error(tmp_path: Path, name: str) -> None:
    (record, *_) = play_all(suite(2, name), tmp_path)
    assert record.error is not None
    assert record.error.startswith(type(Raising.errors[name]).__name__ + ": ")
    assert len(record.error) < 1200


def test_an_exit_in_begin_and_a_number_that_json_cannot_hold_are_errors(tmp_path: Path) -> None:
    records = play_all(suite(2, "exits_at_once", "huge"), tmp_path)
    assert [record.status for record in records] == ["error"] * 4
    assert records[-1].error == "the agent answered with a number of 16610 bits, not with an action id"


def test_what_an_agent_writes_into_its_info_is_in_no_record(tmp_path: Path) -> None:
    cheated = play_all(suite(2, "cheat"), tmp_path / "cheat")
    honest = play_all(suite(2, "first"), tmp_path / "honest")
    assert [record.episodes for record in cheated] == [record.episodes for record in honest]


def test_illegal_play_is_counted_and_loses_by_the_rules(tmp_path: Path) -> None:
    for record in play_all(suite(2, "illegal", max_invalid=2), tmp_path):
        assert record.status == "forfeit"
        for episode in record.episodes:
            assert (episode.actions, episode.invalid, episode.length) == ((99, 99), 2, 0)
            assert (episode.reward, episode.outcome, episode.forfeit) == (-2.0, "loss", True)


def test_text_agents_are_recorded_to_the_letter(tmp_path: Path) -> None:
    (record, *_) = play_all(suite(2, "writer"), tmp_path)
    assert str(record.episodes[0].actions[0]).startswith("I think… \n<action>")
    assert record.episodes[0].reflection == "line one\nline two ✓ ?"
    assert record.episodes[2].reflection is None


def test_agents_never_see_what_is_privileged_and_only_oracles_the_opponent() -> None:
    panel = make_panel(suite(2))
    for kind, told in ((Fake, False), (Oracle, True)):
        agent = kind("x")
        env = panel.suite.make_env(KUHN, "array")
        play(env, agent, panel.entries[0])
        assert len(agent.seen) >= 5
        assert not any("privileged" in info for info in agent.seen)
        assert agent.briefing is not None
        assert (agent.briefing.opponent is not None) == told
        assert agent.briefing.episodes == 3
        assert agent.briefing.seed == panel.entries[0].agent_seed
        assert sorted(dict(agent.briefing.population)) == ["aggressive", "conservative", "intermediate"]
        assert agent.briefing.seats == (panel.entries[0].seat,) * 3
        assert agent.briefing.instance == "fresh"


def test_an_agent_that_cannot_play_a_scenario_is_listed_and_not_scored(tmp_path: Path) -> None:
    found = plan("random", "unsupported")
    assert found.manifest.unsupported == {"unsupported": {"test/kuhn": "this agent plays chess only"}}
    assert {task.agent for task in found.tasks} == {"random"}


def test_agents_are_refused_before_anything_is_played() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'thompson'"):
        plan("thomson")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bug_of_the_environment_is_raised_and_no_agents_fault(tmp_path: Path, jobs: int) -> None:
    base = suite(4, "first")
    buggy = BuggySuite(base.name, base.version, base.summary, base.parts)
    with pytest.raises(MageError, match="an opponent gave nonsense"):
        play_all(buggy, tmp_path, jobs)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    found = plan("random")

    def meddle(done: int, total: int, errors: int) -> None:
        with pytest.raises(RecordError, match="another process is running"):
            run(found, tmp_path, ignore_progress, mode="resume")

    run(found, tmp_path, meddle)


def test_progress_counts_up_to_the_total(tmp_path: Path) -> None:
    seen: list[tuple[int, int, int]] = []
    run(plan("random", "failing"), tmp_path, lambda *told: seen.append(told))
    assert seen[0] == (0, 20, 0)
    assert seen[-1] == (20, 20, 10)


def _killed() -> Worker:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def test_a_worker_that_is_killed_is_reported() -> None:
    with pytest.raises(MageError, match="a worker process was killed"):
        run_tasks(_killed, 4, 2, lambda tally: None)


@pytest.mark.parametrize("jobs", [0, -1, 257])
def test_jobs_out_of_range(jobs: int) -> None:
    with pytest.raises(ValueError, match=r"jobs must be in 1\.\.256"):
        run_tasks(lambda: lambda take, tell, give_way: None, 1, jobs, lambda tally: None)


def test_the_referee_returns_the_last_view() -> None:
    panel = make_panel(suite(2))
    env = panel.suite.make_env(KUHN, "text")
    last = drive(env, start(env, panel.entries[0]), lambda observation, info: "pass", [])
    assert "The episode is over" in last
