"""What a machine with a GPU is checked for: each check trains, draws or resumes with a tiny model that is built here.

Nothing is fetched. :mod:`mage_agent.grpo.gpu_check` runs them, in their order; without a GPU they can be walked through
on the CPU, where they prove that the check itself works.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file

from mage_agent.backends.loading import no_progress_bars
from mage_agent.grpo.config import TrainConfig
from mage_agent.grpo.run_folder import METRICS, Mode, RunFolder, read_lines
from mage_agent.grpo.scale import CONFIGS, GB, Shape, memory
from mage_agent.grpo.train import train
from mage_agent.tiny.qwen3 import build_qwen3

STEPS = 4

BASE: Mapping[str, Any] = {
    "scenario": "kuhn/train", "agent": "reflective", "steps": STEPS, "groups": 2, "group_size": 4, "episodes": 2,
    "max_completion": 32, "thinking": "off", "temperature": 1.0, "top_p": 1.0, "top_k": 0, "learning_rate": 1e-3,
    "gradient_checkpointing": True, "max_rows": 16, "save_every": 2, "keep_checkpoints": 0,
}  # fmt: skip


SMALL: Mapping[str, Any] = {"groups": 1, "group_size": 2, "max_completion": 8}
"""Enough to walk through on a CPU."""


class NoOccasionError(Exception):
    """A check that this machine gives no occasion for; the message says why."""


class Place(NamedTuple):
    """Where checks run.

    Attributes:
        folder: For models and runs.
        device: ``cuda`` or ``cpu``.
    """

    folder: Path
    device: str

    @property
    def model(self) -> Path:
        """The tiny model, built at the first look."""
        path = self.folder / "model"
        return path if path.exists() else build_qwen3(path, hidden=64, heads=2)

    def config(self, **more: Any) -> TrainConfig:
        """Returns a configuration of a training here."""
        device = "cpu" if self.device == "cpu" else "auto"
        size = SMALL if self.device == "cpu" else {}
        own = {"model": str(self.model), "device": device, "precision": "bfloat16"}
        return TrainConfig(**{**BASE, **size, **own, **more})


class Found(NamedTuple):
    """What a check found.

    Attributes:
        right: Whether it is as it should be.
        words: In words.
        figures: What was measured, by name.
    """

    right: bool
    words: str
    figures: Mapping[str, float]


def training(place: Place) -> Found:
    """Trains all weights in bfloat16, with checkpointed activations."""
    folder = RunFolder(place.folder / "whole")
    _forget_peak(place)
    _train(place.config(), folder, "new")
    lines = list(read_lines(folder.path / METRICS))
    start, final = (load_file(path / "model.safetensors") for path in (place.model, folder.final))
    moved = max(float((final[name] - start[name]).abs().max()) for name in start)
    known = all(line["loss"] is not None for line in lines)  # What is no number is written as null.
    seconds = sum(line["step_time"] for line in lines[1:])
    tokens = lines[-1]["num_tokens"] - lines[0]["num_tokens"]
    figures = {"tokens_per_second": tokens / seconds, "largest_change": moved, "peak_gb": _peak(place)}
    right = known and len(lines) == STEPS and 0 < moved < 1
    return Found(right, f"{len(lines)} steps, losses are numbers, weights moved by up to {moved:.2g}", figures)


def resuming(place: Place) -> Found:
    """Goes on from the checkpoint in the middle, and compares the end with that of the whole run."""
    whole, again = RunFolder(place.folder / "whole"), RunFolder(place.folder / "again")
    shutil.copytree(whole.path, again.path, ignore=shutil.ignore_patterns("final", f"checkpoint-{STEPS}"))
    _train(place.config(), again, "resume")
    one, other = (load_file(folder.final / "model.safetensors") for folder in (whole, again))
    apart = max(float((one[name] - other[name]).abs().max()) for name in one)
    losses = [[line["loss"] for line in read_lines(folder.path / METRICS)] for folder in (whole, again)]
    allowed = 0.0 if place.device == "cpu" else 1e-3  # Sums of a GPU come in another order each time.
    return Found(apart <= allowed and len(losses[1]) == STEPS, f"weights differ by at most {apart:.2g}",
                 {"largest_difference": apart})  # fmt: skip


def adapter(place: Place) -> Found:
    """Trains LoRA's matrices, with a KL divergence from the model without them."""
    folder = RunFolder(place.folder / "adapter")
    _train(place.config(lora_rank=4, beta=0.1, steps=2, thinking="on"), folder, "new")
    lines = list(read_lines(folder.path / METRICS))
    kls = [line["kl"] for line in lines]
    return Found(kls[0] < 1e-3 and folder.final.is_dir(), f"KL {kls[0]:.2g}, then {kls[-1]:.2g}; merged into a folder",
                 {"kl": kls[-1]})  # fmt: skip


def parity(place: Place) -> Found:
    """Draws greedy replies here and on the CPU, in float32, and compares scores in bfloat16."""
    from transformers import AutoModelForCausalLM

    prompts = torch.randint(5, 250, (8, 40), generator=torch.Generator().manual_seed(0))
    with no_progress_bars():
        here, there = (
            AutoModelForCausalLM.from_pretrained(place.model).to(name).eval() for name in (place.device, "cpu")
        )
    kept = {
        "do_sample": False,
        "min_new_tokens": 32,
        "max_new_tokens": 32,
        "temperature": None,
        "attention_mask": torch.ones_like(prompts),
    }
    with torch.no_grad():
        one = there.generate(prompts, **kept)
        kept["attention_mask"] = kept["attention_mask"].to(place.device)
        other = here.generate(prompts.to(place.device), **kept).cpu()
        exact = there(one).logits
        far = float((here(one.to(place.device)).logits.cpu() - exact).abs().max())
        rough = here.to(torch.bfloat16)(one.to(place.device)).logits.float().cpu()
    scale = float(exact.abs().max())
    same = float((one == other).all(1).float().mean())
    rounding = float((rough - exact).abs().max()) / scale
    figures = {"equal_replies": same, "float32_difference": far / scale, "bfloat16_difference": rounding}
    right = same >= 0.75 and far < 1e-4 * scale and rounding < 0.05
    return Found(right, f"{same:.0%} of the replies are equal; scores differ by {far / scale:.1e} of the largest in "
                        f"float32, {rounding:.1e} in bfloat16".replace("%", " %"), figures)  # fmt: skip


def throughput(place: Place) -> Found:
    """Trains a larger model of random weights on random tokens, and compares its memory with the calculation."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    large = place.device != "cpu"
    shape = Shape(32000, 2048, 12, 16, 8, 128, 6144) if large else Shape(300, 32, 2, 2, 1, 16, 64)
    rows, length = (8, 2048) if large else (2, 32)
    _forget_peak(place)
    with torch.device(place.device):
        model = Qwen3ForCausalLM(
            Qwen3Config(
                vocab_size=shape.vocabulary, hidden_size=shape.hidden, num_hidden_layers=shape.layers,
                num_attention_heads=shape.heads, num_key_value_heads=shape.shared, head_dim=shape.width,
                intermediate_size=shape.inner, tie_word_embeddings=shape.tied,
            )
        )  # fmt: skip
        ids = torch.randint(0, shape.vocabulary, (rows, length))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # transformers is to rename it.
        model.gradient_checkpointing_enable({"use_reentrant": False})
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=large)
    steps = 6
    for step in range(steps):
        if step == 1:  # The first one makes Adam's states, and chooses kernels.
            _wait(place)
            begun = time.perf_counter()
        with torch.autocast(place.device, torch.bfloat16):
            # The hidden states stand for the loss: logits of so many tokens would be the largest thing there is.
            loss = model.model(input_ids=ids, use_cache=False).last_hidden_state.float().square().mean()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    _wait(place)
    speed = (steps - 1) * rows * length / (time.perf_counter() - begun)
    figures = {
        "tokens_per_second": speed,
        "operations_per_second": speed * 8 * (shape.weights - shape.ends),
        "peak_gb": _peak(place),
        "calculated_gb": memory(shape, learnt=rows * length, drawn=0).most / GB,
    }
    ratio = figures["peak_gb"] / figures["calculated_gb"]
    words = f"{speed:,.0f} tokens a second with {shape.weights:,} weights; memory "
    words += f"{ratio:.2f} times what is calculated" if large else "is measured on GPUs only"
    return Found(bool(torch.isfinite(loss)) and (not large or 0.5 < ratio < 1.5), words, figures)


def colocated(place: Place) -> Found:
    """Draws with vLLM in this process; its log-probabilities must be those of the model that is trained."""
    if place.device == "cpu" or not find_spec("vllm"):
        raise NoOccasionError("vllm is not installed" if place.device != "cpu" else "vllm in this process needs a GPU")
    folder = RunFolder(place.folder / "vllm")
    _train(place.config(vllm="colocate", vllm_memory=0.2, context=4096, steps=2), folder, "new")
    lines = list(read_lines(folder.path / METRICS))
    mean, dropped = lines[-1]["importance/mean"], lines[-1]["importance/dropped"]
    words = f"2 steps; ratio of log-probabilities {mean:.3f} on the average, {dropped:.1%} of the tokens dropped"
    return Found(0.8 < mean < 1.2 and dropped < 0.05, words.replace("%", " %"), {"ratio": mean, "dropped": dropped})


def sharded(place: Place) -> Found:
    """Trains with FSDP on all GPUs, by the command of the guide."""
    gpus = torch.cuda.device_count() if place.device != "cpu" else 0
    if gpus < 2:
        raise NoOccasionError("one GPU has nothing to share")
    config = place.folder / "sharded.toml"
    config.write_text(place.config(groups=gpus, beta=0.1, steps=2).toml(), encoding="utf-8")
    out = place.folder / "sharded"
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(CONFIGS / "accelerate_8gpu_fsdp.yaml"),
        "--num_processes", str(gpus), "-m", "mage_agent.cli", "train", "--config", str(config), "--out", str(out),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    last = (done.stderr.strip().splitlines() or [""])[-1]
    return Found(RunFolder(out).finished, f"{gpus} processes" if not done.returncode else last, {"gpus": gpus})


CHECKS: Mapping[str, Callable[[Place], Found]] = {
    check.__name__: check for check in (parity, training, resuming, adapter, throughput, colocated, sharded)
}


def _train(config: TrainConfig, folder: RunFolder, mode: Mode) -> None:
    """Trains; a signal, which ends a training in good order, ends the check, too."""
    if number := train(config, folder, mode).signal:
        raise SystemExit(128 + number)


def machine(device: str) -> dict[str, Any]:
    """Returns what is known of the device."""
    if device == "cpu":
        return {"device": "cpu", "torch": torch.__version__}
    properties = torch.cuda.get_device_properties(0)
    return {
        "device": properties.name,
        "memory_gb": properties.total_memory / GB,
        "gpus": torch.cuda.device_count(),
        "bfloat16": torch.cuda.is_bf16_supported(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
    }


def _wait(place: Place) -> None:
    if place.device != "cpu":
        torch.cuda.synchronize()


def _forget_peak(place: Place) -> None:
    if place.device != "cpu":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def _peak(place: Place) -> float:
    return 0.0 if place.device == "cpu" else torch.cuda.max_memory_allocated() / GB
