"""Trains two steps in one process, then the same in two: ``python -m tests.grpo.two_processes MODEL FOLDER LOSS``.

Groups are split over the processes. Each leaves ``<name>.pt``: weights, logs, how many turns it had.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import torch

from tests.grpo.training import trainer, weights

QUIET = ("step_time", "train_", "num_tokens")


def train(model: Path, folder: Path, loss_type: str, name: str, share: int) -> None:
    made = trainer(
        model, script=True, loss_type=loss_type, per_device_train_batch_size=8 // share, num_generations=8,
        model_init_kwargs={"dtype": "auto"}, optim="sgd", learning_rate=0.5, max_rows=6, entropy_coef=0.1,
        episodes=2, max_invalid=2,
    )  # fmt: skip
    before = weights(made.model)
    made.train()
    logs = [log for log in made.state.log_history if "loss" in log]
    told = {f"{step}/{key}": value for step, log in enumerate(logs) for key, value in log.items()}
    kept = {key: value for key, value in told.items() if not any(quiet in key for quiet in QUIET)}
    turns = len(made._buffered_inputs[0]["prompt_ids"]) - int((made._buffered_inputs[0]["tool_mask"].sum(1) == 0).sum())
    torch.save({"before": before, "weights": weights(made.model), "logs": kept, "turns": turns}, folder / f"{name}.pt")


def main() -> None:
    model, folder, loss_type = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(1)
    if "RANK" in os.environ:
        train(model, folder, loss_type, os.environ["RANK"], 2)
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.grpo.two_processes", *sys.argv[1:]],
            env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in (0, 1)
    ]
    train(model, folder, loss_type, "alone", 1)
    sys.exit(max(abs(process.wait()) for process in both))


if __name__ == "__main__":
    main()
