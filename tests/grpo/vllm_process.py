"""Trains with replies that vLLM draws, on the CPU: ``python -m tests.grpo.vllm_process HOW FOLDER [URL]``.

HOW is ``colocate``, ``lora``, ``unsent`` (colocated, and the weights stay what they were) or ``server``. vLLM is told
what a CPU lacks, and nothing else: in one process it packs weights for the CPU's kernels, so that none could be sent
to them later, and is kept from that; to a server weights go by NCCL, between GPUs, and are not sent.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.run_folder import RunFolder
from mage_agent.grpo.train import train

SETTINGS: dict[str, Any] = {
    "scenario": "kuhn/train", "agent": "reflective", "device": "cpu", "steps": 2, "groups": 1, "group_size": 2,
    "episodes": 2, "max_completion": 8, "temperature": 0.8, "top_p": 1.0, "top_k": 0, "learning_rate": 3e-2,
    "save_every": 1, "context": 4096,
}  # fmt: skip


def stay_unpacked() -> None:
    """Has weights computed with as they were loaded."""
    from vllm.model_executor.layers import utils

    def plain(layer: Any, remove_weight: bool) -> None:
        layer.cpu_linear = torch.nn.functional.linear

    utils.dispatch_cpu_unquantized_gemm = plain


def send_nothing(how: str) -> None:
    """Keeps the weights of training from vLLM."""
    from trl.generation.vllm_client import VLLMClient
    from trl.generation.vllm_generation import VLLMGeneration

    if how == "unsent":
        VLLMGeneration.sync_weights = lambda self: None
    else:
        VLLMClient.init_communicator = VLLMClient.close_communicator = lambda self, *_, **__: None
        VLLMClient.update_named_params = lambda self, metadata, named: sum(1 for _ in named)


def main() -> None:
    how, folder = sys.argv[1], Path(sys.argv[2])
    torch.set_num_threads(1)
    more: dict[str, Any] = {"vllm": "server" if how == "server" else "colocate"}
    if how == "lora":
        more |= {"lora_rank": 4}
    if how == "server":
        more |= {"vllm_url": sys.argv[3]}
    else:
        stay_unpacked()
    if how in ("unsent", "server"):
        send_nothing(how)
    train(TrainConfig(model=str(folder / "model"), **SETTINGS, **more), RunFolder(folder / how), "new")


if __name__ == "__main__":
    main()
