"""Training, from a configuration to a folder that plays: one script, read from top to bottom.

``mage-agent train`` calls :func:`train`; with several processes, ``accelerate launch -m mage_agent.cli train …``.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import warnings
from contextlib import nullcontext
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from accelerate.utils import gather_object
from transformers import PrinterCallback, set_seed
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK
from trl import GRPOConfig

from mage_agent.agents import make_agent
from mage_agent.backends.base import FinalError
from mage_agent.backends.loading import no_progress_bars
from mage_agent.backends.local_chat import LocalChat
from mage_agent.grpo.callbacks import EvaluateEvery, MetricsFile, Progress, StopOnCollapse, StopOnSignal
from mage_agent.grpo.config import TrainConfig, rules_sha256
from mage_agent.grpo.dataset import make_dataset, opponents_a_group
from mage_agent.grpo.evaluation import evaluate, harness, panel_of
from mage_agent.grpo.flags import flag
from mage_agent.grpo.interruption import Interruption, interruptible
from mage_agent.grpo.model_loading import load_start, lora_config, save_final
from mage_agent.grpo.run_folder import RULES, Mode, RunFolder
from mage_agent.grpo.trainer import MageTrainer
from mage_agent.language import LanguageAgent
from mage_envs.errors import MageError, near_matches

_log = logging.getLogger(__name__)

PACKAGES = ("mage-envs", "open_spiel", "numpy", "torch", "transformers", "trl", "accelerate", "peft")

_ROOM = 1 << 20
"""Bytes; a disk with fewer is full."""

_REPORTERS = {"tensorboard": ("tensorboard", "tensorboardX"), "wandb": ("wandb",), "trackio": ("trackio",)}
"""Where TRL can log to, and the packages that do it, one of which is needed."""


class Ending(NamedTuple):
    """How a training ended.

    Attributes:
        step: Its last step.
        signal: The signal that came while it ran; 0: none did. It may have come in the last step.
        collapse: Why it was stopped; empty if it was not.
        checkpoint: Its last checkpoint.
    """

    step: int
    signal: int
    collapse: str
    checkpoint: Path | None


def train(config: TrainConfig, folder: RunFolder, mode: Mode) -> Ending:
    """Trains, or goes on with a training.

    Args:
        config: What is trained, and how.
        folder: Where the run is kept.
        mode: Whether it is new, goes on, or replaces another.

    Returns:
        How it ended. If neither a signal nor a collapse ended it, ``folder.final`` is the trained model. After a
        collapse ``folder.collapsed`` is the model, unless its weights are no numbers any more.

    Raises:
        MageError: The configuration does not fit the machine, the model or the folder; the message names the remedy.
    """
    with warnings.catch_warnings(), no_progress_bars():
        warnings.filterwarnings("ignore", category=FutureWarning)  # TRL's calls of what transformers is to rename.
        try:
            return _train(config, folder, mode)
        except FinalError as error:  # It names a flag of commands that play.
            raise MageError(str(error).replace("--max-tokens", flag("max_completion"))) from error
        except Exception as error:  # Each library says it in another way, and some do not say it.
            if folder.path.is_dir() and shutil.disk_usage(folder.path).free < _ROOM:
                raise MageError(f"no space is left in {folder.path}: make room, and go on with --resume") from error
            if "probability tensor contains" in str(error):  # The sampler's words.
                raise MageError("the model's probabilities are no numbers, so that nothing can be drawn: begin with "
                                "another model or checkpoint, or with a lower learning_rate") from error  # fmt: skip
            raise


def _train(config: TrainConfig, folder: RunFolder, mode: Mode) -> Ending:
    first = os.environ.get("RANK", "0") == "0"
    if first:
        folder.check(config, mode)
    _check(config)
    dataset = _dataset(config)
    start = load_start(config)
    set_seed(config.seed)
    trainer = MageTrainer(
        start.model,
        arguments(config, folder, bfloat16=start.bfloat16),
        train_dataset=dataset,
        processing_class=start.tokenizer,
        peft_config=lora_config(config, start.model),
        rule=config.rule,
        scenarios=(config.played,),
        agent=config.agent,
        episodes=config.episodes,
        max_invalid=config.max_invalid,
        stop_on_success=config.stop_on_success,
        legal_actions_in_prompt=config.legal_actions,
        context=config.context or None,
        max_rows=config.max_rows,
        generation_rows=config.sample_rows or None,
        template_values=template_values(config),
    )
    if config.eval_every and trainer.is_fsdp_enabled:
        raise MageError(
            "the model is split over processes, and one alone cannot play: set eval_every = 0, and evaluate what is "
            "trained with `benchmark run`"
        )
    with folder.opened(config, mode, _facts(config)) if first else nullcontext(), interruptible() as interruption:
        trainer.accelerator.wait_for_everyone()  # Until the folder is ready.
        checkpoint = folder.checkpoint() if mode == "resume" else None
        if first and mode == "resume":
            folder.forget_after(_step(checkpoint))
        collapse = StopOnCollapse(config)
        interrupted = StopOnSignal(lambda: _signalled(trainer, interruption), config.steps_a_rollout)
        watching: list[Any] = [MetricsFile(folder), Progress(), collapse, interrupted]
        if config.eval_every:
            watching.append(EvaluateEvery(folder, config.eval_every, lambda: _evaluation(trainer, config), trainer))
        trainer.remove_callback(PrinterCallback)
        for callback in watching:
            trainer.add_callback(callback)
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        if collapse.reason and not collapse.broken:
            save_final(trainer, config, start, folder.collapsed)
        elif not collapse.reason and not interrupted.ended:
            save_final(trainer, config, start, folder.final)
        return Ending(
            step=trainer.state.global_step,
            signal=interruption.signal,
            collapse=collapse.reason,
            checkpoint=folder.checkpoint(),
        )


def arguments(config: TrainConfig, folder: RunFolder, *, bfloat16: bool) -> GRPOConfig:
    """Returns TRL's settings.

    Args:
        config: Ours.
        folder: The folder of the run.
        bfloat16: Whether arithmetic is in bfloat16.
    """
    return GRPOConfig(
        output_dir=str(folder.path),
        # The reference of KL is loaded by TRL: the model that training starts from, and no other revision of it.
        trust_remote_code=config.trust_remote_code,
        model_init_kwargs={"revision": config.revision} if config.revision else None,
        # The rollout: TRL's batch counts meta-episodes.
        num_generations=config.group_size,
        per_device_train_batch_size=_meta_episodes(config),
        steps_per_generation=config.mini_batches,
        gradient_accumulation_steps=1,
        num_iterations=config.iterations,
        max_completion_length=config.max_completion,
        temperature=config.temperature,
        top_p=config.top_p,
        top_k=config.top_k,
        use_vllm=config.vllm != "off",
        vllm_mode="server" if config.vllm == "server" else "colocate",
        vllm_server_base_url=config.vllm_url if config.vllm == "server" else None,
        vllm_gpu_memory_utilization=config.vllm_memory,
        vllm_tensor_parallel_size=config.vllm_tensor_parallel,
        vllm_max_model_length=config.context or None,
        vllm_importance_sampling_correction=_whole_distribution(config),
        # The loss.
        loss_type=config.loss,
        epsilon=config.epsilon,
        epsilon_high=config.epsilon_high,
        beta=config.beta,
        entropy_coef=config.entropy_weight,
        # The optimiser.
        max_steps=config.steps,
        optim=config.optimiser,
        learning_rate=config.learning_rate,
        lr_scheduler_type=config.scheduler,
        warmup_steps=config.warmup_steps,
        weight_decay=config.weight_decay,
        max_grad_norm=config.max_grad_norm,
        gradient_checkpointing=config.gradient_checkpointing,
        bf16=bfloat16,
        ddp_find_unused_parameters=False,
        use_cpu=config.device == "cpu",
        seed=config.seed,
        # Checkpoints and logs.
        save_strategy="steps",
        save_steps=config.save_every,
        save_total_limit=config.keep_checkpoints or None,
        logging_strategy="steps",
        logging_steps=config.log_every,
        report_to=_reporters(config),
        run_name=folder.path.resolve().name,
        project="mage",
        disable_tqdm=True,
    )


def template_values(config: TrainConfig) -> dict[str, Any]:
    """Returns what the chat template is told of thoughts."""
    return {} if config.thinking == "template" else {"enable_thinking": config.thinking == "on"}


def facts() -> dict[str, Any]:
    """Returns what is worth knowing of an attempt: versions, commit, processes, command."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = ""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    return {"packages": versions, "commit": harness().commit(), "processes": processes, "command": sys.argv[1:]}


def _facts(config: TrainConfig) -> dict[str, Any]:
    return {**facts(), RULES: rules_sha256(config)} if config.rules else facts()


def _check(config: TrainConfig) -> None:
    """Refuses what would only be found out later.

    Raises:
        MageError: The message names the remedy.
    """
    if not isinstance(agent := make_agent(config.agent), LanguageAgent):
        raise MageError(f"{agent.name} asks no model: train a language agent, such as reflective")
    opponents_a_group(config)
    if config.eval_every:
        panel_of(config)
    needs = {"bitsandbytes": ("optimiser", "8bit" in config.optimiser), "vllm": ("vllm", config.vllm != "off")}
    for module, (name, needed) in needs.items():
        if needed and not find_spec(module):
            raise MageError(f"{name} = {getattr(config, name)!r} needs {module}: pip install {module}")
    for name in _reporters(config):
        if name not in {"none", "all", *INTEGRATION_TO_CALLBACK}:
            raise MageError(f"report_to = {name!r} is unknown. {near_matches(name, INTEGRATION_TO_CALLBACK)}")
        if name in _REPORTERS and not any(find_spec(module) for module in _REPORTERS[name]):
            raise MageError(f"report_to = {name!r} needs {_REPORTERS[name][0]}: pip install {_REPORTERS[name][0]}")


def _reporters(config: TrainConfig) -> list[str]:
    return [name.strip() for name in config.report_to.split(",")]


def _dataset(config: TrainConfig) -> Any:
    """Returns the groups of all rollouts, in their order."""
    rollouts = -(-config.steps // config.steps_a_rollout)
    mixed = opponents_a_group(config)
    return make_dataset([config.played], rollouts * config.groups, config.seed, mixed=mixed)


def _whole_distribution(config: TrainConfig) -> bool:
    """Whether any token can be drawn.

    vLLM tells log-probabilities among the tokens that top-p and top-k leave, the loss computes them among all. Their
    ratio is below 1 for nearly every token, and over a reply of a thousand tokens it would be 0: no correction at all.
    """
    return config.top_p == 1 and config.top_k == 0


def _meta_episodes(config: TrainConfig) -> int:
    """Returns how many meta-episodes one process plays for one step.

    Raises:
        MageError: They cannot be shared out evenly.
    """
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    shares = processes * config.mini_batches
    if (config.groups * config.group_size) % shares:
        raise MageError(
            f"groups * group_size = {config.groups} * {config.group_size} meta-episodes cannot be shared out to "
            f"{processes} processes and mini_batches = {config.mini_batches}: make them a multiple of {shares}"
        )
    return config.groups * config.group_size // shares


def _evaluation(trainer: Any, config: TrainConfig) -> Any:
    """Lets the model as it is play the validation panel."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    chat = LocalChat(trainer.processing_class, model.generation_config.eos_token_id, template_values(config))
    known = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return evaluate(model, chat, config, config.context or known)


def _signalled(trainer: Any, interruption: Interruption) -> bool:
    """Whether any process got a signal."""
    if trainer.accelerator.num_processes == 1:
        return bool(interruption.signal)
    return any(gather_object([bool(interruption.signal)]))


def _step(checkpoint: Path | None) -> int:
    """Returns the step of a checkpoint; -1 if there is none, as then the start is evaluated again."""
    return -1 if checkpoint is None else int(checkpoint.name.rpartition("-")[2])
