"""What a training needs, by calculation: memory of a GPU, tokens of a rollout, hours. And where its configurations are.

Nothing here is measured. Counts of weights and bytes follow from the shape of the model; what a machine computes in a
second is an assumption, which stands in :class:`Speed`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

CONFIGS = Path(__file__).parent / "configs"
"""The folder of the configurations: ``qwen3_4b_*.toml`` for ``--config``, ``accelerate_*.yaml`` for accelerate."""

BFLOAT16, FLOAT32, ADAM = 2, 4, 8
"""Bytes a number; Adam keeps two of float32 for each weight that is trained."""

GB = 1e9


class Shape(NamedTuple):
    """The shape of a model of the families Qwen3 and Llama.

    Attributes:
        vocabulary: Tokens that it knows.
        hidden: Width.
        layers: Number of layers.
        heads: Heads of queries.
        shared: Heads of keys and values.
        width: Width of a head.
        inner: Width of the layers' inner parts.
        tied: Whether the first and the last matrix are the same.
        normed: Whether queries and keys are normed.
    """

    vocabulary: int
    hidden: int
    layers: int
    heads: int
    shared: int
    width: int
    inner: int
    tied: bool = True
    normed: bool = True

    @property
    def layer(self) -> int:
        """Weights of a layer."""
        attention = 2 * self.hidden * self.width * (self.heads + self.shared)
        return attention + 3 * self.hidden * self.inner + 2 * self.hidden + 2 * self.width * self.normed

    @property
    def ends(self) -> int:
        """Weights outside the layers: the first and the last matrix, and the last norm."""
        return self.vocabulary * self.hidden * (1 if self.tied else 2) + self.hidden

    @property
    def weights(self) -> int:
        """All weights."""
        return self.layers * self.layer + self.ends

    @property
    def cache(self) -> int:
        """Bytes that a token takes in the cache of keys and values, in bfloat16."""
        return 2 * self.layers * self.shared * self.width * BFLOAT16

    def adapter(self, rank: int) -> int:
        """Weights of LoRA of a rank on all matrices of the layers, as ``lora_targets = "all-linear"`` puts them."""
        queries, keys = self.heads * self.width, self.shared * self.width
        sides = [(self.hidden, queries), (self.hidden, keys), (self.hidden, keys), (queries, self.hidden)]
        sides += 3 * [(self.hidden, self.inner)]
        return self.layers * rank * sum(map(sum, sides))


QWEN3_4B = Shape(vocabulary=151936, hidden=2560, layers=36, heads=32, shared=8, width=128, inner=9728)


class Memory(NamedTuple):
    """Bytes of one GPU at the largest moment of each phase.

    Attributes:
        kept: Weights, gradients and states of the optimiser that lie here all the time.
        passing: Weights in bfloat16 that are there while they are computed with.
        activations: Activations of one forward pass, checkpointed.
        cache: Keys and values of the replies that are drawn at once.
    """

    kept: float
    passing: float
    activations: float
    cache: float

    @property
    def most(self) -> float:
        """The larger of the two phases: drawing replies, and learning from them. They are not at the same time."""
        return self.kept + self.passing + max(self.activations, self.cache)


def memory(
    shape: Shape,
    *,
    gpus: int = 1,
    rank: int = 0,
    reference: bool = False,
    learnt: int = 8192,
    drawn: int = 16 * 8192,
) -> Memory:
    """Calculates the memory of a GPU.

    Args:
        shape: The model.
        gpus: GPUs that share weights, gradients and Adam's states (FSDP); 1: this one has all of them.
        rank: LoRA's rank; 0: all weights are trained, kept in float32 and computed in bfloat16.
        reference: Whether there is a KL divergence (``beta``): without LoRA, a second copy of the weights.
        learnt: Tokens of one forward pass on this GPU: ``max_rows`` times prompt and reply.
        drawn: Tokens of the replies drawn at once here, prompts included: ``sample_rows`` times prompt and reply.

    Returns:
        Bytes. What the allocator wastes, and CUDA itself, come on top: take 10 % and 1 GB.
    """
    trained = FLOAT32 + FLOAT32 + ADAM
    if rank:
        kept = shape.weights * BFLOAT16 / gpus + shape.adapter(rank) * trained / gpus
    else:
        kept = shape.weights * (trained + FLOAT32 * reference) / gpus
    if gpus > 1:
        passing = (2 * shape.layer + shape.ends) * BFLOAT16 + shape.weights * BFLOAT16 * (reference and not rank)
    else:
        passing = 0 if rank else shape.weights * BFLOAT16  # What autocast casts, it keeps until the pass is over.
    stream = FLOAT32 if gpus == 1 and not rank else BFLOAT16
    activations = learnt * (shape.layers * shape.hidden * stream + _layer_activations(shape))
    return Memory(kept, passing, activations, drawn * shape.cache)


def _layer_activations(shape: Shape) -> int:
    """Returns bytes a token of one layer, when it is computed again: the others have left nothing but their input.

    Queries and keys stand there bare, normed and rotated, values once, then what attention returns; the inner part has
    the gate, its activation, the other half and their product. The norms work in float32.
    """
    queries, keys = shape.heads * shape.width, shape.shared * shape.width
    half = 4 * shape.hidden + 4 * queries + 4 * keys + 4 * shape.inner
    return BFLOAT16 * half + FLOAT32 * 2 * shape.hidden


class Task(NamedTuple):
    """A training, in numbers of tokens.

    Attributes:
        turns: Most turns of an episode.
        prompt: Tokens of a prompt, on the average: an assumption.
        reply: Tokens of a reply, thoughts included, on the average: an assumption.
        rollouts: Rollouts of the whole training.
        meta_episodes: Meta-episodes of a rollout.
        episodes: Episodes of a meta-episode.
    """

    turns: int
    prompt: int
    reply: int
    rollouts: int
    meta_episodes: int = 128
    episodes: int = 3

    @property
    def rows(self) -> int:
        """Most replies of a rollout: turns, and a reflection between two episodes."""
        return self.meta_episodes * (self.episodes * self.turns + self.episodes - 1)


TASKS = {
    "kuhn": Task(turns=2, prompt=900, reply=1500, rollouts=150),
    "tictactoe": Task(turns=5, prompt=900, reply=1500, rollouts=150),
    "sokoban": Task(turns=7, prompt=1200, reply=1500, rollouts=300),
    "webshop": Task(turns=12, prompt=2500, reply=800, rollouts=150),
}
"""The four configurations. Turns are what the rules allow; lengths are guesses, until somebody has measured them."""


class Speed(NamedTuple):
    """What a GPU does in a second: assumptions.

    Attributes:
        drawn: Tokens of replies that it draws.
        operations: Floating-point operations of training that it gets done.
    """

    drawn: float
    operations: float


A100 = Speed(drawn=2000.0, operations=0.4 * 312e12)
"""vLLM with some hundred replies at once; 40 % of what the card's data sheet says of bfloat16."""


def hours(task: Task, shape: Shape, gpus: int, speed: Speed, *, passes: int = 10) -> tuple[float, float]:
    """Calculates how long a training takes.

    Args:
        task: What is trained.
        shape: The model.
        gpus: GPUs, all of which draw, and then all of which learn.
        speed: What each does in a second.
        passes: Operations for each weight and token: 2 for a forward pass, 4 for a backward pass, 2 for computing
            activations again, 2 for the log-probabilities before the first step; 2 more with a reference.

    Returns:
        Hours of drawing, and of learning.
    """
    rows = task.rows * task.rollouts
    drawing = rows * task.reply / (speed.drawn * gpus)
    learning = rows * (task.prompt + task.reply) * passes * shape.weights / (speed.operations * gpus)
    return drawing / 3600, learning / 3600
