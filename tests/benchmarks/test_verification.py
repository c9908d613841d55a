"""A run whose records were touched does not verify, whatever was touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.panels import Panel, make_panel
from benchmarks.plan import make_plan
from benchmarks.run_directory import RunDirectory, load_run
from benchmarks.runner import run
from benchmarks.suites import SUITES
from benchmarks.verification import missing, rebuild_panel, verify
from mage_envs.errors import RecordError, UnknownNameError, VerificationError
from tests.benchmarks.fakes import ignore_progress, make_fake, suite

SUITE = suite(6, "random", "failing_at_seat_1", "illegal", "writer")


@pytest.fixture
def played(tmp_path: Path) -> tuple[RunDirectory, Panel]:
    return run(make_plan(SUITE, factory=make_fake), tmp_path, ignore_progress), make_panel(SUITE)


def touch(directory: RunDirectory, line: int, **changes: Any) -> None:
    lines = directory.records_path.read_text().splitlines()
    record = json.loads(lines[line])
    for place, value in changes.items():
        *path, last = place.split("__")
        target = record
        for step in path:
            target = target[int(step) if step.isdigit() else step]
        if value is None:
            del target[int(last)]
        else:
            target[int(last) if last.isdigit() else last] = value
    lines[line] = json.dumps(record)
    directory.records_path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_honest_run_verifies(played: tuple[RunDirectory, Panel], jobs: int) -> None:
    assert verify(*played, jobs=jobs, progress=ignore_progress) == 24


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes__1__reward": 9.0}, "episode 2: reward 9.0 recorded"),
        ({"episodes__0__instance": "7"}, "episode 1: instance '7' recorded"),
        ({"episodes__0__length": 4}, "episode 1: length 4 recorded"),
        ({"episodes__0__invalid": 1}, "episode 1: invalid 1 recorded"),
        ({"episodes__0__refused": {"illegal": 1}}, "episode 1: refused {'illegal': 1} recorded, {} replayed"),
        ({"episodes__0__seat": 1}, "episode 1: seat 1 recorded"),
        ({"episodes__2": None}, "ends before the meta-episode does"),
        ({"episodes__2__actions__0": 5}, "episode 3: .* recorded|ends before the meta-episode does"),
        ({"episodes__2__reflection": 0}, "goes on after the meta-episode has ended"),
        ({"episodes__0__actions__0": "pass"}, "cannot be replayed"),
        ({"interface": "text"}, "interface 'text' recorded, 'array' in the manifest"),
        ({"error": "the server is gone"}, "status 'ok' does not fit error 'the server is gone'"),
        ({"status": "error"}, "status 'error' does not fit error None"),
        ({"status": "error", "error": "none"}, "status 'error', but the meta-episode was played to its end"),
        ({"status": "timeout", "error": "none"}, "status 'timeout', but the meta-episode was played to its end"),
        ({"status": "forfeit"}, "status 'forfeit' does not fit"),
        ({"seed": 1}, "seed 1 recorded"),
        ({"seat": 1}, "seat 1 recorded, 0 in the panel"),
        ({"opponent": "random"}, "opponent 'random' recorded"),
        ({"described": "weak"}, "described as 'weak'"),
        ({"number": 400}, "no such meta-episode"),
        ({"agent": "minimax"}, "no such meta-episode"),
        ({"scenario": "kuhn/train"}, "no such meta-episode"),
    ],
)
def test_every_change_is_found_and_named(
    played: tuple[RunDirectory, Panel], changes: dict[str, Any], message: str
) -> None:
    directory, panel = played
    touch(directory, 0, **changes)
    with pytest.raises(VerificationError, match=message) as caught:
        verify(directory, panel, jobs=1, progress=ignore_progress)
    assert " / number " in str(caught.value)


@pytest.mark.parametrize("refused", [{}, {"illegal": 2}, {"illegal": 2, "empty": 1}, {"empty": 3}])
def test_kinds_of_invalid_answers_are_replayed(played: tuple[RunDirectory, Panel], refused: dict[str, int]) -> None:
    directory, panel = played
    illegal = next(n for n, found in enumerate(directory.records().values()) if found.agent == "illegal")
    touch(directory, illegal, episodes__0__refused=refused)
    with pytest.raises(VerificationError, match=r"illegal / .* refused .* recorded, {'illegal': 3} replayed"):
        verify(directory, panel, jobs=1, progress=ignore_progress)


def test_a_failed_meta_episode_is_replayed_as_far_as_it_got(played: tuple[RunDirectory, Panel]) -> None:
    directory, panel = played
    touch(directory, 7, episodes__0__reward=2.5)
    with pytest.raises(VerificationError, match=r"failing_at_seat_1 / test/kuhn / number 1: episode 1: reward 2\.5"):
        verify(directory, panel, jobs=1, progress=ignore_progress)


def test_a_changed_manifest_is_found(played: tuple[RunDirectory, Panel]) -> None:
    directory, panel = played
    config = directory.manifest.config.model_copy(update={"seed": 5})
    changed = directory._replace(manifest=directory.manifest.model_copy(update={"config": config}))
    with pytest.raises(VerificationError, match="manifest was changed"):
        verify(changed, panel, jobs=1, progress=ignore_progress)


def test_what_is_missing_is_counted(played: tuple[RunDirectory, Panel]) -> None:
    directory, panel = played
    assert missing(directory, panel) == 0
    directory.records_path.unlink()
    assert missing(directory, panel) == 24


@pytest.mark.parametrize("shown", [None, True, False])
def test_a_run_says_under_which_protocol_it_was_played(tmp_path: Path, shown: bool | None) -> None:
    plan = make_plan(SUITES.get("quick"), ["random"], meta_episodes=2, legal_actions_in_prompt=shown)
    usual = make_plan(SUITES.get("quick"), ["random"], meta_episodes=2).manifest.config
    config = plan.manifest.config
    assert (config == usual, config.panel == usual.panel, config.digest == usual.digest) == (shown is not False,) * 3
    assert ("legal_actions_in_prompt" in config.model_dump_json()) == (shown is False)
    directory = run(plan, tmp_path, ignore_progress)
    panel = rebuild_panel(load_run(tmp_path).manifest.config)
    assert panel.suite.protocol.legal_actions_in_prompt is (shown is not False)
    assert panel.hash == config.panel
    assert verify(directory, panel, jobs=1, progress=ignore_progress) == 2 * len(panel.suite.parts)


def test_a_run_under_another_protocol_is_not_resumed(tmp_path: Path) -> None:
    suite = SUITES.get("quick")
    run(make_plan(suite, ["random"], meta_episodes=2), tmp_path, ignore_progress)
    other = make_plan(suite, ["random"], meta_episodes=2, legal_actions_in_prompt=False)
    with pytest.raises(RecordError, match=r"panel, legal_actions_in_prompt \(None there, False now\)"):
        run(other, tmp_path, ignore_progress, mode="resume")


def test_another_panel_is_refused(played: tuple[RunDirectory, Panel]) -> None:
    config = played[0].manifest.config
    with pytest.raises(VerificationError, match="Use the MAGE that made the run"):
        rebuild_panel(config.model_copy(update={"suite": "quick"}))
    with pytest.raises(UnknownNameError, match="unknown suite"):
        rebuild_panel(config.model_copy(update={"suite": "quik"}))
