"""Raw prompts and replies beside the records: readable by anyone, also after a kill."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import zstandard

from benchmarks.calls import CallBook, CallFile, read_calls, read_frames
from benchmarks.plan import make_plan
from benchmarks.records import Key
from benchmarks.runner import Scheduling, run
from mage_envs.errors import RecordError
from tests.benchmarks.awaited import make_at_once
from tests.benchmarks.fakes import ignore_progress, suite

KEY = Key("agent", "test/kuhn", 3)


def frame(*replies: str) -> bytes:
    book = CallBook(KEY)
    for reply in replies:
        book.record({"prompt": "✓\ud800", "reply": reply})
    return book.frame()


def written(path: Path, *frames: bytes) -> bytes:
    file = CallFile(path)
    for one in frames:
        file.append(one)
    file.close()
    return path.read_bytes()


def test_calls_read_back_as_they_were_written(tmp_path: Path) -> None:
    written(tmp_path / "c", frame("a", "b"), frame("c"))
    found = list(read_calls(tmp_path / "c"))
    assert [key for key, _ in found] == [KEY, KEY]
    assert [[call["reply"] for call in calls] for _, calls in found] == [["a", "b"], ["c"]]
    assert found[0][1][1]["call"] == 1
    assert found[0][1][0]["prompt"] == "✓\ud800"
    assert list(read_calls(tmp_path / "none")) == []


def test_any_decompressor_reads_them(tmp_path: Path) -> None:
    content = written(tmp_path / "c", frame("a"), frame("b"))
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content), read_across_frames=True) as stream:
        assert stream.read().count(b"\n") == 2


@pytest.mark.parametrize("kept", [1, 11, 12, 13, 40])
def test_a_torn_end_is_left_out_and_cut_off(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "c"
    whole = written(path, frame("a"))
    path.write_bytes(whole + written(tmp_path / "other", frame("b"))[:kept])
    assert len(list(read_calls(path))) == 1
    written(path, frame("c"))
    assert [calls[0]["reply"] for _, calls in read_calls(path)] == ["a", "c"]


def test_two_writers_see_each_others_frames(tmp_path: Path) -> None:
    one, two = CallFile(tmp_path / "c"), CallFile(tmp_path / "c")
    for _ in range(3):
        one.append(frame("a"))
        two.append(frame("b"))
    assert [calls[0]["reply"] for _, calls in read_calls(tmp_path / "c")] == ["a", "b"] * 3


def test_damage_is_named_and_nothing_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "c"
    content = written(path, frame("a"), frame("b"))
    path.write_bytes(content[:-30] + b"?" * 30)
    with pytest.raises(RecordError, match=r"is damaged: .* delete it"):
        list(read_calls(path))
    path.write_bytes(b"?" * 12 + content)
    with pytest.raises(RecordError, match="is damaged at byte 0"):
        written(path, frame("c"))
    assert path.read_bytes() == b"?" * 12 + content


@pytest.mark.parametrize("value", [object(), float("nan")])
def test_what_is_no_json_is_the_agents_error(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        CallBook(KEY).record({"reply": value})


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_keeps_calls_if_it_is_asked_to(tmp_path: Path, jobs: int) -> None:
    plan = make_plan(suite(6, "recording"), factory=make_at_once)
    with_calls = run(plan, tmp_path / "with", ignore_progress, how=Scheduling(jobs=jobs, calls=True))
    without = run(plan, tmp_path / "without", ignore_progress)
    found = dict(read_calls(with_calls.calls_path))
    assert found.keys() == with_calls.records().keys()
    for key, record in with_calls.records().items():
        assert [call["reply"] for call in found[key]] == [action for e in record.episodes for action in e.actions]
    assert not without.calls_path.exists()
    assert with_calls.records_path.read_bytes() == without.records_path.read_bytes()
    assert len(list(read_frames(with_calls.calls_path))) == 6


def test_overwrite_deletes_them(tmp_path: Path) -> None:
    plan = make_plan(suite(2, "recording"), factory=make_at_once)
    run(plan, tmp_path, ignore_progress, how=Scheduling(calls=True))
    directory = run(plan, tmp_path, ignore_progress, mode="overwrite")
    assert not directory.calls_path.exists()
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["attempt-1.log"]


@pytest.mark.parametrize("size", [10, 2000, 10_000, 300_000])
def test_frames_of_any_size_read_back(tmp_path: Path, size: int) -> None:
    """Marks and frames are read from one file: a buffer between them held bytes of another place."""
    rng = np.random.default_rng(0)
    said = [rng.bytes(size).hex() for _ in range(12)]  # What does not compress.
    written(tmp_path / "c", *map(frame, said))
    assert [calls[0]["reply"] for _, calls in read_calls(tmp_path / "c")] == said
