"""One number for each metric of a loss that is computed in chunks, where TRL appends one for each chunk."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import torch

from mage_agent.grpo.batch import Chunk

PHASES = ("play", "reflect")


class ChunkLog:
    """What the chunks of one loss write, put together.

    Attributes:
        metrics: Where one number shall stand for each metric: a list of numbers by name.
        entropies: Sum of the entropies of all tokens that carry loss, by phase.
        counts: Number of these tokens, by phase.
        tokens: Number of them in each chunk.
    """

    def __init__(self, metrics: Any) -> None:
        """Takes the metrics that are logged."""
        self.metrics = metrics
        self._chunks: list[dict[str, list[float]]] = []
        self.entropies, self.counts = [0.0] * len(PHASES), [0.0] * len(PHASES)
        self.tokens: list[float] = []

    def begin(self) -> dict[str, list[float]]:
        """Returns what a chunk writes its metrics to."""
        self._chunks.append(defaultdict(list))
        return self._chunks[-1]

    def end(self, chunk: Chunk, entropies: torch.Tensor) -> None:
        """Takes the entropies of a chunk, shape (r, C)."""
        mask = chunk.batch["completion_mask"] * chunk.batch["tool_mask"]
        sums, counts = (entropies * mask).sum(1), mask.sum(1)
        reflects = chunk.batch["reflects"]
        for number, rows in enumerate((~reflects, reflects)):
            self.entropies[number] += float(sums[rows].sum())
            self.counts[number] += float(counts[rows].sum())
        self.tokens.append(float(chunk.tokens))

    def finish(self, tokens: list[float], weights: list[float]) -> None:
        """Appends one number for each metric.

        Args:
            tokens: Tokens of each chunk that carry loss, over all processes.
            weights: What the loss of each chunk was multiplied by.
        """
        for name in self._chunks[0]:
            values = [chunk[name][-1] for chunk in self._chunks]
            self.metrics[name].append(_together(name, values, tokens, weights))


def _together(name: str, values: list[float], tokens: list[float], weights: list[float]) -> float:
    known = [place for place, value in enumerate(values) if not math.isnan(value)]
    if not known:
        return math.nan
    if name.endswith(("_min", "_max")):
        return (min if name.endswith("_min") else max)(values[place] for place in known)
    if name == "policy_loss":
        return sum(values[place] * weights[place] for place in known)
    total = sum(tokens[place] for place in known)
    return sum(values[place] * tokens[place] for place in known) / max(total, 1.0)
