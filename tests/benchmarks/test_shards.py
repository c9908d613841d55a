"""A panel in parts: joined, it is the run of one machine, to the byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.calls import read_calls
from benchmarks.plan import Plan, make_plan
from benchmarks.run_directory import RunDirectory
from benchmarks.runner import Scheduling, run
from benchmarks.shards import Joined, join_runs, take_shard
from benchmarks.verification import missing
from mage_envs.errors import RecordError
from tests.benchmarks.awaited import make_at_once
from tests.benchmarks.fakes import ignore_progress, suite
from tests.benchmarks.test_resume import files

PLAN = make_plan(suite(11, "recording", "failing_at_seat_1"), factory=make_at_once)
KEYS = tuple(task.key for task in PLAN.tasks)


def go(path: Path, plan: Plan = PLAN) -> RunDirectory:
    return run(plan, path, ignore_progress, how=Scheduling(calls=True))


def shards(path: Path, count: int) -> list[Path]:
    return [go(path / str(k), take_shard(PLAN, k, count)).path for k in range(1, count + 1)]


def join(path: Path, *parts: Path) -> Joined:
    return join_runs(path, parts, KEYS)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_joined_shards_are_the_run_of_one_machine(tmp_path: Path, count: int) -> None:
    whole = go(tmp_path / "whole")
    parts = shards(tmp_path, count)
    joined = join(tmp_path / "joined", *reversed(parts))
    assert (joined.missing, joined.notes) == ((), ())
    found, wanted = files(joined.run.path), files(whole.path)
    assert {**found, "calls.jsonl.zst": b""} == {**wanted, "calls.jsonl.zst": b""}
    assert dict(read_calls(joined.run.calls_path)) == dict(read_calls(whole.calls_path))


def test_shards_part_the_plan() -> None:
    parts = [take_shard(PLAN, k, 4).tasks for k in range(1, 5)]
    assert sorted(task.key for part in parts for task in part) == sorted(KEYS)
    assert {len(part) for part in parts} == {5, 6}


@pytest.mark.parametrize(("number", "count"), [(0, 4), (5, 4), (-1, 4), (1, 0)])
def test_bad_shards(number: int, count: int) -> None:
    with pytest.raises(ValueError, match="1 <= K <= N"):
        take_shard(PLAN, number, count)


def test_what_is_missing_is_told_and_can_be_played(tmp_path: Path) -> None:
    parts = shards(tmp_path, 3)
    joined = join(tmp_path / "joined", parts[0], parts[2])
    assert joined.missing == KEYS[1::3]
    assert missing(joined.run, PLAN.panel) == len(KEYS[1::3])
    run(PLAN, joined.run.path, ignore_progress, mode="resume")
    assert joined.run.records_path.read_bytes() == go(tmp_path / "whole").records_path.read_bytes()


def test_overlaps_that_agree_are_joined_and_others_refused(tmp_path: Path) -> None:
    first, second = shards(tmp_path, 2)
    again = go(tmp_path / "again")
    assert join(tmp_path / "a", first, again.path, second).missing == ()
    lines = again.records_path.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[0])
    record["episodes"][0]["reward"] = 9.0
    again.records_path.write_bytes(json.dumps(record).encode() + b"\n" + b"".join(lines[1:]))
    with pytest.raises(RecordError, match="have different results of recording / test/kuhn / 0"):
        join(tmp_path / "b", first, again.path)
    assert not (tmp_path / "b").exists()


def test_other_configurations_are_refused_by_name(tmp_path: Path) -> None:
    other = go(tmp_path / "other", make_plan(suite(11, "recording"), seed=1, factory=make_at_once))
    with pytest.raises(RecordError, match=r"different configurations: .*seed \(0 there, 1 now\)"):
        join(tmp_path / "out", *shards(tmp_path, 1), other.path)
    assert not (tmp_path / "out").exists()


def test_a_shard_is_resumed_as_itself(tmp_path: Path) -> None:
    (first, _) = shards(tmp_path, 2)
    before = files(first)
    run(take_shard(PLAN, 1, 2), first, ignore_progress, mode="resume")
    assert files(first) == before
    with pytest.raises(RecordError, match="is the run of shard 1/2, and not of shard 2/2"):
        run(take_shard(PLAN, 2, 2), first, ignore_progress, mode="resume")
    with pytest.raises(RecordError, match="is the run of shard 1/2, and not of the whole panel"):
        run(PLAN, first, ignore_progress, mode="resume")


def test_what_differs_without_changing_a_result_is_noted(tmp_path: Path) -> None:
    first, second = shards(tmp_path, 2)
    manifest = json.loads((second / "manifest.json").read_text())
    manifest["host"]["cpus"] = "1000"
    (second / "manifest.json").write_text(json.dumps(manifest))
    assert join(tmp_path / "out", first, second).notes == (
        f"the parts differ in host; the manifest has that of {first}",
    )
