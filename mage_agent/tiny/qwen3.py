"""Builds a Qwen3 of a few thousand random weights: ``python -m mage_agent.tiny.qwen3 FOLDER``.

It needs the extra ``agent``. It has what the real one has and a Llama has not: norms of queries and keys, heads whose
width is not the model's, weights shared by the two ends, and a chat template with thoughts that ``enable_thinking``
turns off. So the paths that Qwen3-4B will take can be walked on any machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mage_agent.backends.base import BackendError
from mage_agent.backends.loading import no_progress_bars
from mage_agent.backends.local_files import need
from mage_agent.tiny.tokenizer import TEMPLATE, build_tokenizer

_NO_THOUGHTS = "<think>\n\n</think>\n\n"
_OWN_END = "{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}"

THINKING_TEMPLATE = TEMPLATE.replace(
    _OWN_END,
    _OWN_END.replace(
        "{%- endif -%}",
        "{%- if enable_thinking is defined and not enable_thinking -%}"
        f"{{{{- {_NO_THOUGHTS!r} -}}}}"
        "{%- endif -%}{%- endif -%}",
    ),
)
"""The tiny model's template; without thinking, a reply begins after empty thoughts, as Qwen3's does."""


def build_qwen3(
    folder: str | Path, seed: int = 0, *, hidden: int = 16, layers: int = 2, heads: int = 2, context: int = 8192
) -> Path:
    """Writes configuration, weights (safetensors, float32), tokenizer and chat template.

    The same arguments give the same weights, and no global generator is touched.

    Args:
        folder: Where to; made if it is missing.
        seed: Seed of the weights, at least 0.
        hidden: Width; even.
        layers: Number of layers.
        heads: Number of attention heads, which share one head of keys and values.
        context: Most tokens of prompt and reply together.

    Returns:
        The folder.

    Raises:
        BackendError: The extra is not installed.
    """
    need("the tiny Qwen3", "agent", "torch", "transformers", "tokenizers")
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokenizer = build_tokenizer(context)
    tokenizer.chat_template = THINKING_TEMPLATE
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=1,
        head_dim=hidden,
        max_position_embeddings=context,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model: Any = Qwen3ForCausalLM(config)
    model.generation_config.update(do_sample=True, temperature=1.0)
    with no_progress_bars():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Path(folder)


def main() -> None:
    """Runs the command."""
    import typer

    def build(folder: Path, seed: int = 0) -> None:
        """Builds a tiny Qwen3 in FOLDER."""
        try:
            typer.echo(f"built {build_qwen3(folder, seed)}")
        except (BackendError, OSError) as error:
            typer.echo(f"mage_agent.tiny.qwen3: {error}", err=True)
            raise typer.Exit(2) from None

    typer.run(build)


if __name__ == "__main__":
    main()
