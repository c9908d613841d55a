"""From a reply to an action: the tagged answer is final, prose is never scanned.

1. Thoughts end at the last ``</think>``; a reply that opens ``<think>`` and never closes it was cut short.
2. What stands in ``<action>…</action>`` is the answer. Several different answers are ambiguous, not "the first".
3. A reply without any tag is an answer only if the whole of it is one.
4. Letter case and white space are forgiven, meaning is not: an answer must be a spelling of a legal action.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import Enum
from typing import NamedTuple

from mage_envs.games import fold

MAX_ANSWER = 200

_TAGGED = re.compile(r"<action>(.*?)</action>", re.IGNORECASE | re.DOTALL)
_OPEN_TAG = re.compile(r"<action>", re.IGNORECASE)


class ReplyKind(Enum):
    """What became of a reply. Only ``OK`` is a move; each other kind has its own words for a retry."""

    OK = "ok"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    AMBIGUOUS = "ambiguous"
    UNPARSABLE = "unparsable"
    ILLEGAL = "illegal"


class ParsedReply(NamedTuple):
    """A reply, read.

    Attributes:
        kind: What became of it.
        action: The action id if ``kind`` is ``OK``, else None.
        answer: The answer as it was read, folded; empty if there was none.
    """

    kind: ReplyKind
    action: int | None
    answer: str


def parse_reply(reply: str, spellings: Mapping[str, int], vocabulary: Collection[str] = ()) -> ParsedReply:
    """Reads the action in a reply.

    Args:
        reply: All that the player said.
        spellings: Folded spellings of the legal actions, with their ids.
        vocabulary: Folded names that are actions in some other state.

    Returns:
        The parsed reply. Never raises for any string.
    """
    whole = fold(reply)
    if whole in spellings:
        return ParsedReply(ReplyKind.OK, spellings[whole], whole)
    said, truncated = _after_thoughts(reply)
    if truncated:
        return ParsedReply(ReplyKind.TRUNCATED, None, "")
    answers = {fold(answer) for answer in _TAGGED.findall(said)}
    if len(answers) > 1:
        return ParsedReply(ReplyKind.AMBIGUOUS, None, "")
    if not answers and _OPEN_TAG.search(said):
        return ParsedReply(ReplyKind.TRUNCATED, None, "")
    answer = answers.pop() if answers else fold(said)
    if not answer:
        return ParsedReply(ReplyKind.EMPTY, None, "")
    if answer in spellings:
        return ParsedReply(ReplyKind.OK, spellings[answer], answer)
    kind = ReplyKind.ILLEGAL if answer in vocabulary else ReplyKind.UNPARSABLE
    return ParsedReply(kind, None, answer[:MAX_ANSWER])


def _after_thoughts(reply: str) -> tuple[str, bool]:
    """Cuts thoughts off. The flag says that the reply ended inside them."""
    folded = reply.casefold() if reply.isascii() else reply.lower()
    end = folded.rfind("</think>")
    said = reply[end + len("</think>") :] if end >= 0 else reply
    return said, "<think>" in said.casefold()
