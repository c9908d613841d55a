"""Reads the body of a chat completion, as the many servers write it that call themselves OpenAI-compatible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mage_agent.backends.base import Completion, Finish

_FINISHES: Mapping[Finish, tuple[str, ...]] = {
    "stop": ("stop", "eos"),
    "length": ("length", "max_tokens", "model_length"),
    "cut": ("content_filter", "safety", "recitation", "abort", "error", "insufficient_system_resource"),
}
FINISHES = {reason: finish for finish, reasons in _FINISHES.items() for reason in reasons}
"""Reasons that servers give, in small letters; every other one, and none, is ``"other"``."""

_SAID = (None, "text", "output_text")
"""Types of a part of content that is said. What a part of another type holds, such as ``reasoning``, is no answer."""


class NotAReplyError(ValueError):
    """The body of an answer is no chat completion. Its words hold nothing of the body.

    Attributes:
        body: The body, if it is a JSON object; else empty.
    """

    def __init__(self, words: str, body: Mapping[str, Any] | None = None) -> None:
        """Takes what is wrong, and the body."""
        super().__init__(words)
        self.body = body or {}


def read_reply(body: Any) -> Completion:
    """Reads a chat completion.

    Args:
        body: The body of the answer, as JSON values.

    Returns:
        The first choice. Content that is null or missing is an empty reply; a refusal is told as reasoning, since
        it must not be read as an action.

    Raises:
        NotAReplyError: It has no choice with a message.
    """
    if not isinstance(body, dict):
        raise NotAReplyError("the answer is not a JSON object")
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise NotAReplyError("the answer has no choices", body)
    text, thoughts = _parts(message.get("content"))
    usage = body.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    prompt, written = (_count(counts.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    said = (message.get("reasoning_content"), message.get("reasoning"), thoughts, message.get("refusal"))
    return Completion(
        text=_encodable(text),
        reasoning=_encodable(next((part for part in said if part and isinstance(part, str)), "")),
        finish=_finish(choice.get("finish_reason")),
        prompt_tokens=prompt,
        completion_tokens=_written(prompt, written, _count(counts.get("total_tokens"))),
    )


def _parts(content: Any) -> tuple[str, str]:
    """Returns the text of content, and thoughts among it: content is a string, null, or a list of parts."""
    if not isinstance(content, list):
        return _text(content), ""
    said, unsaid = "", ""
    for part in content:
        if not isinstance(part, dict) or part.get("type") in _SAID:
            said += _text(part)
        else:
            inner = part.get("thinking", part.get("text"))
            unsaid += "".join(map(_text, inner)) if isinstance(inner, list) else _text(inner)
    return said, unsaid


def _text(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


def _finish(reason: Any) -> Finish:
    return FINISHES.get(reason.lower(), "other") if isinstance(reason, str) else "other"


def _written(prompt: int | None, written: int | None, total: int | None) -> int | None:
    """Returns the tokens that were written: some servers count thoughts in the total only."""
    if prompt is None or total is None or total < prompt:
        return written
    return max(written or 0, total - prompt)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # Half a surrogate pair could not be sent on in the next prompt.
