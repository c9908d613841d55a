"""What a run directory refuses, and what it says."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.plan import make_plan
from benchmarks.records import good_records
from benchmarks.rows import run_rows
from benchmarks.run_directory import MANIFEST, RECORDS, Mode, RunDirectory, load_run
from benchmarks.runner import run
from benchmarks.suites.base import Suite
from mage_envs.errors import RecordError, VerificationError
from tests.benchmarks.fakes import ignore_progress, make_fake, suite


def go(path: Path, mode: Mode = "new", found: Suite | None = None, *, seed: int = 0) -> RunDirectory:
    plan = make_plan(found or suite(4, "random"), seed=seed, factory=make_fake)
    return run(plan, path, ignore_progress, mode=mode)


def test_a_full_folder_is_refused(tmp_path: Path) -> None:
    go(tmp_path)
    with pytest.raises(RecordError, match=r"is not empty: add --resume or --overwrite"):
        go(tmp_path)


def test_overwrite_starts_anew(tmp_path: Path) -> None:
    go(tmp_path)
    go(tmp_path, "overwrite", suite(2, "random"))
    assert len(load_run(tmp_path).records()) == 2


@pytest.mark.parametrize("mode", ["new", "resume", "overwrite"])
def test_somebody_elses_folder_is_left_alone(tmp_path: Path, mode: Mode) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(RecordError, match=r"is no run directory, it holds 'thesis\.tex': choose another --out"):
        go(tmp_path, mode)
    assert (tmp_path / "thesis.tex").read_text() == "precious"
    assert not (tmp_path / MANIFEST).exists()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(RecordError, match="cannot make the folder"):
        go(tmp_path / "x")


def test_resume_names_what_differs(tmp_path: Path) -> None:
    go(tmp_path)
    before = (tmp_path / RECORDS).read_bytes()
    with pytest.raises(RecordError, match=r"what differs: panel, seed \(0 there, 1 now\)"):
        go(tmp_path, "resume", seed=1)
    with pytest.raises(RecordError, match=r"what differs: agents \('.*' there, '.*' now\), plays"):
        go(tmp_path, "resume", suite(4, "first"))
    assert (tmp_path / RECORDS).read_bytes() == before


def test_resume_of_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    go(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    go(tmp_path, "resume")
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    "touch",
    [
        lambda content: content + b'{"v":1,"agent":"ran',
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: content + content,
        lambda content: content.replace(b'"v":1,', b'"v": 1,'),
    ],
    ids=["torn", "line ends", "twice", "spaces"],
)
def test_resume_mends_what_is_no_damage(tmp_path: Path, touch: Callable[[bytes], bytes]) -> None:
    go(tmp_path)
    path = tmp_path / RECORDS
    before = path.read_bytes()
    path.write_bytes(touch(before))
    assert len(good_records(path)[0]) == 4
    go(tmp_path, "resume")
    assert path.read_bytes() == before


def test_a_record_that_is_no_part_of_the_run_is_named_and_kept(tmp_path: Path) -> None:
    go(tmp_path)
    path = tmp_path / RECORDS
    path.write_bytes(path.read_bytes().replace(b'"number":3', b'"number":9'))
    before = path.read_bytes()
    with pytest.raises(RecordError, match="a record of random / test/kuhn / 9, which is no part of this run"):
        go(tmp_path, "resume")
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", [MANIFEST, RECORDS])
@pytest.mark.parametrize("mode", ["resume", "overwrite"])
def test_a_folder_in_place_of_a_file(tmp_path: Path, name: str, mode: Mode) -> None:
    go(tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(RecordError, match=rf"cannot (read|delete) .*{name}"):
        go(tmp_path, mode)


def test_a_changed_manifest_is_refused(tmp_path: Path) -> None:
    go(tmp_path)
    path = tmp_path / MANIFEST
    path.write_text(path.read_text().replace("random", "minimax"))
    with pytest.raises(VerificationError, match="the manifest was changed"):
        load_run(tmp_path)


def test_resume_of_nothing_starts(tmp_path: Path) -> None:
    assert len(go(tmp_path / "new", "resume").records()) == 4


def test_a_damaged_record_stops_a_resume_and_keeps_the_file(tmp_path: Path) -> None:
    go(tmp_path)
    path = tmp_path / RECORDS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"?" + lines[1], *lines[2:]]))
    before = path.read_bytes()
    with pytest.raises(RecordError, match=r"meta_episodes\.jsonl:2: damaged"):
        go(tmp_path, "resume")
    assert path.read_bytes() == before
    path.write_bytes(b"".join([lines[0], *lines[2:]]))  # What the message tells to do.
    go(tmp_path, "resume")
    assert path.read_bytes() == b"".join(lines)


def test_records_without_a_manifest_are_nobodys(tmp_path: Path) -> None:
    go(tmp_path)
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(RecordError, match=r"files of a run but no manifest\.json"):
        go(tmp_path, "resume")
    with pytest.raises(RecordError, match="no run directory"):
        load_run(tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("v", 2, "format 2 is newer"), ("digest", 5, "damaged .digest"), ("config", {}, "damaged")],
)
def test_bad_manifests(tmp_path: Path, key: str, value: object, message: str) -> None:
    go(tmp_path)
    path = tmp_path / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(RecordError, match=message):
        load_run(tmp_path)


def test_the_manifest_says_what_and_where(tmp_path: Path) -> None:
    manifest = go(tmp_path).manifest
    assert manifest.digest == manifest.config.digest
    assert manifest.config.plays == {"test/kuhn": ("random",)}
    assert set(manifest.config.packages) == {"mage-envs", "open_spiel", "numpy"}
    assert set(manifest.host) == {"python", "system", "machine", "cpus"}


def test_records_need_not_fit_into_memory(tmp_path: Path) -> None:
    plan = make_plan(suite(60, "random"), factory=make_fake)
    directory = run(plan, tmp_path, ignore_progress)
    run_rows(directory, plan.panel, directory.stream(), verified=False)  # What this imports is no record.
    lines = directory.records_path.read_bytes().splitlines(keepends=True)
    padding = b"x" * 10**6
    large = (line.replace(b'"described":"', b'"described":"' + padding) for line in reversed(lines))
    directory.records_path.write_bytes(b"".join(large))
    tracemalloc.start()
    directory.finish(task.key for task in plan.tasks)
    run_rows(directory, plan.panel, directory.stream(), verified=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [record.number for record in directory.stream()] == list(range(60))
    assert peak < 20 * 10**6 < directory.records_path.stat().st_size
