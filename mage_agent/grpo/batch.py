"""Turns as tensors, in the form that TRL's loss reads, and the chunks that they are computed in.

R rows are the turns of one process; P is the length of the longest prompt, filled up on its left, and C that of the
longest reply, filled up on its right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch

from mage_agent.grpo.samples import Turn

Batch: TypeAlias = dict[str, Any]

OF_PROMPT = ("prompt_ids", "prompt_mask")
OF_REPLY = (
    "completion_ids", "completion_mask", "tool_mask", "old_per_token_logps", "ref_per_token_logps",
    "sampling_per_token_logps", "importance_sampling_ratio",
)  # fmt: skip
"""Tensors with a column for each token of a prompt, or of a reply. Others have one value a row, or one in all."""


class Chunk(NamedTuple):
    """Rows that are computed together.

    Attributes:
        rows: Which of the batch, shape (r,).
        batch: Their tensors, without columns that none of them needs.
        tokens: How many tokens of them carry loss.
    """

    rows: torch.Tensor
    batch: Batch
    tokens: int


def to_batch(turns: Sequence[Turn], advantages: Sequence[float], *, rows: int, pad: int) -> Batch:
    """Writes turns as tensors.

    Args:
        turns: The turns of this process.
        advantages: One for each.
        rows: How many rows there shall be, at least as many as turns, and at least 1. Those that are missing are copies
            of the shortest turn without loss: their ``tool_mask`` is 0.
        pad: Id of the token that fills rows up.

    Returns:
        ``prompt_ids``, ``prompt_mask`` (R, P); ``completion_ids``, ``completion_mask``, ``tool_mask`` (R, C);
        ``advantages`` (R,), ``reflects`` (R,): whether the turn is a reflection. If the sampler told log-probabilities:
        ``sampling_per_token_logps`` (R, C), NaN where one is unknown.
    """
    count = len(turns)
    shortest = min(turns, key=lambda turn: len(turn.prompt_ids) + len(turn.completion_ids), default=None)
    prompts = [turn.prompt_ids for turn in turns]
    replies = [turn.completion_ids for turn in turns]
    prompts += [shortest.prompt_ids if shortest else (pad,)] * (rows - count)
    replies += [shortest.completion_ids if shortest else (pad,)] * (rows - count)
    prompt_ids, prompt_mask = _filled(prompts, pad, left=True)
    completion_ids, completion_mask = _filled(replies, pad, left=False)
    tool_mask = torch.ones_like(completion_mask)
    tool_mask[count:] = 0
    batch = {
        "prompt_ids": prompt_ids,
        "prompt_mask": prompt_mask,
        "completion_ids": completion_ids,
        "completion_mask": completion_mask,
        "tool_mask": tool_mask,
        "advantages": torch.zeros(rows),
        "reflects": torch.zeros(rows, dtype=torch.bool),
    }
    batch["advantages"][:count] = torch.tensor(advantages, dtype=torch.float32)
    batch["reflects"][:count] = torch.tensor([turn.phase == "reflect" for turn in turns], dtype=torch.bool)
    if turns and all(turn.logprobs is not None for turn in turns):
        told = [np.asarray(turn.logprobs, np.float32) for turn in turns]
        scores = torch.zeros(completion_ids.shape)
        for row, values in enumerate(told):
            scores[row, : len(values)] = torch.from_numpy(values)
        batch["sampling_per_token_logps"] = scores
    return batch


def chunks(batch: Batch, most: int) -> Iterator[Chunk]:
    """Cuts a batch into chunks of rows of much the same length.

    Args:
        batch: Tensors as :func:`to_batch` makes them, and further ones of the same rows.
        most: Most rows of a chunk, at least 1.

    Yields:
        Chunks of equal numbers of rows, give or take one: as many for any batch of as many rows, so that processes that
        have equally many rows compute equally many chunks.
    """
    prompt_lengths, reply_lengths = batch["prompt_mask"].sum(1).cpu(), batch["completion_mask"].sum(1).cpu()
    tokens = _loss_mask(batch).sum(1).cpu()
    order = torch.argsort(prompt_lengths * (int(reply_lengths.max()) + 1) + reply_lengths, stable=True)
    for rows in order.tensor_split(-(-len(order) // most)):
        prompt, reply = int(prompt_lengths[rows].max()), max(int(reply_lengths[rows].max()), 1)
        index = rows.to(batch["prompt_ids"].device)
        cut = {name: _cut(name, value, index, prompt, reply) for name, value in batch.items()}
        yield Chunk(rows, cut, int(tokens[rows].sum()))


def loss_tokens(batch: Batch) -> torch.Tensor:
    """Returns the number of tokens that carry loss, a tensor without dimensions."""
    return _loss_mask(batch).sum()


def _loss_mask(batch: Batch) -> torch.Tensor:
    mask: torch.Tensor = batch["completion_mask"] * batch["tool_mask"]
    return mask


def _cut(name: str, value: Any, rows: torch.Tensor, prompt: int, reply: int) -> Any:
    if value.ndim == 0:
        return value
    taken = value[rows]
    if name in OF_PROMPT:
        return taken[:, taken.shape[1] - prompt :]
    return taken[:, :reply] if name in OF_REPLY else taken


def _filled(sequences: Sequence[Sequence[int]], pad: int, *, left: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns token ids and mask, int64, shape (rows, longest)."""
    longest = max(1, *map(len, sequences))
    ids = np.full((len(sequences), longest), pad, np.int64)
    mask = np.zeros((len(sequences), longest), np.int64)
    for row, tokens in enumerate(sequences):
        place = slice(longest - len(tokens), None) if left else slice(len(tokens))
        ids[row, place] = tokens
        mask[row, place] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)
