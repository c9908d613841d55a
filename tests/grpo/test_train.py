"""Training as a user runs it: from the command to a folder that plays; interrupted, killed, resumed, collapsed."""

from __future__ import annotations

import json
import math
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("trl", reason="needs the extra train")

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, TrainerCallback
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

from benchmarks.cli import main as benchmark
from mage_agent.grpo.command import COLLAPSED
from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.run_folder import EVALUATION, METRICS, RunFolder, read_lines
from mage_agent.grpo.train import train
from mage_agent.grpo.trainer import MageTrainer
from mage_agent.tiny.build import build_model
from mage_envs.errors import MageError
from tests.grpo.test_command import run

STEPS = 4
TIMES = {"step_time", "seconds"}


class Reporter(TrainerCallback):  # type: ignore[misc]
    """Where TRL is told to log to."""

    logged: list[tuple[int, dict[str, Any]]] = []  # noqa: RUF012

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any], **_: Any) -> None:
        self.logged.append((state.global_step, dict(logs)))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    torch.set_num_threads(1)
    patch = pytest.MonkeyPatch()
    patch.setitem(INTEGRATION_TO_CALLBACK, "fake", Reporter)
    yield build_model(tmp_path_factory.mktemp("model") / "tiny", hidden=32, layers=1, heads=2, context=4096)
    patch.undo()


def options(model: Path, **more: Any) -> dict[str, Any]:
    return {
        "model": str(model),
        "agent": "zero_shot",
        "device": "cpu",
        "steps": STEPS,
        "groups": 1,
        "group_size": 2,
        "episodes": 2,
        "max_completion": 8,
        "temperature": 1.0,
        "top_p": 1.0,
        "top_k": 0,
        "learning_rate": 1e-3,
        "save_every": 2,
        **more,
    }


def words(model: Path, **more: Any) -> list[str]:
    found = []
    for name, value in options(model, **more).items():
        found += [f"--{name.replace('_', '-')}", str(value)]
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name not in TIMES} for line in read_lines(path)]


@pytest.fixture(scope="module")
def whole(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing interrupted."""
    Reporter.logged.clear()
    out = tmp_path_factory.mktemp("run") / "whole"
    asked = words(tiny, eval_every=3, eval_meta_episodes=2, report_to="fake")
    assert run("train", "--preset", "mage", "--scenario", "kuhn/train", "--out", str(out), "--quiet", *asked) == 0
    return out


def test_what_a_run_leaves(whole: Path, tiny: Path) -> None:
    assert TrainConfig(**options(tiny, eval_every=3, eval_meta_episodes=2, report_to="fake")).toml() == (
        whole / "config.toml"
    ).read_text(encoding="utf-8")
    (attempt,) = json.loads((whole / "provenance.json").read_text())["attempts"]
    assert attempt["packages"]["trl"]
    assert attempt["packages"]["torch"] == torch.__version__
    assert attempt["processes"] == 1
    metrics = lines(whole / METRICS)
    assert [line["step"] for line in metrics] == [1, 2, 3, 4]
    assert all({"loss", "entropy", "score/first", "score/last", "rate/invalid"} <= line.keys() for line in metrics)
    evaluations = lines(whole / EVALUATION)
    assert [line["step"] for line in evaluations] == [0, 3, 4]
    assert len({line["panel"] for line in evaluations}) == 1


def test_reporters_are_told_of_training_and_of_evaluation(whole: Path) -> None:
    assert [step for step, logs in Reporter.logged if "loss" in logs] == [1, 2, 3, 4]
    told = [(step, logs) for step, logs in Reporter.logged if "eval_gain" in logs]
    assert [step for step, _ in told] == [0, 3, 4]
    assert all({"eval_score/1", "eval_score/3", "eval_invalid"} <= logs.keys() for _, logs in told)
    assert not any("loss" in logs or "entropy" in logs for _, logs in told)


def test_tensorboard_shows_scores_by_episode_and_opponent(tiny: Path, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    config = TrainConfig(**options(tiny, steps=1, save_every=1, eval_every=1, eval_meta_episodes=2),
                         report_to="tensorboard")  # fmt: skip
    train(config, folder := RunFolder(tmp_path / "run"), "new")
    (written,) = (folder.path / "runs").iterdir()
    events = EventAccumulator(str(written))
    events.Reload()
    shown = {name: [event.step for event in events.Scalars(name)] for name in events.Tags()["scalars"]}
    assert shown["train/loss"] == shown["train/score/first"] == shown["train/score/last"] == [1]
    assert any(name.startswith("train/score/last/") for name in shown)
    assert shown["eval/score/1"] == shown["eval/score/3"] == shown["eval/gain"] == [0, 1]
    (line,) = lines(folder.path / METRICS)
    (event,) = events.Scalars("train/score/last")
    assert event.value == pytest.approx(line["score/last"])


def test_the_result_is_a_plain_folder_that_plays(
    whole: Path, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    final, start = (load_file(folder / "model.safetensors") for folder in (whole / "final", tiny))
    assert final.keys() == start.keys()
    assert all(final[name].dtype == start[name].dtype for name in start)
    assert any(not torch.equal(final[name], start[name]) for name in start)
    generation = json.loads((whole / "final" / "generation_config.json").read_text())
    assert (generation["do_sample"], generation["temperature"]) == (True, 1.0)
    monkeypatch.setattr(
        sys, "argv",
        ["benchmark", "run", "quick", "--agent", "zero_shot", "--backend", "transformers", "--model",
         str(whole / "final"), "--meta-episodes", "2", "--max-tokens", "8", "--out", str(tmp_path / "played"),
         "--no-preflight", "--progress", "quiet", "--jobs", "1"],
    )  # fmt: skip
    with pytest.raises(SystemExit) as end:
        benchmark()
    assert not end.value.code


def test_a_run_is_not_overwritten_unasked_and_a_finished_one_says_where_it_is(
    whole: Path, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("train", "--out", str(whole), "--model", str(tiny)) == 2
    assert "is not empty: go on with --resume, delete with --overwrite" in " ".join(capsys.readouterr().err.split())
    assert run("train", "--resume", "--preset", "lamer", "--out", str(whole)) == 2
    assert "was begun otherwise" in " ".join(capsys.readouterr().err.split())
    assert run("train", "--resume", "--out", str(whole)) == 0
    assert f"Trained: {whole / 'final'}" in capsys.readouterr().out.replace("\n", "")


def test_interrupted_then_killed_then_resumed_is_as_if_nothing_had_happened(
    whole: Path, tiny: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    patched = (
        "from transformers import TrainerCallback\n"
        "from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK\n"
        "INTEGRATION_TO_CALLBACK['fake'] = TrainerCallback\n"
        "from mage_agent.cli import main\n"
        "main()\n"
    )

    def ended_at(line: str, number: signal.Signals, *asked: str) -> tuple[int, str]:
        command = [sys.executable, "-c", patched, "train", "--out", str(out), *asked]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            assert process.stderr is not None
            seen = ""
            for found in process.stderr:
                seen += found
                if found.startswith(line):
                    process.send_signal(number)
            return process.wait(), seen

    asked = words(tiny, eval_every=3, eval_meta_episodes=2, report_to="fake")
    code, seen = ended_at("evaluation after step 0", signal.SIGTERM, *asked)
    assert code == 128 + signal.SIGTERM, seen
    assert "Interrupted after step 1. To go on: mage-agent train --resume --out" in seen
    assert RunFolder(out).checkpoint() == out / "checkpoint-1"
    code, seen = ended_at("step 3/4", signal.SIGKILL, "--resume")
    assert code == -signal.SIGKILL, seen
    assert RunFolder(out).checkpoint() == out / "checkpoint-2"
    assert run("train", "--resume", "--out", str(out), "--quiet") == 0
    assert (out / "final" / "model.safetensors").read_bytes() == (whole / "final" / "model.safetensors").read_bytes()
    for name in (METRICS, EVALUATION):
        assert lines(out / name) == lines(whole / name)
    assert len(json.loads((out / "provenance.json").read_text())["attempts"]) == 3


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft asks for it by its old name.
@pytest.mark.parametrize(
    ("more", "step", "kept"),
    [({}, 1, "model.safetensors"), ({"mini_batches": 2}, 2, "model.safetensors"),
     ({"lora_rank": 2}, 1, "adapter_model.safetensors")],
)  # fmt: skip
def test_a_collapse_stops_the_run_and_keeps_all(
    more: dict[str, Any], step: int, kept: str, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    asked = words(tiny, stop_invalid=0.5, stop_patience=1, **more)
    assert run("train", "--out", str(out), *asked) == COLLAPSED
    said = " ".join(capsys.readouterr().err.split())
    assert f"Stopped after step {step}: the share of invalid replies was above stop_invalid = 0.5" in said
    assert f"the model is {out / 'collapsed'}" in said
    assert (out / f"checkpoint-{step}" / kept).exists()
    assert not (out / "final").exists()
    again = TrainConfig(**options(out / "collapsed", steps=1, save_every=1))
    assert train(again, RunFolder(tmp_path / "again"), "new").step == 1


def test_a_start_whose_weights_are_no_numbers_is_named(tmp_path: Path) -> None:
    start = build_model(tmp_path / "tiny", hidden=32, layers=1, heads=2, context=4096)
    weights = load_file(start / "model.safetensors")
    save_file({name: weight * math.nan for name, weight in weights.items()}, start / "model.safetensors",
              metadata={"format": "pt"})  # fmt: skip
    with pytest.raises(MageError, match="probabilities are no numbers"):
        train(TrainConfig(**options(start)), RunFolder(tmp_path / "run"), "new")


def test_layers_that_are_not_there_are_refused(tiny: Path, tmp_path: Path) -> None:
    config = TrainConfig(**options(tiny, lora_rank=2, lora_targets="q_proj, v_prj"))
    with pytest.raises(MageError, match=r"the model has no layer 'v_prj'\. Did you mean 'v_proj'"):
        train(config, RunFolder(tmp_path / "run"), "new")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"scenario": "kuhn/trian"}, "Did you mean"), ({"population": "nonsense"}, "nonsense"),
     ({"scenario": "sokoban/train", "population": "kuhn/train"}, "nobody else plays"),
     ({"agent": "random"}, "no model")],
)  # fmt: skip
def test_what_cannot_be_played_is_refused_before_a_model_is_loaded(
    wrong: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mage_agent.grpo.train.load_start", lambda config: pytest.fail("a model was loaded"))
    with pytest.raises(MageError, match=said):
        train(TrainConfig(**{**options(tmp_path), **wrong}), RunFolder(tmp_path / "run"), "new")


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft asks for it by its old name.
def test_lora_is_merged_into_the_result(tiny: Path, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="needs the extra train")
    folder = RunFolder(tmp_path / "run")
    more = {"lora_rank": 2, "gradient_checkpointing": True, "beta": 0.1, "steps": 1, "save_every": 1, "seed": 3}
    ending = train(TrainConfig(**options(tiny, **more)), folder, "new")
    assert (ending.step, ending.signal, ending.collapse) == (1, 0, "")
    ids = torch.arange(5, 25)[None]
    with torch.no_grad():
        base = AutoModelForCausalLM.from_pretrained(tiny)
        start = base(ids).logits
        adapted = peft.PeftModel.from_pretrained(base, folder.path / "adapter")(ids).logits
        final = AutoModelForCausalLM.from_pretrained(folder.final)(ids).logits
    torch.testing.assert_close(final, adapted)
    assert not torch.equal(final, start)


def test_the_result_is_in_the_type_that_the_start_came_in(tmp_path: Path) -> None:
    start = build_model(tmp_path / "tiny", hidden=32, layers=1, heads=2, context=4096, dtype="bfloat16")
    folder = RunFolder(tmp_path / "run")
    train(TrainConfig(**options(start, steps=1, save_every=1)), folder, "new")
    kept, final = (load_file(path / "model.safetensors") for path in (folder.path / "checkpoint-1", folder.final))
    assert {weight.dtype for weight in kept.values()} == {torch.float32}
    assert {weight.dtype for weight in final.values()} == {torch.bfloat16}
    assert AutoModelForCausalLM.from_pretrained(folder.final, dtype="auto").dtype == torch.bfloat16


def test_a_start_is_evaluated_once_and_its_own_way_to_draw_and_no_cache_are_not_the_results(tmp_path: Path) -> None:
    start = build_model(tmp_path / "tiny", hidden=32, layers=1, heads=2, context=4096)
    for name, more in (("generation_config.json", {"repetition_penalty": 1.3}), ("config.json", {"use_cache": False})):
        said = json.loads((start / name).read_text())
        (start / name).write_text(json.dumps({**said, **more}))
    config = TrainConfig(**options(start, steps=1, save_every=1, eval_every=1, eval_meta_episodes=2))
    folder = RunFolder(tmp_path / "run")
    with folder.opened(config, "new", {}):
        folder.append(EVALUATION, {"step": 0})  # Killed before there was a checkpoint.
    train(config, folder, "resume")
    assert [line["step"] for line in read_lines(folder.path / EVALUATION)] == [0, 1]
    assert json.loads((folder.final / "generation_config.json").read_text())["repetition_penalty"] == 1.0
    assert json.loads((folder.final / "config.json").read_text())["use_cache"] is True


def test_what_is_missing_and_what_is_too_short_is_said_in_fields_of_training(tiny: Path, tmp_path: Path) -> None:
    if find_spec("bitsandbytes") is None:
        with pytest.raises(MageError, match="optimiser = 'adamw_8bit' needs bitsandbytes: pip install bitsandbytes"):
            train(TrainConfig(**options(tiny, optimiser="adamw_8bit")), RunFolder(tmp_path / "a"), "new")
    with pytest.raises(MageError, match="allow shorter replies \\(--max-completion\\), or a longer context"):
        train(TrainConfig(**options(tiny, context=20)), RunFolder(tmp_path / "b"), "new")


def test_a_full_disk_is_named_and_another_failure_stays_as_it_is(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("unexpected pos")

    monkeypatch.setattr(MageTrainer, "train", fail)
    folder, config = RunFolder(tmp_path / "run"), TrainConfig(**options(tiny))
    with pytest.raises(RuntimeError, match="unexpected pos"):
        train(config, folder, "new")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(MageError, match=r"no space is left in .*run: make room, and go on with --resume"):
        train(config, folder, "resume")
