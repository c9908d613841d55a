"""Runs against a server that fails: same records as without faults, through kills, and no key in any file.

The large version, with its time, is ``python -m benchmarks.perf.faults``.
"""

from __future__ import annotations

import base64
import logging
import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.calls import CALLS, read_calls
from benchmarks.plan import make_plan
from benchmarks.run_directory import RECORDS, RunDirectory
from benchmarks.runner import Scheduling, run
from mage_agent.agents import make_agent
from mage_agent.backends.fault_server import FaultServer
from mage_agent.backends.injected_faults import TRANSIENT, at_rate
from mage_agent.model_settings import ModelSettings, Price
from tests.agents.asking import refusal
from tests.benchmarks.fakes import FORKSERVER, ignore_progress, suite
from tests.benchmarks.test_resume import files

pytest.importorskip("openai", reason="the extra openai is not installed")

SIZE = 24
KEY, PASSWORD = "sk-0123456789-secret", "pass-word/9876"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def play(path: Path, url: str, agent: str = "reflective", **settings: Any) -> RunDirectory:
    chosen = {"timeout": 1.0, "retries": 8, "price": Price(1.0, 2.0), **settings}
    model = ModelSettings("openai", "scripted", base_url=url, **chosen)
    plan = make_plan(suite(SIZE, agent), factory=partial(make_agent, model=model))
    return run(plan, path, ignore_progress, mode="resume", how=Scheduling(concurrency=16, calls=True))


def calls(path: Path) -> dict[Any, Any]:
    """Reads all calls; they stand in the file in the order in which meta-episodes ended."""
    return dict(read_calls(path / CALLS))


def results(path: Path) -> dict[str, bytes]:
    return {name: content for name, content in files(path).items() if name != CALLS}


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("calm")
    with FaultServer(latency=0.002) as server:
        play(path, server.url, timeout=30.0)
    return path


@pytest.fixture
def failing() -> Iterator[FaultServer]:
    with FaultServer(faults=at_rate(0.25, 1), latency=0.002, retry_after=0.01) as server:
        yield server


def test_faults_change_nothing(calm: Path, failing: FaultServer, tmp_path: Path) -> None:
    directory = play(tmp_path, failing.url)
    assert results(tmp_path) == results(calm)
    assert calls(tmp_path) == calls(calm)
    records = list(directory.stream())
    assert [record.status for record in records] == ["ok"] * SIZE
    assert len({record.number for record in records}) == SIZE
    assert len(set(failing.counts) & set(TRANSIENT)) > 6
    good = failing.counts["none"]
    sent = sum(record.usage.calls for record in records if record.usage)
    assert sent <= good <= sent + 3  # A reply can be late for its deadline on a machine that is busy.


def _play(path: Path, url: str) -> None:
    play(path, url)


def test_killed_and_resumed_with_faults(calm: Path, failing: FaultServer, tmp_path: Path) -> None:
    for enough in (30, 70):
        process = FORKSERVER.Process(target=_play, args=(tmp_path, failing.url))
        process.start()
        while len(failing.seen) < enough and process.is_alive():
            time.sleep(0.002)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL
    play(tmp_path, failing.url)
    assert results(tmp_path) == results(calm)
    assert calls(tmp_path) == calls(calm)


def test_a_run_that_is_played_again_from_the_cache_sends_nothing(calm: Path, tmp_path: Path) -> None:
    with FaultServer() as server:
        for number in (1, 2):
            play(tmp_path / f"run{number}", server.url, timeout=30.0, cache=tmp_path / "cache")
            assert results(tmp_path / f"run{number}") == results(calm)
            assert calls(tmp_path / f"run{number}") == calls(calm)
        assert sum(server.counts.values()) == sum(len(found) for found in calls(calm).values())


@pytest.mark.parametrize("status", [200, 400, 401, 404, 500])
def test_no_secret_is_written_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """The server says everything back that it was sent, as some do."""
    monkeypatch.setenv("MY_KEY", KEY)
    code = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
    words = f"what do you want with {KEY}"
    more = f" and {PASSWORD}, or {code}"
    with (
        FaultServer(lambda messages: refusal(status, words + more, code=KEY)) as server,
        caplog.at_level(logging.DEBUG),
    ):
        url = server.url.replace("127", "me:pass-word%2F9876@127")
        play(tmp_path / "run", url, "zero_shot", api_key_env="MY_KEY", retries=0, cache=tmp_path / "cache")
        server.script = lambda messages: refusal(status, words, code=KEY)
        play(tmp_path / "run2", server.url, "zero_shot", api_key_env="MY_KEY", retries=0)
        assert {seen.authorization for seen in server.seen} == {f"Basic {code}", f"Bearer {KEY}"}
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"attempt-1.log", RECORDS} <= {path.name for path in written}
    texts = [path.read_bytes().decode("utf-8", "replace") for path in written]
    for text in [*texts, str(calls(tmp_path / "run")), caplog.text]:
        for secret in (KEY, PASSWORD, "pass-word%2F9876", code):
            assert secret not in text
    if status == 401:
        assert any("MY_KEY is not accepted" in text for text in texts)


def test_a_failure_is_an_error_and_never_a_move(tmp_path: Path) -> None:
    for number, answer in enumerate((refusal(401, "who?"), {"content": "<action>bet</action>"})):
        with FaultServer(lambda messages, answer=answer: answer) as server:  # type: ignore[misc]
            records = list(play(tmp_path / str(number), server.url, "zero_shot").stream())
        assert {record.status for record in records} == ({"error"} if number == 0 else {"ok"})
        moves = {action for record in records for episode in record.episodes for action in episode.actions}
        assert moves == (set() if number == 0 else {"<action>bet</action>"})
