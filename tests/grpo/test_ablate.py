"""``mage-agent ablate``: what a study is, that it survives a kill at any moment, and what it says, by hand."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from filelock import FileLock
from rich.console import Console

from benchmarks import study as harness
from benchmarks.controls import CONTROLS as KNOWN
from benchmarks.panels import make_panel
from benchmarks.records import EpisodeRecord, Record
from benchmarks.study_report import markdown, results_csv, seeds_csv, terminal_table, write_report
from benchmarks.study_results import Line, over_seeds, results
from benchmarks.suites import SUITES
from benchmarks.training import validation
from mage_agent.agents import make_agent
from mage_agent.backends.base import Request
from mage_agent.backends.fake import FakeBackend
from mage_agent.base import Agent
from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.run_folder import CONFIG, Mode, RunFolder
from mage_agent.grpo.study import CONTROLS, DEFAULT_ARMS, NONE, START, Arm, Study, StudyFolder, grown, make_study
from mage_agent.grpo.study_runner import Runner, owed, trained_model
from mage_agent.model_settings import ModelSettings
from mage_envs.errors import MageError, RecordError
from tests.grpo.test_command import run, said

BASE = {"model": "any", "groups": 2, "steps": 3, "scenario": "kuhn/train", "eval_batch": 4}


def small(*names: str, seeds: int = 2, meta_episodes: int = 6, **more: Any) -> Study:
    return make_study(None, {**BASE, **more}, names or ("mage", "grpo"), seeds, meta_episodes)


class Ended(NamedTuple):
    """How a training of these tests ended; a signal in the last step leaves a trained model, too."""

    step: int = 3
    signal: int = 0
    collapse: str = ""
    last_step: bool = False


class Trainer:
    """Trains in no time: what comes out plays the first action after ``mage``, and any other after the rest.

    Attributes:
        called: Folders and modes, in order.
        ends: How trainings end, the first first; then well.
    """

    def __init__(self, *ends: Ended) -> None:
        self.called: list[tuple[str, int, Mode]] = []
        self.ends = list(ends)

    def __call__(self, config: TrainConfig, folder: RunFolder, mode: Mode) -> Ended:
        self.called.append((folder.path.parent.name, config.seed, mode))
        folder.check(config, mode)
        folder.path.mkdir(parents=True, exist_ok=True)
        (folder.path / CONFIG).write_text(config.toml())
        ended = self.ends.pop(0) if self.ends else Ended()
        result = folder.final
        if ended.collapse:
            result = folder.path / "checkpoint-1"
        if not ended.signal or ended.last_step:
            result.mkdir()
            (result / "trainer_state.json").write_text('{"global_step": 1}')
            (result / "skill").write_text("first" if folder.path.parent.name == "mage" else "any")
        return ended


def scripted(config: TrainConfig, model: str) -> Callable[[], Agent]:
    skill = (Path(model) / "skill").read_text() if Path(model).is_dir() else model
    return lambda: make_agent(config.agent, ModelSettings("fake", skill))


def runner(study: Study, path: Path, *ends: Ended) -> tuple[Runner, Trainer]:
    trainer = Trainer(*ends)
    return Runner(study, StudyFolder(path), trainer, scripted), trainer


def files(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted((path / "played").rglob("*.jsonl"))}


# What a study is.


def test_presets_stand_over_the_base() -> None:
    study = make_study(None, {**BASE, "group_size": 4, "episodes": 3}, (), 2)
    assert tuple(arm.name for arm in study.arms) == DEFAULT_ARMS
    assert (study.config("gigpo", 1).group_size, study.config("gigpo", 1).episodes) == (24, 1)
    assert (study.config("lamer", 1).group_size, study.config("lamer", 1).objective) == (4, "cumulative")
    assert study.config("mage", 1) == TrainConfig(**{**BASE, "group_size": 4, "seed": 1})  # type: ignore[arg-type]
    assert study.panel.episodes == 3
    study.check()
    assert set(CONTROLS) < set(KNOWN)


def test_a_file_is_the_base_and_files_are_arms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text('preset = "lamer"\nmodel = "m"\nseed = 7\nsteps = 5\n')
    Path("slow.toml").write_text('preset = "gigpo"\nlearning-rate = 1e-7\n')
    study = make_study(Path("base.toml"), {"steps": 9}, ("grpo", "slow.toml"), 3, 50)
    assert (study.compared, study.seeds, study.meta_episodes) == ("lamer", (7, 8, 9), 50)
    assert [arm.name for arm in study.arms] == ["lamer", "grpo", "slow"]
    slow = study.config("slow", 8)
    assert (slow.learning_rate, slow.episodes, slow.steps, slow.seed) == (1e-7, 1, 9, 8)
    assert study.controls_of("lamer") == ("none", "no_memory", "shuffled_reflection")
    assert study.controls_of("slow") == ("none",)


def test_what_would_be_trained_twice_or_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MageError, match="mage-score is the same configuration as mage: leave one out"):
        small("mage-score", reward="score").check()
    with pytest.raises(MageError, match="no model is named: say --model PATH"):
        make_study(None, {}, ()).check()
    with pytest.raises(MageError, match="there is no preset 'mag'"):
        small("mag")
    (tmp_path / "three.toml").write_text('preset = 3\nmodel = "m"\n')
    with pytest.raises(MageError, match="preset = 3 is no name of a preset: write it in quotes"):
        make_study(tmp_path / "three.toml", {})
    with pytest.raises(MageError, match=r"mage-mixed-groups cannot be trained: .* sokoban/train has 0"):
        make_study(None, {"model": "m", "scenario": "sokoban/train"}).check()
    with pytest.raises(MageError, match="gigpo cannot be trained: mini_batches = 10 does not divide"):
        small("gigpo", groups=1, group_size=10, mini_batches=10).check()
    for text, expected in (("model = './none'", "there is no folder none"), ("population = 'kuhn/trian'", "unknown")):
        (tmp_path / "other.toml").write_text(text)
        with pytest.raises(MageError, match=f"other cannot be trained: {expected}.*; say --presets without it"):
            small(str(tmp_path / "other.toml")).check()


@pytest.mark.parametrize("name", ["start", "played", "report"])
def test_a_file_may_not_be_called_as_what_a_study_has_beside_it(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.toml").write_text("steps = 4\n")
    for ask in (small, lambda file: small("mage").with_more([file], None, None)):
        with pytest.raises(MageError, match=f"{name} means something else in a study.*: rename the file"):
            ask(str(tmp_path / f"{name}.toml"))


def test_files_of_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, gamma in (("a", 0.1), ("b", 0.2), ("c", 0.1)):
        Path(folder).mkdir()
        Path(folder, "mine.toml").write_text(f"gamma_traj = {gamma}\n")
    for ask in (small, lambda *names: small("mage").with_more(names, None, None)):
        with pytest.raises(MageError, match=r"a/mine.toml and b/mine.toml would both be called mine.*: rename one"):
            ask("a/mine.toml", "b/mine.toml")
    assert [arm.name for arm in small("a/mine.toml", "c/mine.toml").arms] == ["mage", "mine"]


def test_a_file_may_not_be_called_as_another_preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mage.toml").write_text("gamma_traj = 0.3\n")
    for names in (("mage.toml",), ("mage", "mage.toml")):
        with pytest.raises(MageError, match=r"mage.toml would be called mage, .* preset of this name: rename the file"):
            small(*names)
    Path("gigpo.toml").write_text('preset = "gigpo"\n')
    assert dict(small("gigpo.toml").arms[1].changes) == dict(small("gigpo").arms[1].changes)
    Path("base.toml").write_text('preset = "gigpo.toml"\n')
    with pytest.raises(MageError, match=r"there is no preset 'gigpo.toml'"):
        make_study(Path("base.toml"), BASE)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"scenario": "kuhn/trian"}, "^unknown scenario 'kuhn/trian'"),
        ({"eval_scenario": "kuhn/trian"}, "^unknown scenario 'kuhn/trian'"),
        ({"population": "kuhn/trian"}, "^unknown "),
        ({"opponents": "mixed", "group_size": 2}, '^opponents = .* take opponents = "stationary"$'),
        ({"model": "./none"}, "^there is no folder none"),
    ],
)
def test_what_is_wrong_with_the_base_is_not_said_of_a_preset(more: dict[str, Any], expected: str) -> None:
    with pytest.raises(MageError, match=expected):
        small(*DEFAULT_ARMS, **more).check()


def test_a_study_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder, study = StudyFolder(tmp_path), small("mage", "grpo")
    assert folder.read() is None
    folder.write(study, {"commit": "a"})
    folder.write(study, {"commit": "b"})
    assert folder.read() == study
    found = folder.said()
    assert found is not None
    assert found["attempts"] == [{"commit": "a"}, {"commit": "b"}]
    (tmp_path / "study.json").write_text('{"v": 9}')
    with pytest.raises(MageError, match="format 9 is not 1"):
        folder.read()
    (tmp_path / "study.json").write_text("{")
    with pytest.raises(MageError, match="is damaged"):
        folder.read()


def test_a_file_of_rules_may_not_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules, out = tmp_path / "mine.py", tmp_path / "study"
    rules.write_text("x = 1\n")
    (tmp_path / "mine.toml").write_text(f"rules = '{rules}'\nsteps = 4\n")
    folder, study = StudyFolder(out), small("mage", str(tmp_path / "mine.toml"))
    folder.write(study, {})
    first = folder.said()
    assert first is not None
    assert first["rules_sha256"] == {str(rules): hashlib.sha256(b"x = 1\n").hexdigest()}
    assert run("ablate", "--out", str(out), "--dry-run") == 0
    rules.write_text("x = 2\n")
    assert run("ablate", "--out", str(out), "--dry-run") == 2
    assert f"{rules} is not what the study in {out} was begun with: take that file" in said(capsys)
    del first["rules_sha256"]  # As studies were before.
    (out / "study.json").write_text(json.dumps(first))
    assert run("ablate", "--out", str(out), "--dry-run") == 0
    folder.write(small("mage"), {})
    assert "rules_sha256" not in (folder.said() or {})


def test_a_study_may_grow_and_not_change() -> None:
    study = small("mage")
    more = study.with_more(["grpo"], 4, None)
    assert ([arm.name for arm in more.arms], more.seeds) == (["mage", "grpo"], (0, 1, 2, 3))
    assert study.with_more([], 1, 6) == study
    with pytest.raises(MageError, match="has 6 meta-episodes, and not 7: begin another"):
        study.with_more([], None, 7)
    with pytest.raises(MageError, match=r"begun otherwise \(meta_episodes is 6, and not 7\)"):
        grown(study, replace(study, meta_episodes=7), Path("x"))
    other = replace(study, arms=(Arm("mage", "", {"steps": 1}),))
    with pytest.raises(MageError, match=r"begun otherwise \(mage is {}, and not {'steps': 1}\)"):
        grown(study, other, Path("x"))


def test_panels_are_no_suites_and_no_validations() -> None:
    panel = small(meta_episodes=300).panel
    assert harness.NAME not in SUITES
    own = [{entry.seed for entry in harness.entries_of(panel, seed).entries} for seed in (0, 1)]
    assert not own[0] & own[1]
    others = {entry.seed for entry in validation(panel).entries}
    for name in ("quick", "games"):
        others |= {entry.seed for entry in make_panel(SUITES.get(name)).entries}
    assert not (own[0] | own[1]) & others
    assert harness.entries_of(panel, 0).hash.startswith("f790a6bd6826")
    assert harness.entries_of(small(meta_episodes=300, stop_on_success=True).panel, 0).hash.startswith("f790a6bd6826")


def test_the_panel_is_the_compared_arms(tmp_path: Path) -> None:
    base = tmp_path / "base.toml"
    base.write_text('preset = "mage-balanced"\nmodel = "m"\n')
    study = make_study(base, {}, ("mage-balanced",), 1)
    assert study.panel.scenario.name == study.config("mage-balanced", 0).scenario == "paper/tictactoe_balanced"
    study.check()
    assert make_study(base, {"eval_scenario": "paper/tictactoe"}, ()).panel.scenario.name == "paper/tictactoe"


def test_two_populations_of_a_game_play_one_panel_that_must_be_named(tmp_path: Path) -> None:
    base = tmp_path / "base.toml"
    base.write_text('preset = "mage-balanced"\nmodel = "m"\n')
    with pytest.raises(
        MageError,
        match="mage-skewed is trained on paper/tictactoe_skewed, and mage-balanced on paper/tictactoe_balanced: say "
        "what both shall play, with --eval-scenario",
    ):
        make_study(base, {}, ("mage-skewed",)).check()
    study = make_study(base, {"eval_scenario": "paper/tictactoe"}, ("mage-skewed",))
    study.check()
    assert study.panel.scenario.name == "paper/tictactoe"
    (tmp_path / "sampled.toml").write_text('population = "kuhn/heldout"\n')
    with pytest.raises(
        MageError, match="sampled is trained on kuhn/train against kuhn/heldout, and mage on kuhn/train:"
    ):
        small(str(tmp_path / "sampled.toml")).check()
    small(str(tmp_path / "sampled.toml"), eval_scenario="kuhn/heldout").check()
    (tmp_path / "same.toml").write_text('population = "kuhn/train"\nsteps = 4\n')
    small(str(tmp_path / "same.toml")).check()


@pytest.mark.parametrize("panel", ["", "rps/leaning", "paper/tictactoe"])
def test_two_games_are_not_compared(panel: str) -> None:
    study = small("mage", "mage-balanced", scenario="rps/leaning", eval_scenario=panel)
    with pytest.raises(MageError, match=r"mage-balanced is trained on .* not all one game: say --presets without"):
        study.check()


def test_all_may_be_judged_on_another_game_that_is_named() -> None:
    study = small("mage", "grpo", eval_scenario="leduc/train")
    study.check()
    assert study.panel.scenario.name == "leduc/train"


def test_studies_that_were_published_have_the_same_panels() -> None:
    for path in sorted((Path(__file__).parents[2] / "benchmarks" / "studies").glob("*/manifest.json")):
        said = json.loads(path.read_text())
        arms = tuple(Arm(**arm) for arm in said["arms"])
        study = Study(said["base"], said["compared"], arms, tuple(said["seeds"]), said["meta_episodes"])
        assert {str(seed): harness.entries_of(study.panel, seed).hash for seed in study.seeds} == said["panels"]
        hashes = {arm.name: {str(seed): study.config(arm.name, seed).sha256 for seed in study.seeds} for arm in arms}
        assert hashes == said["configs_sha256"]


# What is done.


def test_everything_is_trained_and_played_once(tmp_path: Path) -> None:
    study = small("mage", "grpo")
    work, trainer = runner(study, tmp_path)
    wanted = list(owed(study, work.folder))
    assert [(found.arm, found.seed, found.training) for found in wanted] == [
        (START, 0, False), ("mage", 0, True), ("grpo", 0, True), (START, 1, False), ("mage", 1, True), ("grpo", 1, True)
    ]  # fmt: skip
    assert wanted[0].playing == {NONE: 6}
    assert wanted[1].playing == {NONE: 6, "no_memory": 6, "shuffled_reflection": 6}
    assert work.run() == 0
    assert trainer.called == [("mage", 0, "new"), ("grpo", 0, "new"), ("mage", 1, "new"), ("grpo", 1, "new")]
    assert set(files(tmp_path)) == {
        f"played/{arm}/seed-{seed}-{control}.jsonl"
        for seed in (0, 1)
        for arm in (START, "mage", "grpo")
        for control in study.controls_of(arm)
    }
    assert list(owed(study, work.folder)) == []
    before = files(tmp_path)
    assert work.run() == 0
    assert len(trainer.called) == 4
    assert files(tmp_path) == before


def test_only_what_was_asked_for(tmp_path: Path) -> None:
    work, trainer = runner(small("mage", "grpo", "gigpo"), tmp_path)
    assert work.run(["grpo", START]) == 0
    assert trainer.called == [("grpo", 0, "new"), ("grpo", 1, "new")]
    assert {found.arm for found in owed(work.study, work.folder)} == {"mage", "gigpo"}


def test_an_interrupted_training_goes_on(tmp_path: Path) -> None:
    study = small("mage", "grpo", seeds=1)
    work, trainer = runner(study, tmp_path, Ended(), Ended(1, signal.SIGTERM))
    assert work.run() == signal.SIGTERM
    assert trainer.called == [("mage", 0, "new"), ("grpo", 0, "new")]
    assert work.run() == 0
    assert trainer.called[2:] == [("grpo", 0, "resume")]


def test_a_signal_in_the_last_step_of_a_training_stops_the_study(tmp_path: Path) -> None:
    study = small("mage", "grpo", seeds=1)
    work, trainer = runner(study, tmp_path, Ended(signal=signal.SIGTERM, last_step=True))
    assert work.run(["mage", "grpo"]) == signal.SIGTERM
    assert trainer.called == [("mage", 0, "new")]
    assert files(tmp_path) == {}
    assert work.run() == 0
    assert trainer.called[1:] == [("grpo", 0, "new")]
    assert list(owed(study, work.folder)) == []


def test_a_collapse_is_noted_though_a_signal_came_with_it(tmp_path: Path) -> None:
    work, trainer = runner(small("mage", seeds=1), tmp_path, Ended(1, signal.SIGTERM, "no entropy", last_step=True))
    assert work.run(["mage"]) == signal.SIGTERM
    assert files(tmp_path) == {}
    assert work.run() == 0
    assert len(trainer.called) == 1


def test_a_training_that_was_killed_while_its_configuration_was_written_begins_anew(tmp_path: Path) -> None:
    study = small("mage", seeds=1)
    work, trainer = runner(study, tmp_path)
    left = work.folder.run("mage", 0).path / f".{CONFIG}.tmp"
    left.parent.mkdir(parents=True)
    left.write_text("model =")
    assert work.run() == 0
    assert trainer.called == [("mage", 0, "new")]


def test_a_collapsed_training_is_not_repeated_and_its_last_checkpoint_plays(tmp_path: Path) -> None:
    study = small("mage", seeds=1)
    work, trainer = runner(study, tmp_path, Ended(1, 0, "no entropy"))
    assert work.run() == 0
    assert work.run() == 0
    assert len(trainer.called) == 1
    work.folder.write(study, {})
    found = results(study, work.folder)
    (line,) = [line for line in found.lines if line.name == "mage"]
    assert line.played[0].collapsed
    assert "| mage ! |" in markdown(found)
    write_report(tmp_path, tmp_path / "report")
    manifest = json.loads((tmp_path / "report" / "manifest.json").read_text())
    assert manifest["collapsed"] == {"mage, seed 0": "step 1: no entropy"}


def test_the_model_of_a_collapse_plays_if_there_is_one(tmp_path: Path) -> None:
    study, folder = small("mage", seeds=1), StudyFolder(tmp_path)
    run_folder = folder.run("mage", 0)
    with pytest.raises(MageError, match=r"collapsed before its first checkpoint, .* say --only with the other presets"):
        folder.model(study, "mage", 0)
    for path in (run_folder.path / "checkpoint-1", run_folder.collapsed, run_folder.final):
        path.mkdir(parents=True)
        (path / "trainer_state.json").write_text('{"global_step": 1}')
        assert folder.model(study, "mage", 0) == str(path)


def test_what_another_process_is_at_is_left_to_it(tmp_path: Path) -> None:
    study = small("mage", "grpo", seeds=1)
    work, trainer = runner(study, tmp_path)
    lock = work.folder.lock("mage", 0)
    lock.parent.mkdir()
    with FileLock(lock):
        assert work.run() == 0
    assert trainer.called == [("grpo", 0, "new")]
    assert [found.arm for found in owed(study, work.folder)] == ["mage"]


def test_playing_that_was_stopped_and_killed_goes_on_to_the_same_file(tmp_path: Path) -> None:
    panel = small(meta_episodes=40).panel
    whole, path = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"

    def agent() -> Agent:
        return make_agent("reflective", ModelSettings("fake", "any"))

    def play(where: Path, stop: Callable[[], bool] = lambda: False, control: str = NONE) -> int:
        return harness.play(panel, 1, agent, 4, control, where, stop)

    assert play(whole) == 0
    played = whole.read_bytes().splitlines(keepends=True)
    assert len(played) == 40
    path.write_bytes(b"".join(played[7:2:-1]) + played[9][:50])  # Out of order, and the last one cut off.
    assert harness.missing(panel, 1, path) == 35
    left = play(path, lambda: True)
    assert 0 < left <= 35
    assert play(path) == 0
    assert path.read_bytes() == whole.read_bytes()
    with pytest.raises(RecordError, match="is of another panel: delete the file"):
        harness.missing(panel, 0, path)
    assert play(tmp_path / "none.jsonl", control="no_memory") == 0
    assert (tmp_path / "none.jsonl").read_bytes() != whole.read_bytes()


def test_a_study_that_is_killed_leaves_what_one_that_was_not_leaves(tmp_path: Path) -> None:
    study = small("mage", "grpo", seeds=1, meta_episodes=60)
    whole, _ = runner(study, tmp_path / "whole")
    assert whole.run() == 0
    code = (
        "import sys\nfrom pathlib import Path\nfrom tests.grpo.test_ablate import runner, small\n"
        "study = small('mage', 'grpo', seeds=1, meta_episodes=60)\nrunner(study, Path(sys.argv[1]))[0].run()\n"
    )
    path = tmp_path / "killed"
    watched = StudyFolder(path).records("mage", 0, "no_memory")
    with subprocess.Popen([sys.executable, "-c", code, str(path)]) as process:
        while process.poll() is None and not (watched.exists() and watched.stat().st_size):
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
    again, trainer = runner(study, path)
    assert again.run() == 0
    assert ("mage", 0, "new") not in trainer.called
    assert files(path) == files(tmp_path / "whole")


def test_a_signal_while_playing_stops_the_study(tmp_path: Path) -> None:
    work, trainer = runner(small("mage", seeds=1), tmp_path)

    def interrupt(request: Request) -> str:
        if request is backend.requests[0]:
            os.kill(os.getpid(), signal.SIGTERM)
        return "<action>pass</action>"

    backend = FakeBackend(interrupt)
    stopped = replace(work, seat=lambda *_: lambda: make_agent("reflective", backend))
    assert stopped.run() == signal.SIGTERM
    assert trainer.called == []
    assert work.run() == 0
    assert list(owed(work.study, work.folder)) == []


def test_models_that_cannot_play_stop_the_study_with_the_reason(tmp_path: Path) -> None:
    def seat(config: TrainConfig, model: str) -> Callable[[], Agent]:
        return lambda: make_agent("reflective", ModelSettings("fake", "any", context=10))

    work = replace(runner(small(seeds=1), tmp_path)[0], seat=seat)
    with pytest.raises(RecordError, match=r"no meta-episode in .*seed-0-none.jsonl has a score: .*do not fit into 10"):
        work.run()


def test_a_model_plays_as_it_was_trained() -> None:
    config = TrainConfig(**{**BASE, "temperature": 0.5, "max_completion": 9, "thinking": "off", "device": "cpu"})  # type: ignore[arg-type]
    agent = trained_model(config, "folder")()
    settings = agent.calls.settings  # type: ignore[attr-defined]
    assert (settings.model, settings.device, settings.batch) == ("folder", "cpu", 4)
    assert (settings.sampling.temperature, settings.sampling.max_tokens) == (0.5, 9)
    assert dict(settings.sampling.extra) == {
        "chat_template_kwargs": {"enable_thinking": False},
        "repetition_penalty": 1.0,  # Of the start's own the training knows nothing.
    }
    assert trained_model(replace(config, top_k=0), "folder")().calls.settings.sampling.top_k == 0  # type: ignore[attr-defined]


# What it says.


def test_the_interval_over_seeds_is_that_of_the_textbook() -> None:
    """Mean 7/30; deviation sqrt(7/300) = 0.152753; t of 2 degrees of freedom 4.302653; half 0.379458."""
    found = over_seeds([0.1, 0.2, 0.4])
    assert found.value == pytest.approx(7 / 30)
    assert found.low == pytest.approx(7 / 30 - 0.379458, abs=1e-6)
    assert found.high == pytest.approx(7 / 30 + 0.379458, abs=1e-6)
    assert over_seeds([0.5])[:3] == (0.5, None, None)


SCORES = {
    (START, NONE): [(0.0, 0.1), (0.0, 0.0), (0.0, 0.2)],
    ("mage", NONE): [(0.0, 0.4), (0.1, 0.4), (-0.1, 0.7)],
    ("mage", "no_memory"): [(0.0, 0.0), (0.1, 0.0), (-0.1, 0.0)],
    ("grpo", NONE): [(0.2, 0.3), (0.2, 0.2)],
}
"""Mean score of both episodes, by seed."""


@pytest.fixture
def told(tmp_path: Path) -> StudyFolder:
    """A study whose records have these means."""
    study = replace(
        small("mage", "grpo", seeds=3, meta_episodes=4, scenario="rps/leaning", eval_episodes=2),
        controls=("no_memory",),
    )
    folder = StudyFolder(tmp_path / "study")
    folder.write(study, {"commit": "c", "command": ["ablate"]})
    for (arm, control), by_seed in SCORES.items():
        for seed, means in enumerate(by_seed):
            path = folder.records(arm, seed, control)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(lines(study, seed, means)))
    return folder


def lines(study: Study, seed: int, means: tuple[float, ...]) -> list[bytes]:
    found = []
    for number, entry in enumerate(harness.entries_of(study.panel, seed).entries):
        off = 0.5 if number % 2 else -0.5  # Their mean stays.
        episodes = tuple(
            EpisodeRecord(instance="i", seat=0, actions=(), reward=mean + off, outcome="draw", length=1, invalid=0,
                          forfeit=False)
            for mean in means
        )  # fmt: skip
        record = Record(
            agent="a", interface="text", scenario=entry.scenario, number=number, opponent=entry.opponent,
            described="", seat=0, seed=entry.seed, status="ok", episodes=episodes,
        )  # fmt: skip
        found.append(record.line() + b"\n")
    return found


def lines_of(folder: StudyFolder) -> dict[str, Line]:
    study = folder.read()
    assert study is not None
    return {line.name: line for line in results(study, folder).lines}


def test_differences_are_paired_by_seed(told: StudyFolder) -> None:
    found = lines_of(told)
    assert list(found) == [START, "mage", "mage, no_memory", "grpo"]
    mage, grpo, control = found["mage"], found["grpo"], found["mage, no_memory"]
    assert mage.score[1].value == pytest.approx(0.5)
    # Gains 0.4, 0.3, 0.8: deviation sqrt(0.07) = 0.264575, half 4.302653 * 0.264575 / sqrt(3) = 0.657241.
    assert mage.gain[:3] == pytest.approx((0.5, 0.5 - 0.657241, 0.5 + 0.657241), abs=1e-6)
    # Above the start by 0.3, 0.4, 0.5: half 4.302653 * 0.1 / sqrt(3) = 0.248414.
    assert mage.last_to_start[:3] == pytest.approx((0.4, 0.151586, 0.648414), abs=1e-6)
    assert mage.last_to_base.value is None
    # Seeds 0 and 1 only: -0.1 and -0.2; half 12.706205 * 0.0707107 / sqrt(2) = 0.635310.
    assert grpo.last_to_base[:3] == pytest.approx((-0.15, -0.785310, 0.485310), abs=1e-6)
    assert grpo.gain_to_base.value == pytest.approx(((0.1 - 0.4) + (0.0 - 0.3)) / 2)
    assert control.last_to_base.value == pytest.approx(-0.5)
    assert control.gain_to_base.value == pytest.approx(-0.5)


def test_scores_are_put_between_equilibrium_and_the_bayes_adaptive_policy(told: StudyFolder) -> None:
    study = told.read()
    assert study is not None
    found = results(study, told)
    assert found.ceilings.equilibrium == pytest.approx(0.0)
    assert found.ceilings.adaptive is not None
    best = found.ceilings.adaptive[-1]
    assert 0.3 < best < 0.7
    (mage,) = [line for line in found.lines if line.name == "mage"]
    assert mage.normalised.value == pytest.approx(0.5 / best)
    assert mage.normalised.high == pytest.approx(mage.score[1].high / best)  # type: ignore[operator]


def test_tables_say_what_is_there_and_what_is_missing(told: StudyFolder) -> None:
    study = told.read()
    assert study is not None
    found = results(study, told)
    page = markdown(found)
    assert "# Ablations on rps/leaning" in page
    assert "| mage | MAGE: what an episode gains over the one before counts | 3 | 12 |" in page
    assert "+0.400 [+0.152, +0.648]" in page
    assert "| grpo ! | GRPO on single episodes | 2 | 8 |" in page
    assert "Student's t over seeds" in page
    assert "4 meta-episodes of 2 episodes a seed" in page
    rows = {(row["arm"], row["control"]): row for row in csv.DictReader(io.StringIO(results_csv(found)))}
    assert rows["mage", NONE]["last_to_start_low"] == "0.151586"
    assert (rows["grpo", NONE]["complete"], rows["mage", NONE]["complete"]) == ("no", "yes")
    assert rows["grpo", NONE]["seeds"] == "0 1"
    seeds = list(csv.DictReader(io.StringIO(seeds_csv(found))))
    assert len(seeds) == 11
    assert {row["panel"] for row in seeds} == set(found.panels.values())
    assert [row["score_2"] for row in seeds if row["arm"] == "grpo"] == ["0.3", "0.2"]


def test_the_table_fits_into_a_terminal(told: StudyFolder) -> None:
    study = told.read()
    assert study is not None
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(terminal_table(results(study, told)))
    shown = console.export_text()
    assert max(map(len, shown.splitlines())) <= 80
    assert "grpo !" in shown
    assert " no_memory" in shown
    assert "+0.400 ±.248" in shown


def test_what_is_written_can_be_committed(told: StudyFolder, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    write_report(told.path, tmp_path / "out")
    names = {"table.md", "results.csv", "seeds.csv", "manifest.json", "figure.png", "figure.svg"}
    assert {file.name for file in (tmp_path / "out").iterdir()} == names
    first = {name: (tmp_path / "out" / name).read_bytes() for name in names}
    write_report(told.path, tmp_path / "out")
    assert {name: (tmp_path / "out" / name).read_bytes() for name in names} == first
    manifest = json.loads(first["manifest.json"])
    study = told.read()
    assert study is not None
    assert manifest["configs_sha256"]["grpo"]["1"] == study.config("grpo", 1).sha256
    assert (manifest["seeds"], manifest["meta_episodes"]) == ([0, 1, 2], 4)
    assert manifest["attempts"] == [{"commit": "c", "command": ["ablate"]}]
    assert "rules_sha256" not in manifest
    (told.path / "study.json").write_text(json.dumps({**(told.said() or {}), "rules_sha256": {"mine.py": "a"}}))
    write_report(told.path, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["rules_sha256"] == {"mine.py": "a"}


def test_a_report_of_nothing_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(MageError, match="there is no study in"):
        write_report(tmp_path, tmp_path / "report")
    StudyFolder(tmp_path).write(small(), {})
    with pytest.raises(MageError, match="nothing has been played yet"):
        write_report(tmp_path, tmp_path / "report")
    assert not (tmp_path / "report").exists()


# The command.


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "say where the study is kept, or --report DIR"),
        (("--out", "s"), "no model is named: say --model PATH"),
        (("--out", "s", "--model", "./none"), "there is no folder none"),
        (("--out", "s", "--model", "./none", "--dry-run"), "there is no folder none"),
        (("--out", "s", "--model", "m", "--scenario", "kuhn/trian"), "unknown scenario 'kuhn/trian'"),
        (("--out", "s", "--model", "m", "--presets", "mage,lamr"), "Did you mean 'lamer'"),
        (
            ("--out", "s", "--model", "m", "--only", "mage-x"),
            "--only mage-x: no such preset is in this study",
        ),
        (("--report", "s"), "there is no study in s"),
    ],
)
def test_errors_are_one_line_with_the_remedy(
    words: tuple[str, ...],
    expected: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERMINAL_WIDTH", "300")
    assert run("ablate", *words) == 2
    assert expected in said(capsys).replace("│ ", "").replace(" │", "")
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_lists_what_is_owed_and_does_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "study"
    assert run("ablate", "--out", str(out), "--model", "m", "--presets", "mage,grpo", "--seeds", "1", "--dry-run") == 0
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines() if " owed " in line or " done " in line]
    assert rows == [["start", "0", "done", "2,000"], ["mage", "0", "owed", "2,000"], ["grpo", "0", "owed", "2,000"]]
    assert "2,000 under no_memory" in shown
    assert not out.exists()


def test_a_real_study_of_one_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("trl", reason="needs the extra train")
    from mage_agent.tiny.build import build_model

    torch.set_num_threads(1)
    model = build_model(tmp_path / "tiny", hidden=32, layers=1, heads=2, context=4096)
    out, base = tmp_path / "study", tmp_path / "base.toml"
    base.write_text(
        f'model = "{model}"\ndevice = "cpu"\nsteps = 1\nsave_every = 1\ngroups = 1\ngroup_size = 2\nepisodes = 2\n'
        "max_completion = 4\neval_episodes = 2\nseed = 3\n"
    )
    words = ("--presets", "mage", "--seeds", "1", "--meta-episodes", "4", "--quiet")
    assert run("ablate", "--config", str(base), "--out", str(out), *words) == 0
    shown = capsys.readouterr().out
    assert "shuffled_reflection" in shown
    assert (out / "mage" / "seed-3" / "final" / "model.safetensors").exists()
    assert (out / "report" / "table.md").exists()
    assert len(files(out)) == 4
    kept = {path: path.stat().st_mtime_ns for path in (out / "mage").rglob("*") if path.is_file()}
    assert run("ablate", "--out", str(out), "--quiet") == 0
    assert {path: path.stat().st_mtime_ns for path in (out / "mage").rglob("*") if path.is_file()} == kept
    assert run("ablate", "--out", str(out), "--dry-run") == 0
    assert "Nothing is owed." in capsys.readouterr().out
    assert run("ablate", "--out", str(out), "--config", str(base), "--steps", "2", *words) == 2
    assert "was begun otherwise (base is" in said(capsys)
