"""A second reader of replies, slow and plain, that shares no code with the parser: it says what may be a move.

It scans characters; the parser uses patterns. Letter case is the 26 letters and É only: whatever else the parser
forgives must not be able to become a move of :data:`SPELLINGS`.
"""

from __future__ import annotations

from typing import NamedTuple

SPELLINGS = {"pass": 0, "check": 0, "bet": 1, "column 1": 2, "kick": 3, "é": 4}
VOCABULARY = frozenset({"pass", "bet", "check", "call", "fold", "column 1", "column 9", "kick", "é"})
CUT_MARK = "<cut>"

_SMALL = {**{chr(code): chr(code + 32) for code in range(65, 91)}, "\u00c9": "\u00e9"}
_SPACE = " \t\n\r\f\v"


class Tag(NamedTuple):
    """A tag and where it stands."""

    start: int
    end: int
    name: str
    closing: bool
    rest: str


def fold(text: str) -> str:
    """Small letters, single spaces."""
    words, word = [], ""
    for character in [*text, " "]:
        if character.isspace():
            words += [word] if word else []
            word = ""
        else:
            word += _SMALL.get(character, character)
    return " ".join(words)


def tags(text: str, name: str) -> list[Tag]:
    """Every tag of a name: from a ``<`` to the next ``>``, with no ``<`` between."""
    found = []
    for start, character in enumerate(text):
        end = text.find(">", start) if character == "<" else -1
        if end < 0 or "<" in text[start + 1 : end]:
            continue
        inside = text[start + 1 : end].lstrip(_SPACE)
        closing = inside.startswith("/")
        inside = inside[1:].lstrip(_SPACE) if closing else inside
        if "".join(_SMALL.get(c, c) for c in inside[: len(name)]) != name:
            continue
        rest = inside[len(name) :]
        if not rest or rest == "/" or rest[0] in _SPACE:
            found.append(Tag(start, end + 1, name, closing, rest.strip(_SPACE)))
    return found


def read(reply: str) -> tuple[str, int | None]:
    """Returns the kind of a reply, and the action that it is."""
    thoughts = [tag for tag in tags(reply, "think") if not tag.rest]
    if thoughts and not thoughts[-1].closing:
        return "truncated", None
    said = reply[thoughts[-1].end :] if thoughts else reply
    answers: list[str] = []
    opened: Tag | None = None
    for tag in tags(said, "action"):
        if tag.closing and not tag.rest and opened:
            answers.append(fold(said[opened.start if opened.rest else opened.end : tag.start]))
            opened = None
        elif not tag.closing and not opened:
            if tag.rest.endswith("/"):
                answers.append(fold(said[tag.start : tag.end]))
            else:
                opened = tag
    if opened or said.endswith(CUT_MARK):
        return "truncated", None
    if any(answer != answers[0] for answer in answers):
        return "ambiguous", None
    answer = answers[0] if answers else fold(said)
    if answer in SPELLINGS:
        return "ok", SPELLINGS[answer]
    return ("illegal" if answer in VOCABULARY else "unparsable") if answer else "empty", None
