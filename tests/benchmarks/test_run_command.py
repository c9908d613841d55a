"""The options of ``benchmark run`` that are about how, and ``benchmark merge``."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.run_directory import RECORDS
from tests.benchmarks.test_cli import SMALL, Terminal
from tests.benchmarks.test_cli import benchmark as benchmark

SLOW_AGENT = '''
import asyncio
from benchmarks.cli import main
from mage_agent.agents import AGENTS

class Slow:
    """Waits for a server."""
    name, oracle, interface = "slow", False, "array"
    def begin(self, briefing):
        pass
    async def act(self, observation, info):
        await asyncio.sleep(0.05 if info["seat"] == 0 else 60)
        return info["view"].legal[0]
    def reflect(self, observation, info):
        return 0

AGENTS.register("slow", Slow)
if __name__ == "__main__":
    main()
'''


def test_json_is_for_machines(benchmark: Terminal) -> None:
    said = benchmark("run", "quick", *SMALL, "--out", "r", "--progress", "json")
    lines = [json.loads(line) for line in said.err.splitlines()]
    assert (said.code, said.out) == (0, "")
    assert lines[0] == {"event": "start", "run": "r", "total": 16}
    assert {line["event"] for line in lines[1:-1]} == {"progress"}
    assert (lines[-2]["done"], lines[-2]["total"], lines[-2]["errors"]) == (16, 16, 0)
    assert lines[-1]["event"] == "end"


def test_quiet_says_nothing_but_errors(benchmark: Terminal) -> None:
    assert benchmark("run", "quick", *SMALL, "--out", "r", "--progress", "quiet") == (0, "", "")
    said = benchmark("run", "quick", *SMALL, "--out", "r", "--progress", "quiet")
    assert (said.code, said.out) == (2, "")
    assert "is not empty" in said.err


def test_shards_are_played_and_joined(benchmark: Terminal) -> None:
    benchmark("run", "quick", *SMALL, "--out", "whole")
    for shard in ("1/2", "2/2"):
        said = benchmark("run", "quick", *SMALL, "--out", shard[0], "--shard", shard)
        assert said.code == 0
        assert f"Shard {shard}. To join it with the others:" in said.out
    assert benchmark("merge", "half", "1").out.startswith("half: 8 of 16 meta-episodes\n8 are missing, first random / ")
    assert benchmark("merge", "all", "2", "1").out == "all: 16 of 16 meta-episodes\n"
    for name in (RECORDS, "manifest.json"):
        assert (Path("all") / name).read_bytes() == (Path("whole") / name).read_bytes()
    assert benchmark("verify", "all", "--jobs", "1").out == "all: verified\n"
    assert "is not empty" in benchmark("merge", "all", "1").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--shard", "3/2"), "is K/N with 1 <= K <= N"),
        (("--shard", "one"), "is K/N with 1 <= K <= N"),
        (("--retry", "error"), "goes with --resume"),
        (("--resume", "--out", "r", "--retry", "ok"), "error, timeout or error,timeout"),
        (("--executor", "slurm"), "slurm"),
        (("--time-limit", "nan"), "the time limit must be more than 0 seconds"),
        (("--time-limit", "0"), "the time limit must be more than 0 seconds"),
        (("--concurrency", "0"), "greater than or equal to 1"),
    ],
)
def test_bad_options_say_what_is_good(benchmark: Terminal, arguments: tuple[str, ...], message: str) -> None:
    said = benchmark("run", "quick", *SMALL, *arguments)
    assert said.code == 2
    assert message in " ".join(re.sub("[│╭╮╰╯─]", " ", said.err).split())
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("jobs", "number", "to_group"),
    [
        ("1", signal.SIGINT, True),
        ("2", signal.SIGINT, True),
        ("1", signal.SIGTERM, False),
        ("2", signal.SIGTERM, True),
        ("2", signal.SIGTERM, False),
    ],
)
def test_signals_end_agents_that_wait_at_once_and_a_resume_goes_on(
    tmp_path: Path, jobs: str, number: signal.Signals, to_group: bool
) -> None:
    (tmp_path / "slow.py").write_text(SLOW_AGENT)
    options = ["quick", "--agent", "slow", "--meta-episodes", "6", "--jobs", jobs, "--out", "r", "--progress", "json"]
    command = [sys.executable, "slow.py", "run", *options]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, cwd=tmp_path, env=environment, start_new_session=True, text=True
    ) as process:
        assert process.stderr is not None
        records = tmp_path / "r" / RECORDS
        for line in process.stderr:
            if json.loads(line).get("done"):
                break  # One of seat 0 has ended; those of seat 1 wait for a minute.
        (os.killpg if to_group else os.kill)(process.pid, number)
        _, err = process.communicate(timeout=20)
    last = json.loads(err.splitlines()[-1])
    assert (process.returncode, last["event"]) == (128 + number, "interrupted")
    assert "Traceback" not in err
    assert last["resume"].endswith("--resume")
    assert records.read_bytes().count(b"\n") >= 1
    before = records.read_bytes()
    done = subprocess.run(
        [*command, "--resume", "--time-limit", "0.8"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in records.read_text().splitlines()]
    assert len(found) == 24
    assert {(record["seat"], record["status"]) for record in found} == {(0, "ok"), (1, "timeout")}
    assert set(before.splitlines()) <= set(records.read_bytes().splitlines())


COMPUTES = SLOW_AGENT.replace("async def act", "def act").replace(
    "await asyncio.sleep(0.05 if info[\"seat\"] == 0 else 60)", "time.sleep(0.05)"
).replace("import asyncio", "import time")  # fmt: skip


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_sigterm_ends_agents_that_compute_also_in_the_background(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "slow.py").write_text(COMPUTES)
    options = ["run", "quick", "--agent", "slow", "--jobs", jobs, "--out", "r", "--progress", "json"]
    with subprocess.Popen(
        [sys.executable, "slow.py", *options], stderr=subprocess.PIPE, cwd=tmp_path, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # As `command &` does in a script.
    ) as process:  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if json.loads(line).get("done"):
                break
        os.killpg(process.pid, signal.SIGTERM)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 143
    assert json.loads(err.splitlines()[-1])["event"] == "interrupted"
    assert "Traceback" not in err
    assert (tmp_path / "r" / RECORDS).read_bytes().endswith(b"\n")
