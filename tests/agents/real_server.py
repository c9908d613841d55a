"""Runs a server of someone else's as a process on loopback, until a test is done with it."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.plan import make_plan
from benchmarks.records import Record
from benchmarks.runner import Scheduling, run
from benchmarks.suites import Part, Suite
from mage_agent.agents import make_agent
from mage_agent.model_settings import ModelSettings
from mage_envs.scenarios import SCENARIOS

OFFLINE = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def serving(command: Sequence[str], port: int, log: Path, seconds: float, **environment: str) -> Iterator[str]:
    """Starts a server, waits until ``/health`` says that it is ready, and ends it: this process, and no other.

    Args:
        command: What starts it.
        port: Where it listens.
        log: File for what it says.
        seconds: How long it may take until it is ready.
        environment: Variables of its own.

    Yields:
        The base URL of its API.
    """
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **OFFLINE, **environment})
    try:
        limit = time.monotonic() + seconds
        while not _ready(port):
            if process.poll() is not None or time.monotonic() > limit:
                raise AssertionError(f"the server is not ready:\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


def _ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


class Factory:
    """Makes agents that ask one model; pickles."""

    def __init__(self, model: ModelSettings) -> None:
        self.model = model

    def __call__(self, name: str) -> object:
        return make_agent(name, model=self.model)


def played(
    model: ModelSettings, folder: Path, agents: Sequence[str], meta_episodes: int, scenario: str = "kuhn/train"
) -> list[Record]:
    """Plays a few meta-episodes through the harness. Returns their records, in the order of their keys."""
    suite = Suite("real", 1, "one scenario", (Part(SCENARIOS.get(scenario), meta_episodes, tuple(agents)),))
    done = run(
        make_plan(suite, factory=Factory(model)),  # type: ignore[arg-type]
        folder,
        lambda *_: None,
        how=Scheduling(concurrency=8),
    )
    return sorted(done.stream(), key=lambda record: (record.agent, record.seed))
