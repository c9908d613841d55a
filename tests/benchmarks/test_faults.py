"""What a machine does to a run: a full disk, a folder that cannot be written, a clock that goes back, newer files."""

from __future__ import annotations

import errno
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from benchmarks.columns import header
from benchmarks.leaderboard import add_rows, read_board
from benchmarks.plan import make_plan
from benchmarks.records import good_records
from benchmarks.run_directory import MANIFEST, RECORDS
from benchmarks.runner import Scheduling, run
from mage_envs.errors import RecordError
from tests.benchmarks.awaited import make_awaited
from tests.benchmarks.fakes import FORKSERVER, ignore_progress, make_fake, suite
from tests.benchmarks.test_leaderboard import row
from tests.benchmarks.test_resume import files

PLAN = make_plan(suite(40, "random"), factory=make_fake)
ROWS = 10_000


def go(path: Path) -> None:
    run(PLAN, path, ignore_progress, mode="resume")


def _full_disk(path: Path, size: int) -> str:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        go(path)
    except RecordError as error:
        return str(error)
    return "no error"


@pytest.mark.parametrize("room", [2, 5_000, -1])
def test_a_full_disk_stops_a_run_that_goes_on_later(tmp_path: Path, room: int) -> None:
    """There is room for nothing, for some records, or for all but the last byte."""
    go(tmp_path / "whole")
    size = (tmp_path / "whole" / RECORDS).stat().st_size
    with ProcessPoolExecutor(1, FORKSERVER) as pool:
        message = pool.submit(_full_disk, tmp_path / "full", room % size).result()
    assert "cannot write" in message
    records = tmp_path / "full" / RECORDS
    found, damage = good_records(records)
    assert not damage
    assert len(found) == {2: 0, -1: 39}.get(room, len(found))
    assert not records.exists() or records.read_bytes().endswith((b"\n", b""))
    go(tmp_path / "full")
    assert files(tmp_path / "full") == files(tmp_path / "whole")


@pytest.mark.parametrize("name", [".run.lock", MANIFEST, "logs", RECORDS])
def test_a_read_only_place_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Permissions would not stop root, who runs many a container."""
    refuse(monkeypatch, name)
    with pytest.raises(RecordError, match=r"(cannot (write|open|make)).*Read-only file system"):
        go(tmp_path / "run")
    monkeypatch.undo()
    go(tmp_path / "run")
    assert len(good_records(tmp_path / "run" / RECORDS)[0]) == 40


def refuse(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Lets nobody write a file or folder whose path has this in it."""

    def refusing(function):  # type: ignore[no-untyped-def]
        def wrapped(path, *arguments, **named):  # type: ignore[no-untyped-def]
            if name in str(path):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
            return function(path, *arguments, **named)

        return wrapped

    for function in ("open", "mkdir", "replace"):
        monkeypatch.setattr(os, function, refusing(getattr(os, function)))
    monkeypatch.setattr("io.open", refusing(open))
    monkeypatch.setattr("builtins.open", refusing(open))


def test_a_clock_that_goes_back_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go(tmp_path / "whole")
    ticks = count(start=10**9, step=-3600)
    monkeypatch.setattr(time, "time", lambda: float(next(ticks)))
    go(tmp_path / "back")
    go(tmp_path / "back")
    plan = make_plan(suite(10, "drawing"), factory=make_awaited)
    run(plan, tmp_path / "awaited", ignore_progress, how=Scheduling(time_limit=60.0))
    assert files(tmp_path / "back") == files(tmp_path / "whole")
    assert b'"timeout"' not in (tmp_path / "awaited" / RECORDS).read_bytes()
    assert len(list((tmp_path / "back" / "logs").iterdir())) == 2


def test_a_record_of_a_newer_version_stops_a_resume_and_is_kept(tmp_path: Path) -> None:
    go(tmp_path)
    path = tmp_path / RECORDS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], lines[5].replace(b'{"v":1', b'{"v":2,"mood":"good"'), *lines[6:30]]))
    before = path.read_bytes()
    with pytest.raises(RecordError, match=r"meta_episodes\.jsonl:6: format 2 is newer than this MAGE.*upgrade"):
        go(tmp_path)
    assert path.read_bytes() == before


def _submit(path: Path, writer: int, times: int) -> None:
    for number in range(times):
        add_rows(path, [row(f"writer-{writer}-{number}", float(number))])


def test_two_writers_of_a_large_board_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "quick.csv"
    add_rows(path, [row(f"agent-{number}", 0.5, scenario=f"s{number % 20}") for number in range(ROWS)])
    with ProcessPoolExecutor(2, FORKSERVER) as pool:
        for done in [pool.submit(_submit, path, writer, 3) for writer in range(2)]:
            done.result()
    found = {found["agent"] for found in read_board(path)}
    assert len(found) == ROWS + 6
    assert {f"writer-{writer}-{number}" for writer in range(2) for number in range(3)} <= found
    assert path.read_text().splitlines()[0] == ",".join(header(1))
    assert [name.name for name in tmp_path.iterdir() if not name.name.endswith(".lock")] == ["quick.csv"]
