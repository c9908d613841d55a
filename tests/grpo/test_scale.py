"""Configurations for GPUs are what their libraries read, and the arithmetic of the guide is the model's own."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="needs the extra train")

import torch
from accelerate.commands.config.config_args import load_config_from_file
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from transformers import Qwen3Config, Qwen3ForCausalLM
from transformers.models.qwen3 import modeling_qwen3
from trl.scripts.vllm_serve import ScriptArguments, build_command

from mage_agent.grpo.config import DEFAULTS
from mage_agent.grpo.presets import resolve
from mage_agent.grpo.run_folder import RunFolder
from mage_agent.grpo.scale import (
    A100,
    CONFIGS,
    GB,
    QWEN3_4B,
    TASKS,
    Shape,
    Speed,
    Task,
    hours,
    memory,
)
from mage_agent.grpo.scale_page import PAGE, renewed
from mage_agent.grpo.train import arguments, template_values
from mage_envs.scenarios import SCENARIOS

PAPER = {"temperature": 0.7, "top_p": 0.8, "top_k": 20, "group_size": 8, "episodes": 3, "objective": "differential",
         "gamma_traj": 0.6, "gamma_step": 0.95, "estimator": "gigpo", "step_weight": 1.0, "normalisation": "mean",
         "grouping": "opponent", "anchors": "across", "opponents": "stationary", "reward": "outcome",
         "invalid_penalty": 0.5, "thinking": "on", "scheduler": "constant"}  # fmt: skip
EPOCHS = {"tictactoe": 150, "kuhn": 150, "sokoban": 300, "webshop": 150}
TURNS = {"sokoban": 7, "webshop": 12}

TOMLS = sorted(CONFIGS.glob("*.toml"))
YAMLS = sorted(CONFIGS.glob("*.yaml"))


@pytest.mark.parametrize("path", TOMLS, ids=lambda path: path.name)
def test_every_file_resolves(path: Path) -> None:
    config = resolve(None, path, {"model": "Qwen/Qwen3-4B"})
    assert config.played
    assert template_values(config) == {"enable_thinking": True}
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    assert next(iter(written)) == "preset"
    assert set(written) - {"preset"} <= set(DEFAULTS)


def test_there_are_files_of_all_four_tasks_and_for_one_gpu() -> None:
    assert {path.stem.removeprefix("qwen3_4b_") for path in TOMLS} == {*EPOCHS, "kuhn_lora"}
    assert [path.stem for path in YAMLS] == ["accelerate_1gpu", "accelerate_8gpu_ddp", "accelerate_8gpu_fsdp"]


@pytest.mark.parametrize("task", EPOCHS)
def test_what_the_paper_says_stands_in_the_files(task: str) -> None:
    config = resolve(None, CONFIGS / f"qwen3_4b_{task}.toml", {})
    assert {name: getattr(config, name) for name in PAPER} == PAPER
    assert config.learning_rate == 1e-6
    assert config.optimiser.startswith("adamw_torch")
    assert config.steps / config.steps_a_rollout == EPOCHS[task]
    assert config.groups * config.group_size / config.mini_batches == 64
    assert config.beta == (0.1 if task == "tictactoe" else 0.0)
    made = SCENARIOS.get(config.scenario).make(episodes=config.episodes)
    if task in TURNS:
        assert made.unwrapped.world.turns == TURNS[task]


@pytest.mark.parametrize("gpus", [1, 4, 8])
@pytest.mark.parametrize("path", TOMLS, ids=lambda path: path.name)
def test_meta_episodes_are_shared_out_evenly(
    path: Path, gpus: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WORLD_SIZE", str(gpus))
    monkeypatch.setattr("mage_agent.grpo.train.GRPOConfig", dict)
    settings: Any = arguments(resolve(None, path, {}), RunFolder(tmp_path), bfloat16=True)
    config = resolve(None, path, {})
    played = settings["per_device_train_batch_size"] * gpus * settings["steps_per_generation"]
    assert played == config.groups * config.group_size


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.name)
def test_accelerate_reads_its_files(path: Path) -> None:
    read = load_config_from_file(str(path))
    assert read.num_processes == (1 if "1gpu" in path.name else 8)
    assert read.mixed_precision == "bf16"
    assert not read.use_cpu
    wanted = {"1gpu": "NO", "8gpu_ddp": "MULTI_GPU", "8gpu_fsdp": "FSDP"}[path.stem.removeprefix("accelerate_")]
    assert read.distributed_type == wanted


def test_one_process_sees_one_gpu() -> None:
    """With more, transformers would wrap the model in ``DataParallel``, which TRL refuses."""
    from accelerate.utils.launch import prepare_simple_launcher_cmd_env

    words = ["--config_file", str(CONFIGS / "accelerate_1gpu.yaml"), "-m", "mage_agent.cli", "train"]
    read, *_ = _validate_launch_command(launch_command_parser().parse_args(words))
    _, told = prepare_simple_launcher_cmd_env(read)
    assert told["CUDA_VISIBLE_DEVICES"] == "0"


def test_accelerate_launch_takes_the_command_of_the_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own parser knows every option, and puts the file's values into the processes' environment."""
    from accelerate.utils.launch import prepare_multi_gpu_env

    words = ["--config_file", str(CONFIGS / "accelerate_8gpu_fsdp.yaml"), "-m", "mage_agent.cli", "train"]
    read, *_ = _validate_launch_command(launch_command_parser().parse_args(words))
    assert (read.use_fsdp, read.num_processes, read.module) == (True, 8, True)
    told = prepare_multi_gpu_env(read)
    assert told["ACCELERATE_USE_FSDP"] == "true"
    assert told["FSDP_VERSION"] == "2"
    assert told["FSDP_CPU_RAM_EFFICIENT_LOADING"] == "false"
    assert hasattr(modeling_qwen3, told["FSDP_TRANSFORMER_CLS_TO_WRAP"])
    assert told["FSDP_TRANSFORMER_CLS_TO_WRAP"] in Qwen3ForCausalLM._no_split_modules
    read, *_ = _validate_launch_command(
        launch_command_parser().parse_args([*words[:2], "--num_processes", "4", "x.py"])
    )
    assert read.num_processes == 4


@pytest.mark.filterwarnings("ignore:`gradient_checkpointing` is deprecated:FutureWarning")  # In transformers 6.
@pytest.mark.parametrize("vllm", ["colocate", "server"])
def test_trl_takes_what_we_say_of_vllm(vllm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    path = CONFIGS / "qwen3_4b_kuhn.toml"
    config = resolve(None, path, {"vllm": vllm, "device": "cpu", "optimiser": "adamw_torch"})
    made = arguments(config, RunFolder(tmp_path), bfloat16=False)
    assert (made.use_vllm, made.vllm_mode) == (True, vllm)
    assert made.vllm_max_model_length == config.context
    assert made.vllm_server_base_url == (config.vllm_url if vllm == "server" else None)
    assert made.vllm_gpu_memory_utilization == config.vllm_memory
    assert not made.vllm_importance_sampling_correction  # top-p and top-k: vLLM's numbers are among what they leave.
    whole = arguments(replace(config, top_p=1.0, top_k=0), RunFolder(tmp_path), bfloat16=False)
    assert whole.vllm_importance_sampling_correction


def test_trl_serves_as_the_guide_says() -> None:
    command = build_command(ScriptArguments(model="PATH", max_model_len=8192, tensor_parallel_size=2))
    page = PAGE.read_text(encoding="utf-8")
    for word in ("--weight-transfer-config", "--logprobs-mode", "--max-logprobs"):
        assert word in command
        assert word in page
    for name in ("model", "max_model_len", "tensor_parallel_size"):
        assert f"--{name} " in page


def test_the_model_of_the_calculation_is_qwen3_4b() -> None:
    with torch.device("meta"):
        model = Qwen3ForCausalLM(as_config(QWEN3_4B))
    assert QWEN3_4B.weights == sum(weight.numel() for weight in model.parameters()) == 4_022_468_096


def as_config(shape: Shape) -> Qwen3Config:
    return Qwen3Config(
        vocab_size=shape.vocabulary, hidden_size=shape.hidden, num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads, num_key_value_heads=shape.shared, head_dim=shape.width,
        intermediate_size=shape.inner, tie_word_embeddings=shape.tied,
    )  # fmt: skip


SMALL = Shape(vocabulary=50, hidden=16, layers=3, heads=4, shared=2, width=6, inner=20, tied=False)


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft asks for it by its old name.
def test_weights_of_an_adapter_and_the_cache_are_those_of_the_libraries() -> None:
    peft = pytest.importorskip("peft", reason="needs the extra train")
    model = Qwen3ForCausalLM(as_config(SMALL))
    assert SMALL.weights == sum(weight.numel() for weight in model.parameters())
    found = model(torch.zeros(1, 7, dtype=torch.long), use_cache=True).past_key_values
    numbers = sum(layer.keys.numel() + layer.values.numel() for layer in found.layers)
    assert SMALL.cache * 7 == numbers * 2
    adapted = peft.get_peft_model(model, peft.LoraConfig(r=3, target_modules="all-linear", task_type="CAUSAL_LM"))
    assert SMALL.adapter(3) == sum(weight.numel() for weight in adapted.parameters() if weight.requires_grad)


def test_memory_by_hand() -> None:
    alone = memory(QWEN3_4B)
    assert alone.kept == 16 * 4_022_468_096  # float32: weight, gradient, two states of Adam
    assert alone.passing == 2 * 4_022_468_096
    assert memory(QWEN3_4B, gpus=8).kept == alone.kept / 8
    assert memory(QWEN3_4B, gpus=8, reference=True).kept == alone.kept / 8 * 20 / 16
    lora = memory(QWEN3_4B, rank=32)
    assert lora.kept == 2 * 4_022_468_096 + 16 * 66_060_288
    assert memory(QWEN3_4B, drawn=1000).cache == 1000 * 2 * 36 * 8 * 128 * 2
    assert alone.most == alone.kept + alone.passing + max(alone.activations, alone.cache)


def test_the_ways_of_the_guide_fit_where_it_says_so() -> None:
    def largest(name: str, gpus: int) -> float:
        config = resolve(None, CONFIGS / name, {})
        tokens = config.context
        drawn = min(config.sample_rows, config.groups * config.group_size // gpus) * tokens
        return 1.1 * memory(
            QWEN3_4B, gpus=gpus, rank=config.lora_rank, reference=config.beta > 0, learnt=config.max_rows * tokens,
            drawn=drawn,
        ).most / GB + 1  # fmt: skip

    assert largest("qwen3_4b_kuhn_lora.toml", 1) < 24
    for name in EPOCHS:
        assert largest(f"qwen3_4b_{name}.toml", 8) < 80
    assert largest("qwen3_4b_kuhn.toml", 1) > 80


def test_hours_by_hand() -> None:
    task = Task(turns=4, prompt=100, reply=50, rollouts=10, meta_episodes=8, episodes=3)
    assert task.rows == 8 * (3 * 4 + 2)
    drawing, learning = hours(task, SMALL, 2, Speed(drawn=5.0, operations=1e6), passes=10)
    assert drawing == pytest.approx(112 * 10 * 50 / 5 / 2 / 3600)
    assert learning == pytest.approx(112 * 10 * 150 * 10 * SMALL.weights / 1e6 / 2 / 3600)
    assert set(TASKS) == set(EPOCHS)
    assert A100.operations < 312e12


def test_the_tables_of_the_guide_are_those_of_the_calculation() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert renewed(page) == page, "run python -m mage_agent.grpo.scale_page"
