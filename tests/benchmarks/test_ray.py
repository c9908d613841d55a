"""On a Ray cluster of two workers that this module starts and stops, a run is the same to the byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.plan import MakeAgent, make_plan
from benchmarks.run_directory import load_run
from benchmarks.runner import Scheduling, run
from benchmarks.stopping import Limits, StoppedEarly
from mage_envs.errors import MageError
from tests.benchmarks.awaited import make_at_once, make_awaited
from tests.benchmarks.fakes import BuggySuite, ignore_progress, suite
from tests.benchmarks.test_resume import files

ray: Any = pytest.importorskip("ray", reason="Ray is not installed: pip install 'mage-envs[ray]'")

# Ray's own code leaves files open and calls what Python deprecates.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{name}")
    for name in ("ResourceWarning", "FutureWarning", "DeprecationWarning", "pytest.PytestUnraisableExceptionWarning")
]
SUITE = suite(20, "drawing", "random")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    from ray.cluster_utils import Cluster

    memory = 80 * 2**20
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": memory})
    started.add_node(num_cpus=1, object_store_memory=memory)
    yield started.address
    started.shutdown()


@pytest.fixture
def joined(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster)


def test_without_a_cluster_it_says_how_to_start_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(MageError, match="there is no Ray cluster"):
        run(make_plan(SUITE, factory=make_at_once), tmp_path, ignore_progress, how=Scheduling(executor="ray"))


@pytest.mark.usefixtures("joined")
def test_a_run_that_stops_early_keeps_what_was_finished(tmp_path: Path) -> None:
    plan = make_plan(suite(2000, "failing"), factory=make_at_once)
    how = Scheduling(jobs=2, executor="ray", limits=Limits(error_rate=0.2))
    with pytest.raises(StoppedEarly) as caught:
        run(plan, tmp_path, ignore_progress, how=how)
    assert caught.value.error == "ConnectionError: the server is gone"
    assert 20 <= len(load_run(tmp_path).places()) < 2000


@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize("make", [make_at_once, make_awaited])
def test_the_files_are_those_of_one_process(tmp_path: Path, make: MakeAgent) -> None:
    run(make_plan(SUITE, factory=make_at_once), tmp_path / "here", ignore_progress)
    how = Scheduling(jobs=None, loops=None, executor="ray")
    told: list[tuple[int, int, int]] = []
    run(make_plan(SUITE, factory=make), tmp_path / "ray", lambda *numbers: told.append(numbers), how=how)
    assert files(tmp_path / "ray") == files(tmp_path / "here")
    assert told[-1] == (40, 40, 0)
    assert not ray.is_initialized()


@pytest.mark.usefixtures("joined")
def test_errors_timeouts_and_calls_come_home_and_a_bug_is_raised_as_what_it_is(tmp_path: Path) -> None:
    plan = make_plan(suite(4, "hanging", "failing_at_seat_1", "recording"), factory=make_at_once)
    how = Scheduling(jobs=2, executor="ray", time_limit=1.0, calls=True)
    directory = run(plan, tmp_path / "run", ignore_progress, how=how)
    assert [record.status for record in directory.stream()] == ["ok", "timeout"] * 2 + ["ok", "error"] * 2 + ["ok"] * 4
    assert directory.calls_path.stat().st_size > 0
    base = suite(4, "drawing")
    buggy = BuggySuite(base.name, base.version, base.summary, base.parts)
    with pytest.raises(MageError, match="an opponent gave nonsense"):
        run(make_plan(buggy, factory=make_at_once), tmp_path / "bug", ignore_progress, how=Scheduling(executor="ray"))
