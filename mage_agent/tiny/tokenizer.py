"""Tokenizers: one that needs no corpus, with a token a byte, and one that learns words; both with a chat template.

Any text survives encoding and decoding. With bytes, a prompt has as many tokens as bytes, two more for each message,
and one for the reply's beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

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
    from tokenizers import models

    return _wrapped(
        models.BPE(vocab={letter: index for index, letter in enumerate(_letters())}, merges=[]), (), context
    )


def trained_tokenizer(
    texts: Iterable[str], phrases: Sequence[str], context: int, vocabulary: int = 512
) -> PreTrainedTokenizerFast:
    """Returns a tokenizer that knows frequent words, and whole phrases, as one token each; all else as bytes.

    Args:
        texts: Where words are counted. The same texts give the same tokenizer.
        phrases: Texts that are one token wherever they stand, such as the lines of a game's rules.
        context: Most tokens that its model takes.
        vocabulary: Most words and parts of words, 256 bytes included.
    """
    from tokenizers import trainers

    tokenizer = build_tokenizer(context)
    core = tokenizer.backend_tokenizer
    core.pre_tokenizer = _splitter(words=True)
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, initial_alphabet=_letters(), show_progress=False)
    bare = (_without(text, phrases) for text in texts)
    core.train_from_iterator(bare, trainer)
    return _wrapped(core.model, phrases, context, words=True)


def _letters() -> list[str]:
    """Returns one letter for each byte."""
    from tokenizers import pre_tokenizers

    return sorted(pre_tokenizers.ByteLevel.alphabet())


def _splitter(*, words: bool) -> Any:
    from tokenizers import pre_tokenizers

    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=words)


def _without(text: str, phrases: Sequence[str]) -> str:
    for phrase in phrases:
        text = text.replace(phrase, "")
    return text


def _wrapped(model: Any, phrases: Sequence[str], context: int, *, words: bool = False) -> PreTrainedTokenizerFast:
    """Puts marks, phrases and the chat template round a model of tokens."""
    from tokenizers import AddedToken, Tokenizer, decoders
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(model)
    core.pre_tokenizer = _splitter(words=words)
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
    tokenizer.add_tokens([AddedToken(phrase, normalized=False, special=False) for phrase in phrases])
    tokenizer.chat_template = TEMPLATE
    return tokenizer
