"""A tiny Qwen3 walks the path of Qwen3-4B: thoughts, LoRA, checkpointed activations, two processes, FSDP."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="needs the extra train")
pytest.importorskip("peft", reason="needs the extra train")

import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoTokenizer

from mage_agent.backends.base import Message
from mage_agent.backends.local_chat import LocalChat
from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.run_folder import METRICS, read_lines
from mage_agent.tiny.qwen3 import build_qwen3
from tests.grpo.qwen3_processes import settings

ROOT = Path(__file__).parents[2]
QUESTION = (Message("system", "Be brief."), Message("user", "Well?"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("qwen3")
    build_qwen3(place / "model")
    return place


def test_the_model_is_a_qwen3_with_thoughts(folder: Path, tmp_path: Path) -> None:
    config = AutoConfig.from_pretrained(folder / "model")
    assert (config.model_type, config.tie_word_embeddings) == ("qwen3", True)
    weights = load_file(folder / "model" / "model.safetensors")
    assert sum(weight.numel() for weight in weights.values()) < 15_000
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    asked = {
        told: tokenizer.decode(LocalChat(tokenizer, None, values).prompt(QUESTION).tokens)
        for told, values in (("", {}), ("on", {"enable_thinking": True}), ("off", {"enable_thinking": False}))
    }
    assert asked[""] == asked["on"]
    assert asked["off"] == asked["on"] + "<think>\n\n</think>\n\n"
    state = torch.get_rng_state()
    again = load_file(build_qwen3(tmp_path / "again") / "model.safetensors")
    assert all(torch.equal(again[name], weights[name]) for name in weights)
    assert torch.equal(torch.get_rng_state(), state)
    other = load_file(build_qwen3(tmp_path / "other", seed=1) / "model.safetensors")
    assert not torch.equal(other["model.embed_tokens.weight"], weights["model.embed_tokens.weight"])


@pytest.mark.parametrize("how", ["ddp", "fsdp"])
def test_two_processes_train_it(folder: Path, how: str) -> None:
    command = [sys.executable, "-m", "tests.grpo.qwen3_processes", how, str(folder)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    run = folder / how
    lines = list(read_lines(run / METRICS))
    assert [line["step"] for line in lines] == [1, 2]
    assert lines[0]["kl"] == pytest.approx(0, abs=1e-5)
    assert lines[1]["kl"] > 1e-6
    start, final = (load_file(place / "model.safetensors") for place in (folder / "model", run / "final"))
    assert start.keys() == final.keys()
    changed = {name for name in start if not torch.equal(start[name], final[name])}
    if TrainConfig(**settings(how)).lora_rank:
        assert {name for name in changed if not name.endswith("_proj.weight")} == set()
        assert (run / "adapter" / "adapter_model.safetensors").exists()
    else:
        assert "model.embed_tokens.weight" in changed
    assert len(changed) > len(start) / 2
    assert all(torch.isfinite(weight).all() for weight in final.values())
