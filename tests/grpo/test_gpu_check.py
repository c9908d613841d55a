"""The check of a GPU machine walks through on the CPU, says what is wrong, and says that there is no GPU."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="needs the extra train")
pytest.importorskip("peft", reason="needs the extra train")

import torch
import typer
from rich.console import Console

from mage_agent.grpo import gpu_check
from mage_agent.grpo.gpu_checks import CHECKS, Found, NoOccasionError, Place

pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")


def exit_code(*words: str) -> int:
    before, sys.argv = sys.argv, ["gpu_check", *words]
    try:
        typer.run(gpu_check.main)
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


def test_it_walks_through_on_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.set_num_threads(1)
    monkeypatch.setattr(gpu_check, "out", Console(width=100))
    written = tmp_path / "found.json"
    assert exit_code("--dry", "--out", str(written)) == 0, capsys.readouterr()
    found = json.loads(written.read_text())
    assert found["machine"]["device"] == "cpu"
    endings = {line["check"]: line["ending"] for line in found["checks"]}
    assert list(endings) == list(CHECKS)
    assert {name for name, ending in endings.items() if ending == "skipped"} == {"colocated", "sharded"}
    assert set(endings.values()) == {"right", "skipped"}
    figures = {line["check"]: line["figures"] for line in found["checks"]}
    assert figures["training"]["tokens_per_second"] > 0
    assert figures["resuming"]["largest_difference"] == 0
    assert figures["parity"]["equal_replies"] == 1
    shown = capsys.readouterr().out
    assert all(name in shown for name in CHECKS)
    assert max(map(len, shown.splitlines())) <= 100


def test_what_breaks_or_is_wrong_is_told_and_the_rest_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(place: Place) -> Found:
        raise RuntimeError("no kernel [image]")

    def skips(place: Place) -> Found:
        raise NoOccasionError("not here")

    checks = {"breaks": breaks, "wrong": lambda place: Found(False, "7 of 8", {}), "skips": skips}
    monkeypatch.setattr(gpu_check, "CHECKS", checks)
    written = tmp_path / "found.json"
    assert exit_code("--dry", "--out", str(written)) == 1
    lines = json.loads(written.read_text())["checks"]
    assert [line["ending"] for line in lines] == ["wrong", "wrong", "skipped"]
    assert [line["words"] for line in lines] == ["RuntimeError: no kernel [image]", "7 of 8", "not here"]
    assert "no kernel [image]" in capsys.readouterr().err


def test_without_a_gpu_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    written = tmp_path / "found.json"
    assert exit_code("--out", str(written)) == gpu_check.NO_GPU
    assert "There is no GPU here" in " ".join(capsys.readouterr().err.split())
    assert not written.exists()
