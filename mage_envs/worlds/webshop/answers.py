"""Answers of agents: forgiving of letter case and spaces, never of meaning."""

from __future__ import annotations

import re

from mage_envs.games import fold
from mage_envs.worlds.webshop.pages import Body

MAX_SEARCH = 2_000
"""Longer searches are cut here, in characters."""

_NAME = re.compile(r"(?:^|[^\w])(search|click)\s*$", re.IGNORECASE)
_AFTER = " \t\r\n.!`*"


def read_answer(answer: str, body: Body) -> tuple[str, str] | None:
    """Reads ``search[words]`` or ``click[label]`` at the end of an answer, letter case and spaces aside.

    Args:
        answer: What an agent answered, out of its tags.
        body: The page on which it did.

    Returns:
        ``("search", words)`` or ``("click", label)``, the label as the page has it; None if it is neither, or no such
        label is there. Where several commands stand in an answer, the last one counts, and nothing may follow it.
    """
    if answer[:6] == "click[" and answer[6:-1] in body.labels and answer[-1] == "]":
        return "click", answer[6:-1]
    labels, clicks = body.folded
    whole = clicks.get(fold(answer))
    if whole is not None:
        return "click", whole
    said = answer.rstrip(_AFTER)
    start = _last_bracket(said)
    name = _NAME.search(said[:start]) if start is not None else None
    if start is None or name is None:
        return None
    argument = " ".join(said[start + 1 : -1].split())
    if name[1].lower() == "search":
        return ("search", argument.lower()[:MAX_SEARCH]) if argument else None
    found = labels.get(fold(argument))
    return None if found is None else ("click", found)


def _last_bracket(text: str) -> int | None:
    """Returns where the bracket opens that the last character closes; None if it closes none."""
    if not text.endswith("]"):
        return None
    if text.count("[") == text.count("]") == 1:
        return text.index("[")
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == "]") - (text[at] == "[")
        if depth == 0:
            return at
    return None
