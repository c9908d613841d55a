"""Settings of TRL that have no meaning here, or another one than they say: refused before training begins."""

from __future__ import annotations

from trl import GRPOConfig

from mage_agent.grpo.advantages import CreditRule

BY_ROW, BY_BATCH, BY_TOKENS = ("grpo", "sapo", "dr_grpo", "luspo"), ("bnpo",), ("dapo", "cispo", "vespo")
"""Losses by what TRL divides them by: rows, tokens of what is computed at once, or tokens of the whole rollout."""


def check_settings(args: GRPOConfig, rule: CreditRule, max_rows: int, generation_rows: int | None) -> None:
    """Refuses settings that would be taken, and do nothing or something else than they say.

    Args:
        args: TRL's settings.
        rule: How turns are credited.
        max_rows: Most rows that are computed at once.
        generation_rows: Most prompts that are answered at once; None: all.

    Raises:
        ValueError: The message says what to do instead.
    """
    refused: dict[str, tuple[bool, str]] = {
        "mask_truncated_completions": (args.mask_truncated_completions, "cut replies are trained, with their penalty"),
        "use_adaptive_entropy": (args.use_adaptive_entropy, "take a fixed entropy_coef"),
        "top_entropy_quantile": (args.top_entropy_quantile < 1.0, "a quantile of a chunk is not one of the batch"),
        "log_completions": (args.log_completions, "a sample here is one turn; benchmark run --calls keeps prompts"),
        "use_transformers_continuous_batching": (
            args.use_transformers_continuous_batching,
            "its replies come in another order than its prompts: leave it out, or use vLLM",
        ),
        "optim": ("lomo" in str(args.optim), "it steps at every backward, and a loss is computed in chunks"),
        "loss_type": (args.loss_type not in (*BY_ROW, *BY_BATCH, *BY_TOKENS), "nobody knows how to weight its chunks"),
    }
    for name, (wrong, reason) in refused.items():
        if wrong:
            raise ValueError(f"{name}={getattr(args, name)!r} is not supported: {reason}")
    if rule.max_completion != args.max_completion_length:
        raise ValueError(
            f"the rule's max_completion ({rule.max_completion}) is not max_completion_length "
            f"({args.max_completion_length}): give both the same"
        )
    if max_rows < 1 or (generation_rows is not None and generation_rows < 1):
        raise ValueError(f"max_rows and generation_rows must be at least 1, got {max_rows} and {generation_rows}")
    every = args.steps_per_generation * args.num_iterations
    whole = args.save_steps < 1 or args.save_steps * args.gradient_accumulation_steps % every == 0
    if args.save_strategy == "steps" and not whole:
        raise ValueError(
            f"save_steps={args.save_steps} saves in the middle of a rollout, which is lost when training resumes: "
            f"make save_steps * gradient_accumulation_steps a multiple of {every}"
        )
