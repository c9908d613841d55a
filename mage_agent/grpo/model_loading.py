"""The model that training starts from, and the folder that it ends in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import torch

from mage_agent.backends.loading import loading, no_progress_bars, only_here, remedy_for
from mage_agent.backends.local_files import local_folder
from mage_agent.backends.token_counts import load_tokenizer
from mage_agent.grpo.config import TrainConfig
from mage_envs.errors import MageError, near_matches


class Start(NamedTuple):
    """What training starts from.

    Attributes:
        model: The model: float32 if all of it is trained, else in the type of its arithmetic.
        tokenizer: Its tokenizer, which has a chat template and a token for padding.
        stored: The type of its weights on disk, which the result gets too.
        bfloat16: Whether arithmetic is in bfloat16.
    """

    model: Any
    tokenizer: Any
    stored: torch.dtype
    bfloat16: bool


def load_start(config: TrainConfig) -> Start:
    """Loads model and tokenizer.

    Raises:
        BackendError: One of them does not load, or has no chat template; the message names the remedy.
    """
    name, offline = _name(config)
    bfloat16 = _bfloat16(config)
    with loading(f"the model {config.model}", remedy_for(name, offline)), no_progress_bars():
        model = _load(config, torch.bfloat16 if bfloat16 and config.lora_rank else torch.float32)
        _draw_as_trained(model.generation_config, config)
        tokenizer = load_tokenizer(name, revision=config.revision, trust_remote_code=config.trust_remote_code)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return Start(model, tokenizer, _stored(config), bfloat16)


def lora_config(config: TrainConfig, model: Any) -> Any:
    """Returns what peft is told; None if all weights are trained.

    Raises:
        MageError: A layer that should get LoRA is not in the model.
    """
    if not config.lora_rank:
        return None
    from peft import LoraConfig

    targets = [name.strip() for name in config.lora_targets.split(",")]
    if targets != ["all-linear"]:
        layers = [name for name, layer in model.named_modules() if isinstance(layer, torch.nn.Linear)]
        for target in targets:  # peft would leave out what it does not find, if it finds another.
            if not any(f".{name}".endswith(f".{target}") for name in layers):
                raise MageError(f"lora_targets: the model has no layer {target!r}. "
                                f"{near_matches(target, {name.rpartition('.')[2] for name in layers})}")  # fmt: skip
    return LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=config.lora_dropout,
        target_modules="all-linear" if targets == ["all-linear"] else targets,
        task_type="CAUSAL_LM",
    )


def save_final(trainer: Any, config: TrainConfig, start: Start, folder: Path) -> None:
    """Writes the trained model as a plain folder of Hugging Face, in one step.

    LoRA's matrices are put into the weights. The model draws replies as training did, unless it is told otherwise. All
    processes call this.

    Args:
        trainer: The trainer, when training is over.
        config: What was trained.
        start: What it started from.
        folder: Where to.
    """
    temporary = folder.with_name(f".{folder.name}.tmp")
    adapter = folder.with_name("adapter")
    state = None
    if config.lora_rank:
        trainer.save_model(str(adapter))
    else:
        state = trainer.accelerator.get_state_dict(trainer.model_wrapped)
    if trainer.accelerator.is_main_process:
        shutil.rmtree(temporary, ignore_errors=True)
        model = _merged(config, start, adapter) if config.lora_rank else trainer.accelerator.unwrap_model(trainer.model)
        if state is not None:
            shared = getattr(model, "all_tied_weights_keys", None) or {}  # Weights that another name has already.
            state = {
                name: value.to(start.stored) if value.is_floating_point() else value
                for name, value in state.items()
                if name not in shared
            }
        _draw_as_trained(model.generation_config, config)
        with no_progress_bars():
            model.save_pretrained(temporary, state_dict=state)
        _say_type(temporary / "config.json", start.stored)
        start.tokenizer.save_pretrained(temporary)
        temporary.replace(folder)
    trainer.accelerator.wait_for_everyone()


def _merged(config: TrainConfig, start: Start, adapter: Path) -> Any:
    from peft import PeftModel

    with no_progress_bars():
        model = _load(config, torch.float32)
        return PeftModel.from_pretrained(model, adapter).merge_and_unload().to(start.stored)


def _say_type(path: Path, stored: torch.dtype) -> None:
    """Writes the type of the weights, and that replies are written with a cache, into a configuration.

    The library writes the type of the model in memory, and training has no use for a cache.
    """
    said = json.loads(path.read_text(encoding="utf-8"))
    said["dtype"], said["use_cache"] = str(stored).removeprefix("torch."), True
    path.write_text(json.dumps(said, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _draw_as_trained(generation: Any, config: TrainConfig) -> None:
    """Leaves nothing of how the model draws by itself: TRL tells no penalty of repetitions to whoever draws."""
    drawn = {"temperature": config.temperature, "top_p": config.top_p, "top_k": config.top_k}
    generation.update(do_sample=True, repetition_penalty=1.0, **drawn)


def _load(config: TrainConfig, dtype: Any) -> Any:
    from transformers import AutoModelForCausalLM

    name, offline = _name(config)
    return AutoModelForCausalLM.from_pretrained(
        name,
        revision=config.revision or None,
        dtype=dtype,
        use_safetensors=True,
        trust_remote_code=config.trust_remote_code,
        local_files_only=offline,
        adapter_kwargs={"local_files_only": offline},  # With peft, the hub is asked for an adapter, too.
        attn_implementation=None if config.attention == "auto" else config.attention,
    )


def _stored(config: TrainConfig) -> torch.dtype:
    from transformers import AutoConfig

    name, offline = _name(config)
    found = AutoConfig.from_pretrained(
        name,
        revision=config.revision or None,
        trust_remote_code=config.trust_remote_code,
        local_files_only=offline,
    )
    dtype = getattr(found.get_text_config(), "dtype", None)
    return dtype if isinstance(dtype, torch.dtype) else torch.float32


def _name(config: TrainConfig) -> tuple[str, bool]:
    """Returns how the library is told of the model, and whether it must look for it in what is here already."""
    folder = local_folder(config.model)
    name = str(folder) if folder else config.model
    return name, only_here(name)


def _bfloat16(config: TrainConfig) -> bool:
    if config.precision != "auto":
        return config.precision == "bfloat16"
    return config.device == "auto" and torch.cuda.is_available() and torch.cuda.is_bf16_supported()
