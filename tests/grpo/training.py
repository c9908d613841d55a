"""Trainers of a tiny model, whose replies may be a script that makes members of a group differ."""

from __future__ import annotations

import hashlib
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from trl import GRPOConfig

from mage_agent.base import Briefing
from mage_agent.grpo.advantages import CreditRule
from mage_agent.grpo.dataset import make_dataset
from mage_agent.grpo.trainer import MageTrainer
from tests.grpo.rolling import END, TOKENIZER, Brief, first_listed, user_text

MOST = 24


class Marked(Brief):
    """Its prompts name its member, so that a script can make members differ."""

    async def begin(self, briefing: Briefing) -> None:
        await super().begin(briefing)
        self.words = self.templates.__class__(**{**self.templates.__dict__, "system": f"{briefing.seed} {{answer}}"})


def scripted(prompt: Sequence[int]) -> list[int]:
    """Takes the first action, the last, or none, by the prompt; and cuts some replies."""
    draw = hashlib.sha256(repr(tuple(prompt)).encode()).digest()
    text = user_text(prompt)
    said = [first_listed(text), first_listed(text[: text.rfind("\n")]), "<action>bet</action>", "?"][draw[0] % 4]
    return [*TOKENIZER(said)["input_ids"], END][:MOST]


def trainer(model: Path | Any, *, script: bool = False, rule: dict[str, Any] | None = None, **more: Any) -> MageTrainer:
    """Makes a trainer of two groups of four, unless it is told otherwise.

    Args:
        model: A folder, or a model.
        script: Whether replies come from :func:`scripted`.
        rule: Fields of the credit rule.
        more: Arguments of the trainer, and fields of GRPOConfig.
    """
    own = ("scenarios", "episodes", "max_rows", "generation_rows", "max_invalid", "context", "stop_on_success",
           "eval_dataset", "peft_config", "agent", "train_dataset", "processing_class")  # fmt: skip
    kept = {name: more.pop(name) for name in own if name in more}
    scenario, groups = more.pop("scenario", "kuhn/train"), more.pop("groups", 8)
    settings = {
        "output_dir": tempfile.mkdtemp(),
        "use_cpu": True,
        "max_steps": 2,
        "per_device_train_batch_size": 8,
        "per_device_eval_batch_size": 8,
        "num_generations": 4,
        "gradient_accumulation_steps": 1,
        "max_completion_length": MOST,
        "learning_rate": 1e-2,
        "lr_scheduler_type": "constant",
        "loss_type": "dapo",
        "bf16": False,
        "report_to": "none",
        "logging_steps": 1,
        "save_strategy": "no",
        "disable_tqdm": True,
        "activation_checkpointing": False,
        **more,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = MageTrainer(
            str(model) if isinstance(model, Path) else model,
            GRPOConfig(**settings),
            rule=CreditRule(**{"max_completion": MOST, "reward": "score", **(rule or {})}),
            **{
                "train_dataset": make_dataset([scenario], groups, seed=1),
                "agent": Marked,
                "processing_class": TOKENIZER if not isinstance(model, Path) else None,
                **kept,
            },
        )
    if script:
        made._generate_single_turn = lambda prompts, *_: ([scripted(prompt) for prompt in prompts], None)
    return made


def gradients(model: Any) -> torch.Tensor:
    """Returns all gradients in one vector."""
    return torch.cat([weight.grad.flatten() for weight in model.parameters() if weight.grad is not None])


def weights(model: Any) -> torch.Tensor:
    """Returns all weights in one vector."""
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])
