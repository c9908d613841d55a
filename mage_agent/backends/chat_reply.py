"""Reads the body of a chat completion, as the many servers write it that call themselves OpenAI-compatible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mage_agent.backends.base import Completion, Finish

FINISHES: Mapping[Any, Finish] = {"stop": "stop", "eos": "stop", "length": "length", "max_tokens": "length"}
"""Reasons that servers give; every other one, and none, is ``"other"``."""


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
    said = (message.get("reasoning_content"), message.get("reasoning"), thoughts, message.get("refusal"))
    return Completion(
        text=_encodable(text),
        reasoning=_encodable(next((part for part in said if part and isinstance(part, str)), "")),
        finish=_finish(choice.get("finish_reason")),
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
    )


def _parts(content: Any) -> tuple[str, str]:
    """Returns the text of content, and thoughts among it: content is a string, null, or a list of parts."""
    if not isinstance(content, list):
        return _text(content), ""
    thinking = [part.get("thinking") for part in content if isinstance(part, dict) and part.get("type") == "thinking"]
    thoughts = "".join("".join(map(_text, part)) if isinstance(part, list) else _text(part) for part in thinking)
    return "".join(map(_text, content)), thoughts


def _text(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


def _finish(reason: Any) -> Finish:
    return FINISHES.get(reason, "other") if isinstance(reason, str) else "other"


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # Half a surrogate pair could not be sent on in the next prompt.
