"""Draws the next token of each row of a batch from a generator of its own: who shares the batch changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np


def draw_generator(draw: str, tokens: Sequence[int]) -> np.random.Generator:
    """Returns the generator of one request: the same for the same draw of the same prompt.

    >>> draw_generator("7/0", [1, 2]).random() == draw_generator("7/0", [1, 2]).random()
    True
    >>> draw_generator("7/0", [1, 2]).random() == draw_generator("7/1", [1, 2]).random()
    False

    Args:
        draw: The request's draw.
        tokens: Token ids of its prompt.
    """
    digest = hashlib.sha256(f"{draw}\0{','.join(map(str, tokens))}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


class RowSampler:
    """A logits processor of transformers that leaves one token to each row, drawn by the row's probabilities.

    It comes last, and greedy decoding then takes what it left. A row takes one number from its generator for each
    token: the token is where the cumulated probabilities pass it.
    """

    def __init__(self, generators: Sequence[np.random.Generator]) -> None:
        """Takes the generators, one a row."""
        self._generators = generators

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Returns scores of the same shape ``(rows, vocabulary)``: 0 at the drawn token, minus infinity elsewhere.

        Args:
            input_ids: What was written so far; not looked at.
            scores: Logits; minus infinity for what cannot come.
        """
        import torch

        exact = torch.float32 if scores.device.type == "mps" else torch.float64  # Apple's GPUs have no float64.
        passed = torch.softmax(scores.to(exact), dim=-1).cumsum(dim=-1)
        whole = passed[:, -1:]
        numbers = torch.tensor([[generator.random()] for generator in self._generators], dtype=torch.float64)
        goal = numbers.to(scores.device, exact) * whole
        goal = torch.minimum(goal, torch.nextafter(whole, torch.zeros_like(whole)))  # Rounding may not reach the end.
        drawn = torch.searchsorted(passed, goal, right=True)
        return torch.full_like(scores, -torch.inf).scatter_(-1, drawn, 0.0)
