"""``mage-agent train`` and ``presets``: options, folders, errors. What trains is in test_train.py."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from benchmarks.cli import main as benchmark
from mage_agent import cli
from mage_agent.grpo import command
from mage_agent.grpo.config import ABOUT, DEFAULTS, TrainConfig, choices
from mage_agent.grpo.flags import flag
from mage_agent.grpo.pages import PAGE, renewed
from mage_agent.grpo.presets import PRESETS, resolve
from mage_agent.grpo.run_folder import METRICS, RULES, RunFolder, differences, read_lines
from mage_envs.errors import MageError


def run(*words: str) -> int:
    """Runs a command in this process. Returns its exit code."""
    before, sys.argv = sys.argv, ["mage-agent", *words]
    try:
        cli.main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().err.split())


def test_the_help_has_every_field_and_every_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    assert run("train", "--help") == 0
    shown = capsys.readouterr().out
    for name in DEFAULTS:
        assert f"{flag(name)} " in shown, name
    for part in {about.part for about in ABOUT.values()}:
        assert part in shown


@pytest.mark.parametrize("width", [80, 100])
def test_presets_are_listed_with_what_they_change(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "out", Console(width=width))
    assert run("presets") == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    for name, preset in PRESETS.items():
        assert f" {name} " in shown
        for field, value in preset.changes.items():
            assert f"{flag(field)} {value}" in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "no model is named: say --model PATH"),
        (("--model", "./none"), "there is no folder none"),
        (("--model", "m", "--preset", "mag"), "there is no preset 'mag'. Did you mean 'mage'"),
        (("--model", "m", "--top-p", "2"), "top_p = 2.0 is out of range: it is above 0, at most 1."),
        (("--model", "m", "--objective", "differentail"), "Did you mean 'differential'"),
        (("--model", "m", "--learning-rat", "1"), "No such option"),
        (("--model", "m", "--steps", "many"), "Invalid value for '--steps'"),
        (("--model", "m", "--config", "none.toml"), "cannot read none.toml"),
        (("--resume", "--overwrite"), "goes without --overwrite"),
        (("--resume",), "to go on with: leave out --resume"),
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
    assert run("train", "--out", "run", *words) == 2
    assert expected in said(capsys).replace("│ ", "").replace(" │", "")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_extra_is_named() -> None:
    code = (
        "import importlib.util, sys\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'trl' else found(name, *more)\n"
        "from mage_agent.cli import main\n"
        "sys.argv = ['mage-agent', 'train', '--model', 'm', '--out', 'run']\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "mage-agent: training needs trl: not installed; pip install 'mage-envs[train]'\n"


def test_what_plays_has_the_room_and_the_thoughts_that_training_had() -> None:
    folder = RunFolder(Path("runs/a b"))
    config = TrainConfig(agent="reflective", max_completion=4096, context=8192, thinking="off", legal_actions=False)
    told = command.to_play(folder, config)
    assert told[:5] == ["benchmark", "run", "quick", "--agent", "reflective"]
    options = dict(zip(told[5::2], told[6::2], strict=False))
    assert options["--model"] == str(folder.final)
    assert (options["--max-tokens"], options["--context"]) == ("4096", "8192")
    assert json.loads(options["--extra-body"]) == {"chat_template_kwargs": {"enable_thinking": False}}
    assert told[-1] == "--hide-legal-actions"
    plain = command.to_play(folder, TrainConfig())
    assert not {"--context", "--extra-body", "--hide-legal-actions"} & set(plain)
    before, sys.argv = sys.argv, [*told, "--help"]
    try:
        with pytest.raises(SystemExit) as ended:
            benchmark()
    finally:
        sys.argv = before
    assert not ended.value.code


def test_every_word_of_a_choice_is_allowed() -> None:
    for name in DEFAULTS:
        for word in choices(name):
            assert getattr(TrainConfig(**{name: word}), name) == word  # type: ignore[arg-type]


# Folders.


def test_a_folder_is_deleted_only_if_it_is_a_run_and_that_is_asked_for(tmp_path: Path) -> None:
    folder, config = RunFolder(tmp_path / "run"), TrainConfig(model="m")
    with folder.opened(config, "new", {"attempt": 1}):
        folder.append(METRICS, {"step": 1})
        with (
            pytest.raises(MageError, match="another training runs in"),
            folder.opened(config, "resume", {}),
        ):
            pass
    with pytest.raises(MageError, match="is not empty: go on with --resume, delete with --overwrite"):
        folder.check(config, "new")
    with folder.opened(config, "overwrite", {"attempt": 2}):
        assert not (folder.path / METRICS).exists()
    assert folder.config() == config
    other = RunFolder(tmp_path / "other")
    other.path.mkdir()
    (other.path / "mine.txt").write_text("mine")
    with pytest.raises(MageError, match="holds no run of training, and is not deleted"):
        other.check(config, "overwrite")


def test_rules_that_changed_are_no_way_to_go_on(tmp_path: Path) -> None:
    folder, config = RunFolder(tmp_path / "run"), TrainConfig(model="m")
    with folder.opened(config, "new", {RULES: "a"}):
        pass
    with folder.opened(config, "resume", {RULES: "a"}):
        pass
    for other in ({RULES: "b"}, {}):
        with (
            pytest.raises(MageError, match=r"is not what the run in .* was begun with"),
            folder.opened(config, "resume", other),
        ):
            pass
    assert len(json.loads((folder.path / "provenance.json").read_text())["attempts"]) == 2


def test_a_kill_in_the_middle_of_overwriting_leaves_a_run_that_can_be_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    deleted = 0

    def counted(delete: Callable[..., None]) -> Callable[..., None]:
        def call(*args: Any, **more: Any) -> None:
            nonlocal deleted
            if deleted == kill_after:
                raise Killed
            deleted += 1
            delete(*args, **more)

        return call

    for kill_after in range(5):
        folder, config, deleted = RunFolder(tmp_path / str(kill_after)), TrainConfig(model="m"), 0
        with folder.opened(config, "new", {}):
            folder.append(METRICS, {"step": 1})
            for name in ("checkpoint-1", "final"):
                (folder.path / name).mkdir()
        with monkeypatch.context() as patched:
            patched.setattr("shutil.rmtree", counted(shutil.rmtree))
            patched.setattr(Path, "unlink", counted(Path.unlink))
            with pytest.raises(Killed), folder.opened(config, "overwrite", {}):
                pass
        folder.check(config, "overwrite")


def test_what_is_saved_is_the_configuration_with_its_hash(tmp_path: Path) -> None:
    folder, config = RunFolder(tmp_path), TrainConfig(model="m", steps=7)
    with folder.opened(config, "new", {"commit": "c"}):
        pass
    with folder.opened(config, "resume", {"commit": "d"}):
        pass
    provenance = json.loads((tmp_path / "provenance.json").read_text())
    assert provenance["config_sha256"] == hashlib.sha256((tmp_path / "config.toml").read_bytes()).hexdigest()
    assert provenance["config_sha256"] == config.sha256
    assert [attempt["commit"] for attempt in provenance["attempts"]] == ["c", "d"]


def test_a_run_goes_on_only_as_it_was_begun(tmp_path: Path) -> None:
    folder, config = RunFolder(tmp_path), TrainConfig(model="m", steps=7)
    with folder.opened(config, "new", {}):
        pass
    other = TrainConfig(model="m", steps=8, beta=0.1)
    with pytest.raises(MageError, match=r"was begun otherwise \(beta is 0.0, and not 0.1; steps is 7, and not 8\)"):
        folder.check(other, "resume")
    assert differences(config, config) == ""
    assert run("train", "--resume", "--out", str(tmp_path), "--steps", "8") == 2
    folder.final.mkdir()
    assert run("train", "--resume", "--out", str(tmp_path)) == 0
    assert run("train", "--resume", "--out", str(tmp_path), "--steps", "8") == 2


def test_lines_and_checkpoints_that_are_too_late_or_not_whole_are_taken_out(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for step in (1, 2, 3):
        folder.append(METRICS, {"step": step})
    with (tmp_path / METRICS).open("a") as stream:
        stream.write('{"step": 4, "lo')
    for step in (1, 2, 10):
        (tmp_path / f"checkpoint-{step}").mkdir()
        (tmp_path / f"checkpoint-{step}" / "trainer_state.json").write_text(f'{{"global_step": {step}}}')
    (tmp_path / "checkpoint-20").mkdir()
    assert folder.checkpoint() == tmp_path / "checkpoint-10"
    folder.forget_after(2)
    assert [line["step"] for line in read_lines(tmp_path / METRICS)] == [1, 2]
    assert not (tmp_path / "checkpoint-20").exists()
    folder.append(METRICS, {"step": 3})
    assert [line["step"] for line in read_lines(tmp_path / METRICS)] == [1, 2, 3]


# The page.

PAGE_TEXT = PAGE.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ mage-agent (.*)$", PAGE_TEXT, re.MULTILINE)


def test_the_page_is_up_to_date() -> None:
    assert renewed(PAGE_TEXT) == PAGE_TEXT, "run python -m mage_agent.grpo.pages"
    assert all(f"| `{name}` |" in PAGE_TEXT for name in (*DEFAULTS, *PRESETS))


@pytest.mark.parametrize("words", COMMANDS)
def test_what_the_page_says_to_type_is_known(words: str) -> None:
    assert run(*shlex.split(words), "--help") == 0


def test_the_file_of_the_page_is_one(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```", PAGE_TEXT, re.MULTILINE | re.DOTALL)
    (tmp_path / "lamer.toml").write_text(text)
    assert resolve(None, tmp_path / "lamer.toml", {"steps": 60}).learning_rate == 3e-4
