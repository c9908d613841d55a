"""Counting the tokens of a prompt where the model is far away: by its tokenizer, or no fewer than there can be."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from mage_agent.backends.base import BackendError, Message, without_system
from mage_agent.backends.loading import loading, only_here, remedy_for
from mage_envs.cache import content_key

TOKENS_A_MESSAGE, TOKENS_A_PROMPT = 16, 64
"""Tokens that a chat template puts around each message, and around all of them, at most: our assumption."""

_PROBE = "Rules: a, b, c."

MOST_KEPT = 4096
"""Counts that are remembered."""


def byte_bound(messages: Sequence[Message]) -> int:
    """Returns a number of tokens that a prompt hardly exceeds: one for each byte, and what a chat template adds.

    Every token of the text stands for one byte of UTF-8 or more. The true number is about a quarter for English.

    >>> byte_bound([Message("user", "bet")])
    83
    """
    return TOKENS_A_PROMPT + sum(TOKENS_A_MESSAGE + len(message.content.encode()) for message in messages)


class Remembered:
    """Counts, and remembers the counts of the last prompts: memory is shortened by counting much the same again."""

    def __init__(self, count: Callable[[Sequence[Message]], Awaitable[int]]) -> None:
        """Takes what counts."""
        self._count = count
        self._known: OrderedDict[str, int] = OrderedDict()

    async def __call__(self, messages: Sequence[Message]) -> int:
        """Returns the number of tokens."""
        key = content_key(*(part for message in messages for part in message))
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        count = await self._count(messages)
        self._known[key] = count
        if len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        return count


def load_tokenizer(name: str, *, revision: str = "", trust_remote_code: bool = False) -> Any:
    """Loads a tokenizer with a chat template. Takes seconds: for a thread.

    Args:
        name: Local folder or hub id.
        revision: Revision on the hub; empty: the newest.
        trust_remote_code: Whether code that comes with it may run.

    Raises:
        BackendError: It cannot; the message names the remedy.
    """
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise BackendError(
            "counting with a tokenizer needs transformers: pip install 'mage-envs[agent]', or give no tokenizer"
        ) from error
    offline = only_here(name)
    with loading(f"the tokenizer {name!r}", remedy_for(name, offline)):
        tokenizer = AutoTokenizer.from_pretrained(
            name, revision=revision or None, trust_remote_code=trust_remote_code, local_files_only=offline
        )
    if not getattr(tokenizer, "chat_template", None):
        raise BackendError(f"the tokenizer {name!r} has no chat template: name that of the chat model")
    return tokenizer


def takes_system_role(tokenizer: Any, template_values: Mapping[str, Any]) -> bool:
    """Whether a tokenizer's chat template shows what a system message says: some refuse it, and some leave it out."""
    chat = [{"role": "system", "content": _PROBE}, {"role": "user", "content": "x"}]
    try:
        return _PROBE in tokenizer.apply_chat_template(chat, tokenize=False, **template_values)
    except Exception:  # noqa: BLE001 - a template is a program of its own, and raises what it likes.
        return False


def count_with(tokenizer: Any, messages: Sequence[Message]) -> int:
    """Counts the tokens of a prompt, chat template and opening of the reply included.

    Raises:
        BackendError: The chat template refuses the messages.
    """
    known = messages if takes_system_role(tokenizer, {}) else without_system(messages)
    chat = [message._asdict() for message in known]
    try:
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    except Exception as error:  # A template is a program of its own, and raises what it likes.
        raise BackendError(f"the chat template of the tokenizer refuses the prompt: {error}") from error
    return len(tokenizer(text, add_special_tokens=False)["input_ids"])
