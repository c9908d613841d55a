"""Builds the tiny model in a folder: ``python -m mage_agent.tiny.build FOLDER``. Needs the extra ``agent``.

A Llama of 1,116,544 parameters by default. Its weights are random, so that it writes noise: it is there to prove paths,
from a prompt through a server and back, and to be trained.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mage_agent.backends.base import BackendError
from mage_agent.backends.loading import no_progress_bars
from mage_agent.backends.local_files import need

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

DEVIATION = 0.02
"""Standard deviation of the weights, as is usual for a Llama; a narrow one that is trained learns sooner from 0.1."""


def build_model(
    folder: str | Path,
    seed: int = 0,
    *,
    hidden: int = 128,
    layers: int = 4,
    heads: int = 4,
    inner: int | None = None,
    context: int = 8192,
    tokenizer: PreTrainedTokenizerFast | None = None,
    deviation: float = DEVIATION,
    dtype: Literal["float32", "float64", "bfloat16"] = "float32",
) -> Path:
    """Writes configuration, weights (safetensors), tokenizer and chat template.

    The same arguments give the same weights, and no global generator is touched.

    Args:
        folder: Where to; made if it is missing.
        seed: Seed of the weights, at least 0.
        hidden: Width; a multiple of ``heads``.
        layers: Number of layers.
        heads: Number of attention heads.
        inner: Width of the layers' inner parts; None: four times ``hidden``.
        context: Most tokens of prompt and reply together.
        tokenizer: Its tokenizer; None: one of bytes.
        deviation: Standard deviation of the weights.
        dtype: Type of the weights. In float64 a reply does not depend on padding even in its last digits.

    Returns:
        The folder.

    Raises:
        BackendError: The extra is not installed.
    """
    need("the tiny model", "agent", "torch", "transformers", "tokenizers")
    import torch

    from mage_agent.tiny.tokenizer import build_tokenizer

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tokenizer or build_tokenizer(context)
    with torch.random.fork_rng():  # The library fills the weights first, from the global generator.
        model = _blank(len(tokenizer), hidden, layers, heads, inner or 4 * hidden, context)
    _fill(model, seed, deviation)
    model.generation_config.update(do_sample=True, temperature=1.0)  # `transformers serve` draws only if this says so.
    model.generation_config.eos_token_id = model.config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = model.config.pad_token_id = tokenizer.pad_token_id
    with no_progress_bars():
        model.to(getattr(torch, dtype)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _blank(vocabulary: int, hidden: int, layers: int, heads: int, inner: int, context: int) -> LlamaForCausalLM:
    """Returns a model of this shape."""
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=hidden,
            intermediate_size=inner,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=heads,
            max_position_embeddings=context,
            tie_word_embeddings=False,  # Tied, the likeliest token of random weights is the last one again.
            bos_token_id=None,
        )
    )


def _fill(model: LlamaForCausalLM, seed: int, deviation: float) -> None:
    """Draws all matrices, in the order of their names; vectors are scales, and stay 1."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for _, weight in sorted(model.named_parameters()):
            if weight.ndim > 1:
                weight.copy_(torch.randn(weight.shape, generator=generator) * deviation)


def main() -> None:
    """Runs the command."""
    import typer

    def build(folder: Path, seed: int = 0) -> None:
        """Builds the tiny model in FOLDER."""
        try:
            typer.echo(f"built {build_model(folder, seed)}")
        except (BackendError, OSError) as error:
            typer.echo(f"mage_agent.tiny.build: {error}", err=True)
            raise typer.Exit(2) from None

    typer.run(build)


if __name__ == "__main__":
    main()
