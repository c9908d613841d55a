"""The characters that observations may hold, so that texts are in their space whatever a game or world prints."""

from __future__ import annotations

_SYMBOLS = "✓✔✗✘√×÷·•–—‘’“”„…→←↑↓↔⇒█▓▒░■□▪▫●○◆◇★☆│─┌┐└┘├┤┬┴┼≤≥≠≈±∞°€£"

_SUITS = "♠♥♦♣♤♡♢♧"
_CARDS = "".join(map(chr, range(0x1F0A0, 0x1F0F6)))

CHARSET = "".join(
    dict.fromkeys("\n\t" + "".join(map(chr, [*range(32, 127), *range(161, 256)])) + _SYMBOLS + _SUITS + _CARDS)
)
"""ASCII, Latin-1, and the symbols that boards, cards and pages use; each once."""

MAX_TEXT = 8_192
"""Longest text of a space in characters."""

MAX_VIEW = 7_680
"""Longest text of a view: what the environment says around it fits into the rest."""

_CUT = "\n[cut]"
_KNOWN = frozenset(CHARSET)


def printable(text: str, limit: int = MAX_VIEW) -> str:
    r"""Writes characters outside :data:`CHARSET` as Python escapes them, and cuts what is longer than the limit.

    >>> print(printable("a\x00b"))
    a\x00b
    """
    plain = text.isascii() and text.replace("\n", "").isprintable()  # Nearly all texts, ten times faster.
    if not plain and not _KNOWN.issuperset(
        text
    ):  # Two texts that differ must go on differing: they are what a seat knows.
        text = "".join(char if char in _KNOWN else char.encode("unicode_escape").decode() for char in text)
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT
