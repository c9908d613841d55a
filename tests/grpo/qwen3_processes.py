"""Two processes train a tiny Qwen3 by ``mage_agent.grpo.train``: ``python -m tests.grpo.qwen3_processes HOW FOLDER``.

HOW is ``ddp`` or ``fsdp``. accelerate offers FSDP on accelerators alone: its plugin is left out where processes are on
a CPU. Here it is told that they are not, so that what it does with Qwen3 can be seen over gloo. The two processes are
forks of one, which saves the imports.
"""

from __future__ import annotations

import os
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

import accelerate.state
import torch
import yaml
from accelerate.utils import DistributedType

from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.run_folder import RunFolder
from mage_agent.grpo.scale import CONFIGS
from mage_agent.grpo.train import train
from mage_agent.grpo.trainer import MageTrainer

SETTINGS: dict[str, Any] = {
    "scenario": "kuhn/train", "agent": "reflective", "device": "cpu", "steps": 2, "groups": 1, "group_size": 2,
    "episodes": 2, "max_completion": 8, "thinking": "off", "temperature": 1.0, "top_p": 1.0, "top_k": 0,
    "learning_rate": 1e-2, "beta": 0.1, "gradient_checkpointing": True, "max_rows": 4, "save_every": 1,
}  # fmt: skip


def settings(how: str) -> dict[str, Any]:
    """Returns fields of a run: with DDP only LoRA's matrices are trained; with FSDP all weights, in bfloat16."""
    return {**SETTINGS, **({"lora_rank": 2} if how == "ddp" else {"precision": "bfloat16"})}


def look_at_log_probabilities() -> None:
    """Has every log-probability looked at: none may be rounded to bfloat16."""
    compute = MageTrainer._get_per_token_logps_and_entropies

    def looked(self: Any, *arguments: Any, **more: Any) -> Any:
        found = compute(self, *arguments, **more)
        assert found[0].dtype == torch.float32
        return found

    MageTrainer._get_per_token_logps_and_entropies = looked


def split_on_cpu() -> None:
    """Turns FSDP on, with the settings of the file for eight GPUs."""
    told = yaml.safe_load((CONFIGS / "accelerate_8gpu_fsdp.yaml").read_text())["fsdp_config"]
    os.environ["ACCELERATE_USE_FSDP"] = "true"
    os.environ.update({name.upper(): str(value).lower() if isinstance(value, bool) else str(value)
                       for name, value in told.items()})  # fmt: skip
    begin = accelerate.state.PartialState.__init__

    def no_cpu(self: Any, *arguments: Any, **more: Any) -> None:
        begin(self, *arguments, **more)
        if self.distributed_type == DistributedType.MULTI_CPU:
            self.distributed_type = DistributedType.MULTI_GPU

    accelerate.state.PartialState.__init__ = no_cpu


def main() -> None:
    how, folder = sys.argv[1], Path(sys.argv[2])
    torch.set_num_threads(1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE="2")
    child = os.fork()
    rank = "0" if child else "1"
    os.environ.update(RANK=rank, LOCAL_RANK=rank)
    code = 1
    try:
        look_at_log_probabilities()
        if how == "fsdp":
            split_on_cpu()
        train(TrainConfig(model=str(folder / "model"), **settings(how)), RunFolder(folder / how), "new")
        torch.distributed.destroy_process_group()
        code = 0
    except Exception:  # noqa: BLE001  # The fork must not go on with what its parent was at.
        traceback.print_exc()
        sys.stderr.flush()
    if not child:
        os._exit(code)
    _, status = os.waitpid(child, 0)
    sys.exit(code or os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
