"""Kill a run at any moment, resume it, and the files are those of a run that was not killed; PAINS R1 to R3.

``MAGE_KILLS=50 pytest tests/benchmarks/test_resume.py -k random_points`` kills more often than the suite does.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.plan import make_plan
from benchmarks.run_directory import MANIFEST, RECORDS, Manifest
from benchmarks.runner import Scheduling, run
from tests.benchmarks.awaited import make_awaited
from tests.benchmarks.fakes import FORKSERVER, ignore_progress, make_fake, suite

SUITE = suite(60, "random", "failing_at_seat_1")
AWAITED = suite(100, "drawing")
LAST = 119
KILLS = int(os.environ.get("MAGE_KILLS", "10"))
ROOT = Path(__file__).parents[2]


def go(path: Path, jobs: int = 1) -> None:
    run(make_plan(SUITE, factory=make_fake), path, ignore_progress, mode="resume", jobs=jobs)


def files(path: Path) -> dict[str, bytes]:
    """Reads all files but locks and logs; the commit is left out, for the sake of those who commit while tests run."""
    present = [file for file in path.iterdir() if file.is_file() and not file.name.endswith(".lock")]
    found = {file.name: file.read_bytes() for file in present}
    manifest = Manifest.model_validate_json(found[MANIFEST])
    return found | {MANIFEST: manifest.model_copy(update={"commit": ""}).model_dump_json().encode()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole")
    go(path)
    return path


def _go_until(path: Path, name: str, calls: int, kept: int) -> None:
    """Runs, and kills itself in call number ``calls`` of a function of ``os``, after ``kept`` bytes of a write."""
    function: Callable[..., Any] = getattr(os, name)
    count = 0

    def fatal(handle: int, *content: bytes) -> Any:
        nonlocal count
        count += 1
        if count <= calls:
            return function(handle, *content)
        if kept:
            function(handle, *(part[:kept] for part in content))
        return os.kill(os.getpid(), signal.SIGKILL)

    setattr(os, name, fatal)
    go(path)


def kill(path: Path, name: str, calls: int, kept: int = 0) -> None:
    process = FORKSERVER.Process(target=_go_until, args=(path, name, calls, kept))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("kept", [0, 300, 100_000])
@pytest.mark.parametrize("written", [0, 57, LAST])
def test_killed_in_a_write(whole: Path, tmp_path: Path, written: int, kept: int) -> None:
    kill(tmp_path, "write", written, kept)
    lines = (tmp_path / RECORDS).read_bytes().split(b"\n")
    assert len(lines) - 1 == written + (kept == 100_000)  # What was finished is there.
    go(tmp_path)
    assert files(tmp_path) == files(whole)


@pytest.mark.parametrize("calls", [0, 1])
def test_killed_around_the_manifest(whole: Path, tmp_path: Path, calls: int) -> None:
    kill(tmp_path, "fsync", calls)
    assert (tmp_path / MANIFEST).exists() == (calls == 1)
    go(tmp_path)
    assert files(tmp_path) == files(whole)


@pytest.mark.parametrize("calls", [0, 1])
def test_killed_while_sorting(whole: Path, tmp_path: Path, calls: int) -> None:
    lines = (whole / RECORDS).read_bytes().splitlines(keepends=True)
    random.Random(0).shuffle(lines)
    (tmp_path / RECORDS).write_bytes(b"".join(lines))
    (tmp_path / MANIFEST).write_bytes((whole / MANIFEST).read_bytes())
    kill(tmp_path, "fsync", calls)
    go(tmp_path)
    assert files(tmp_path) == files(whole)


def _play(path: Path, kind: str, seconds: float | None = None) -> None:
    """Plays, and kills itself so long after the first meta-episode was begun."""
    begun = False

    def progress(done: int, total: int, errors: int) -> None:
        nonlocal begun
        if seconds is not None and not begun:
            begun = True
            threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL)).start()

    awaited = kind == "awaited"
    plan = make_plan(AWAITED, factory=make_awaited) if awaited else make_plan(SUITE, factory=make_fake)
    how = Scheduling(jobs=2 if kind == "workers" else 1, concurrency=8, calls=awaited)
    run(plan, path, progress, mode="resume", how=how)


@pytest.mark.parametrize("kind", ["at once", "awaited"])
def test_killed_at_random_points(tmp_path: Path, kind: str) -> None:
    _play(tmp_path / "whole", kind)
    rng = random.Random(1)
    killed, played = 0, []
    for _ in range(KILLS):
        process = FORKSERVER.Process(target=_play, args=(tmp_path / "killed", kind, rng.uniform(0.0, 0.02)))
        process.start()
        process.join()
        killed += process.exitcode == -signal.SIGKILL
        path = tmp_path / "killed" / RECORDS
        played.append(path.read_bytes().count(b"\n") if path.exists() else 0)
    assert killed
    assert played == sorted(played)  # What was finished stays.
    _play(tmp_path / "killed", kind)
    assert files(tmp_path / "killed") == files(tmp_path / "whole")


def test_killed_with_workers(whole: Path, tmp_path: Path) -> None:
    code = f"from pathlib import Path; from {__name__} import go; go(Path({str(tmp_path)!r}), 2)"
    for seconds in (0.8, 1.6):
        with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, cwd=ROOT) as process:
            try:
                process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate(timeout=60)  # Returns when the workers have ended, too.
    go(tmp_path)
    assert files(tmp_path) == files(whole)
