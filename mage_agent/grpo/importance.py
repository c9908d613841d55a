"""Importance ratios between the policy in training and the engine that sampled, which never computes quite the same."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import torch

Mode: TypeAlias = Literal["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]
MODES: tuple[Mode, ...] = get_args(Mode)


def importance_ratio(
    own: torch.Tensor,
    sampled: torch.Tensor,
    mask: torch.Tensor,
    mode: Mode,
    low: float | None,
    high: float | None,
) -> torch.Tensor:
    """Returns by how much more often the policy writes what was sampled than the engine that sampled it.

    Args:
        own: Log-probabilities of the tokens under the policy, shape (R, C).
        sampled: Those that the engine told, same shape; NaN where it told none, which counts as no difference.
        mask: 1 where a token carries loss, same shape.
        mode: Whether the ratio is that of each token or that of the reply, and whether what is out of range is moved to
            the limit, or is not trained at all.
        low: Lower limit; None: there is none.
        high: Upper limit; None: there is none.

    Returns:
        Ratios, shape (R, C) by token and (R, 1) by reply; 0 where a token or reply is not trained.

    Raises:
        ValueError: There is no such mode.
    """
    if mode not in MODES:
        raise ValueError(f"vllm_importance_sampling_mode must be one of {', '.join(MODES)}, got {mode!r}")
    difference = torch.nan_to_num((own - sampled) * mask, nan=0.0)
    if mode.startswith("sequence"):
        difference = difference.sum(dim=-1, keepdim=True)
    ratio = difference.exp()
    lowest, highest = 0.0 if low is None else low, float("inf") if high is None else high
    if mode.endswith("truncate"):
        return ratio.clamp(lowest, highest)
    return ratio.masked_fill((ratio < lowest) | (ratio > highest), 0.0)
