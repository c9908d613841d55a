"""The one place that knows how TRL generates: in process by transformers, or by vLLM in this process or on a server."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from accelerate.utils import gather_object

from mage_agent.grpo.table import Sampled


class TrlSampler:
    """Samples replies with a trainer's own generation.

    Attributes:
        most: Most prompts of one call; None: all that wait.
    """

    def __init__(self, trainer: Any, filler: int, most: int | None = None) -> None:
        """Takes a trainer.

        Args:
            trainer: A GRPOTrainer of TRL.
            filler: Id of a token that makes up a prompt where a process has fewer prompts than another.
            most: Most prompts of one call; None: all that wait.
        """
        self._trainer, self._filler, self.most = trainer, filler, most

    def sample(self, prompts: Sequence[Sequence[int]]) -> list[Sampled]:
        """Returns one reply for each prompt. All processes call this equally often, and wait for each other.

        Args:
            prompts: Token ids. They are sent as they are, the shortest first, so that a call is padded little.
        """
        count = self._largest(len(prompts))
        order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
        sent = [[self._filler]] * (count - len(prompts)) + [list(prompts[place]) for place in order]
        replies: list[Sampled] = []
        step = self.most or max(count, 1)
        for start in range(0, count, step):
            replies += self._generate(sent[start : start + step])
        placed = dict(zip(order, replies[count - len(prompts) :], strict=True))
        return [placed[place] for place in range(len(prompts))]

    def in_step(self, waiting: bool) -> bool:
        """Returns whether any process has prompts."""
        return self._largest(int(waiting)) > 0

    def _largest(self, number: int) -> int:
        """Returns the largest number of all processes. A server splits replies evenly, so that all must ask alike."""
        if self._trainer.accelerator.num_processes == 1:
            return number
        return int(max(gather_object([number])))

    def _generate(self, prompts: list[list[int]]) -> list[Sampled]:
        ids, logprobs = self._trainer._generate_single_turn(prompts, None, {}, 1)
        if logprobs is None:
            return [Sampled(tuple(written), None) for written in ids]
        return [
            Sampled(tuple(written), tuple(math.nan if one is None else float(one) for one in scores))
            for written, scores in zip(ids, logprobs, strict=True)
        ]
