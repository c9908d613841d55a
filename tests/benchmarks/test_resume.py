"""Kill a run at any moment, resume it, and the files are those of a run that was not killed; PAINS R1 to R3."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.run_directory import MANIFEST, RECORDS
from benchmarks.runner import run
from benchmarks.plan import make_plan
from tests.benchmarks.fakes import ignore_progress, make_fake, suite

KILLS = 6
SIZE = 400
BENCHMARK = (sys.executable, "-m", "benchmarks.cli")
ARGUMENTS = ("run", "quick", "--agent", "random", "--meta-episodes", str(SIZE), "--seed", "3")


def command(path: Path, *more: str) -> list[str]:
    return [*BENCHMARK, *ARGUMENTS, "--out", str(path), *more]


def files(path: Path) -> dict[str, bytes]:
    return {name: (path / name).read_bytes() for name in (MANIFEST, RECORDS)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "whole"
    subprocess.run(command(path, "--jobs", "1"), check=True, capture_output=True)
    return path
