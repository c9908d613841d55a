"""From a reply to an action: the tagged answer is final, prose is never scanned.

1. Thoughts end at the last ``</think>``; a reply that opens ``<think>`` and never closes it was cut short.
2. What stands in ``<action>…</action>`` is the answer. Several different answers are ambiguous, not "the first"; an
   answer that opens and never closes was cut short, whatever came before it.
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

_TAG = re.compile(r"<(/?)action>", re.IGNORECASE)
_THOUGHTS = re.compile(r"<(/?)think>", re.IGNORECASE)


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
    said = _after_thoughts(reply)
    answers = None if said is None else _tagged(said)
    if said is None or answers is None:
        return ParsedReply(ReplyKind.TRUNCATED, None, "")
    if len(answers) > 1:
        return ParsedReply(ReplyKind.AMBIGUOUS, None, "")
    answer = answers.pop() if answers else fold(said)
    if not answer:
        return ParsedReply(ReplyKind.EMPTY, None, "")
    if answer in spellings:
        return ParsedReply(ReplyKind.OK, spellings[answer], answer)
    kind = ReplyKind.ILLEGAL if answer in vocabulary else ReplyKind.UNPARSABLE
    return ParsedReply(kind, None, answer[:MAX_ANSWER])


def _after_thoughts(reply: str) -> str | None:
    """Returns what stands after the last thought; None if the reply ended inside one."""
    tags = list(_THOUGHTS.finditer(reply))
    if not tags:
        return reply
    return reply[tags[-1].end() :] if tags[-1][1] else None


def _tagged(said: str) -> set[str] | None:
    """Returns the different tagged answers, folded; None if the reply ended inside a tag.

    One pass: a model that repeats the opening tag for thousands of tokens must not cost time by the square.
    """
    answers: set[str] = set()
    start: int | None = None
    for tag in _TAG.finditer(said):
        if not tag[1]:
            start = tag.end() if start is None else start
        elif start is not None:
            answers.add(fold(said[start : tag.start()]))
            start = None
    return answers if start is None else None
