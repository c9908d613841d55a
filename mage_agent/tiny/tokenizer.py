"""A tokenizer that needs no corpus: one token a byte, and one for each mark of the chat template.

Any text survives encoding and decoding. A prompt has as many tokens as bytes, two more for each message, and one for
the reply's beginning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD, END = "<|pad|>", "<|end|>"

ROLES = ("system", "user", "assistant")

TEMPLATE = """\
{%- for message in messages -%}
{%- if message['role'] not in ['system', 'user', 'assistant'] -%}
{{- raise_exception('roles are system, user and assistant, not ' + message['role']) -}}
{%- endif -%}
{{- '<|' + message['role'] + '|>' -}}
{%- if message['role'] == 'assistant' -%}
{% generation %}{{ message['content'] + '<|end|>' }}{% endgeneration %}
{%- else -%}
{{- message['content'] + '<|end|>' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}
"""
"""``{% generation %}`` marks what the assistant wrote, its end included, for training on nothing else."""


def build_tokenizer(context: int) -> PreTrainedTokenizerFast:
    """Returns the tokenizer, of 256 bytes and 5 marks.

    Args:
        context: Most tokens that its model takes.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={letter: index for index, letter in enumerate(letters)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=[f"<|{role}|>" for role in ROLES],
        model_max_length=context,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer
