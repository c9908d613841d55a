"""From a reply to an action: the tagged answer is final, prose is never scanned.

1. Thoughts end at the last ``</think>``, whether or not they were opened. A ``<think>`` with no ``</think>`` behind it
   means that the reply ended inside thoughts: it was cut short, whatever stands before or after. Nothing in thoughts is
   read, drafts of answers included.
2. What stands in ``<action>…</action>`` is the answer. Several different answers are ambiguous, not "the first"; the
   same answer twice is one. An answer that opens and never closes was cut short, whatever came before it and however
   the reply ended: "raise" may be the beginning of "raise 20".
3. A reply without any answer in tags is an answer only if the whole of it, after the thoughts, is one.
4. A reply that was stopped at a limit of tokens says so by ``CUT_MARK`` at its end (:func:`visible` puts it there). It
   is never a move, not even by a whole answer in tags: where the prompt itself opens the thoughts, all that was said
   may be a draft.
5. Letter case and white space are forgiven (:func:`mage_envs.games.fold` says what they are), meaning is not: an answer
   must be a spelling of a legal action, without quotes, stops or marks around it.

Tags are forgiven letter case and white space too: ``< Action >``, ``</ action>``. An opening tag with attributes,
``<action type="draft">bet</action>``, may mean anything: it counts as an answer that is no spelling, so that it is
never a move and contradicts every other answer. A tag spelled otherwise (``<acton>``, ``[action]``) is prose, and so
is a closing tag that nothing opened. Marks around tags, such as a code fence, are prose.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import Enum
from typing import NamedTuple

from mage_envs.games import fold

MAX_ANSWER = 200

CUT_MARK = "<cut>"
"""Stands at the end of a reply that was stopped at a limit of tokens."""

# No pattern may look twice at a run of white space: replies are hostile, and thousands of characters long.
_TAG = re.compile(r"<\s*(?:(/)\s*)?action(\s[^<>]*|/)?>", re.IGNORECASE | re.ASCII)
_THOUGHTS = re.compile(r"<\s*(?:(/)\s*)?think\s*>", re.IGNORECASE | re.ASCII)
_CUT_IN_THOUGHTS = "<think>"


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


class Answer(NamedTuple):
    """The answer in a reply, before anyone asks what it means.

    Attributes:
        kind: ``OK``, or why there is no answer.
        text: The answer with its own letter case; empty if there is none.
    """

    kind: ReplyKind
    text: str


def parse_reply(reply: str, spellings: Mapping[str, int], vocabulary: Collection[str] = ()) -> ParsedReply:
    """Reads the action in a reply.

    Args:
        reply: All that the player said.
        spellings: Folded spellings of the legal actions, with their ids. None holds a tag or ``CUT_MARK``.
        vocabulary: Folded names that are actions in some other state.

    Returns:
        The parsed reply. Never raises for any string.
    """
    kind, said = final_answer(reply)
    if kind is not ReplyKind.OK:
        return ParsedReply(kind, None, "")
    answer = fold(said)
    if answer in spellings:
        return ParsedReply(ReplyKind.OK, spellings[answer], answer)
    kind = ReplyKind.ILLEGAL if answer in vocabulary else ReplyKind.UNPARSABLE
    return ParsedReply(kind, None, answer[:MAX_ANSWER])


def final_answer(reply: str) -> Answer:
    """Finds the answer in a reply, whatever it means.

    >>> final_answer("The boots. <action>search[Red Boots]</action>").text
    'search[Red Boots]'

    Args:
        reply: All that the player said.

    Returns:
        The answer, white space around it removed. Never raises for any string.
    """
    if "<" not in reply:  # No tag and no mark: most replies of programs.
        plain = reply.strip()
        return Answer(ReplyKind.OK, plain) if plain else Answer(ReplyKind.EMPTY, "")
    said = _after_thoughts(reply)
    answers = None if said is None else _tagged(said)
    if said is None or answers is None or said.endswith(CUT_MARK):
        return Answer(ReplyKind.TRUNCATED, "")
    if len(answers) > 1:
        return Answer(ReplyKind.AMBIGUOUS, "")
    answer = next(iter(answers.values()), said).strip()
    return Answer(ReplyKind.OK, answer) if fold(answer) else Answer(ReplyKind.EMPTY, "")


def visible(reply: str, *, cut: bool = False) -> str:
    """Returns what of a reply is an answer to the environment: all that stands after the thoughts.

    It is read as the whole reply is: ``parse_reply(visible(reply)) == parse_reply(reply)`` for every string, so that an
    agent may send this and keep records small. Doing it twice changes nothing more.

    Args:
        reply: All that a model said.
        cut: Whether it was stopped at a limit of tokens (a backend's ``finish`` is ``"length"``).

    Returns:
        What stands after the last ``</think>``, with ``CUT_MARK`` at its end if it was cut; a bare ``<think>`` if the
        reply ended inside thoughts.
    """
    said = _after_thoughts(reply)
    if said is None:
        return _CUT_IN_THOUGHTS
    if cut and not said.endswith(CUT_MARK):
        return said + CUT_MARK
    return said


def _after_thoughts(reply: str) -> str | None:
    """Returns what stands after the last thought; None if the reply ended inside one."""
    tags = list(_THOUGHTS.finditer(reply))
    if not tags:
        return reply
    return reply[tags[-1].end() :] if tags[-1][1] else None


def _tagged(said: str) -> dict[str, str] | None:
    """Returns the different tagged answers by their folded form; None if the reply ended inside a tag.

    One pass: a model that repeats the opening tag for thousands of tokens must not cost time by the square.
    """
    answers: dict[str, str] = {}
    start: int | None = None
    for tag in _TAG.finditer(said):
        attributes = (tag[2] or "").strip()
        if tag[1]:
            if start is not None and not attributes:
                answer = said[start : tag.start()]
                answers.setdefault(fold(answer), answer)
                start = None
        elif start is None:
            start = tag.start() if attributes else tag.end()
            if attributes.endswith("/"):  # It closes itself, and holds no answer.
                answers.setdefault(fold(tag[0]), tag[0])
                start = None
    return answers if start is None else None
