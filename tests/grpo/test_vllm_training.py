"""Training with replies that vLLM draws, in one process and from a server, on the CPU. ``make test-vllm`` runs this.

The ratio of what the model being trained thinks of a reply to what vLLM thought of it is 1 if vLLM has the same
weights, reads the same tokens and tells the log-probabilities that it drew with.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("vllm", reason="needs vLLM: make test-vllm")

import torch
from safetensors.torch import load_file
from trl.scripts.vllm_serve import ScriptArguments, build_command

from mage_agent.grpo.run_folder import METRICS, read_lines
from mage_agent.tiny.build import build_model
from tests.agents.real_server import OFFLINE, free_port, serving
from tests.grpo.vllm_process import SETTINGS

pytestmark = pytest.mark.skipif(
    torch.cuda.is_available(), reason="for machines without a GPU; for one with it: make gpu-check"
)
SPACE = {"VLLM_CPU_KVCACHE_SPACE": "1"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("vllm")
    build_model(found / "model", context=SETTINGS["context"])
    return found


def trained(folder: Path, how: str, *more: str) -> list[float]:
    """Trains two steps. Returns the mean ratio of each."""
    command = [sys.executable, "-m", "tests.grpo.vllm_process", how, str(folder), *more]
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **OFFLINE, **SPACE}, timeout=900
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    found, start = (load_file(folder / name / "model.safetensors") for name in (f"{how}/final", "model"))
    assert any(not torch.equal(found[name], start[name]) for name in start)
    lines = list(read_lines(folder / how / METRICS))
    assert [line["step"] for line in lines] == [1, 2]
    return [line["importance/mean"] for line in lines]


@pytest.mark.parametrize("how", ["colocate", "lora"])
def test_vllm_in_this_process_draws_from_the_weights_of_each_step(folder: Path, how: str) -> None:
    assert trained(folder, how) == pytest.approx([1, 1], abs=0.01)


def test_weights_that_are_not_sent_would_be_seen(folder: Path) -> None:
    first, second = trained(folder, "unsent")
    assert first == pytest.approx(1, abs=0.01)
    assert abs(second - 1) > 0.1


def test_a_server_reads_our_tokens_and_tells_the_log_probabilities_that_it_drew_with(folder: Path) -> None:
    asked = ScriptArguments(
        model=str(folder / "model"), host="127.0.0.1", port=(port := free_port()), dtype="float32",
        max_model_len=SETTINGS["context"], enforce_eager=True,
    )  # fmt: skip
    _, _, _, serve, model, *options = build_command(asked)
    assert serve == "serve"
    # Its own command looks for a package of the name of vLLM for GPUs; behind it is this.
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model, *options]
    with serving(command, port, folder / "server.log", 300, VLLM_SERVER_DEV_MODE="1", **SPACE) as url:
        first, second = trained(folder, "server", url.removesuffix("/v1"))
    assert first == pytest.approx(1, abs=1e-4)
    assert abs(second - 1) > 0.1  # Weights go between GPUs, and there is none.
