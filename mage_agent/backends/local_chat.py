"""Chat messages to tokens and back, with a model's own tokenizer and template: for backends that run the model here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from mage_agent.backends.base import BackendError, Completion, FinalError, Finish, Message, without_system
from mage_agent.backends.token_counts import load_tokenizer, takes_system_role
from mage_agent.model_settings import ModelSettings

OPENINGS = ("<think>",)
"""Tags that a chat template may leave open at the end of a prompt."""


class Prompt(NamedTuple):
    """A prompt as a model reads it.

    Attributes:
        tokens: Token ids, at least one.
        opened: What the template opened at its end, such as ``<think>``; empty if nothing.
    """

    tokens: tuple[int, ...]
    opened: str


class LocalChat:
    """A tokenizer with a chat template.

    Attributes:
        system_role: Whether the template knows system messages; else their words stand before the user's.
        ends: Ids of the tokens that end a reply: the tokenizer's, and those of the model's generation_config.
        pad: Id of a token to fill rows up with.
    """

    def __init__(self, tokenizer: Any, ends: int | Sequence[int] | None, template_values: dict[str, Any]) -> None:
        """Wraps a loaded tokenizer; :func:`load_chat` loads one.

        Args:
            tokenizer: A tokenizer of transformers, with a chat template.
            ends: What the model's generation_config says of ``eos_token_id``.
            template_values: Further values for the template, such as ``enable_thinking``.

        Raises:
            BackendError: Neither says what ends a reply.
        """
        own = [ends] if isinstance(ends, int) else list(ends or ())
        self.ends = frozenset(own) | ({tokenizer.eos_token_id} - {None})
        if not self.ends:
            raise BackendError("no token ends a reply: set eos_token_id in the model's generation_config.json")
        self.pad: int = min(self.ends) if tokenizer.pad_token_id is None else tokenizer.pad_token_id
        self._tokenizer, self._values = tokenizer, template_values
        self.system_role = takes_system_role(tokenizer, template_values)
        self._silent = self.ends | {tokenizer.pad_token_id, tokenizer.bos_token_id}

    def prompt(self, messages: Sequence[Message]) -> Prompt:
        """Renders messages up to where the reply begins.

        Raises:
            BackendError: The template refuses them.
        """
        from jinja2 import TemplateError

        known = messages if self.system_role else without_system(messages)
        asked = [message._asdict() for message in known]
        try:
            text = self._tokenizer.apply_chat_template(
                asked, tokenize=False, add_generation_prompt=True, **self._values
            )
        except TemplateError as error:
            roles = ", ".join(message.role for message in known)
            raise BackendError(f"the model's chat template refuses messages of {roles}: {error}") from error
        tokens = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        opened = next((tag for tag in OPENINGS if text.rstrip().endswith(tag)), "")
        return Prompt(tuple(tokens), opened)

    def completion(self, prompt: Prompt, generated: Sequence[int], finish: Finish) -> Completion:
        """Returns the reply that generated tokens spell.

        Tags of thoughts stay where they are, also where they are special tokens, and so does every other mark but those
        that end, begin or fill up a text. Thoughts that the template opened get their opening tag back.

        Args:
            prompt: What was asked.
            generated: What the model wrote; its end included if it ended.
            finish: How it came to its end.
        """
        said = [token for token in generated if token not in self._silent]
        text = self._tokenizer.decode(said, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return Completion(
            text=prompt.opened + text,
            finish=finish,
            prompt_tokens=len(prompt.tokens),
            completion_tokens=len(generated),
        )


def load_chat(settings: ModelSettings, ends: int | Sequence[int] | None, template_values: dict[str, Any]) -> LocalChat:
    """Loads the tokenizer that the settings name, or else the model's own.

    Args:
        settings: Which model, and whether its code may run.
        ends: What the model's generation_config says of ``eos_token_id``.
        template_values: Further values for the chat template.

    Raises:
        BackendError: There is none, or it has no chat template.
    """
    name = os.path.expanduser(settings.tokenizer or settings.model)
    revision = "" if settings.tokenizer else settings.revision
    tokenizer = load_tokenizer(name, revision=revision, trust_remote_code=settings.trust_remote_code)
    return LocalChat(tokenizer, ends, template_values)


def fit(tokens: int, max_tokens: int, context: int | None) -> None:
    """Makes sure that a prompt and its reply fit: nothing is ever cut off a prompt.

    Raises:
        FinalError: They do not; the message has the numbers.
    """
    if context is not None and tokens + max_tokens > context:
        raise FinalError(
            f"the prompt has {tokens} tokens, and with {max_tokens} for the reply that is more than the context of "
            f"{context}: lower --max-tokens or --memory-budget, or take a model with a longer context"
        )
