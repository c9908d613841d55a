"""Text to search terms, as Lucene's standard English analysis makes them.

Words end where Unicode Standard Annex 29 says, with Lucene's additions: emoji, each ideograph and each hiragana are
words, runs of South-East Asian letters stay together. Then: possessive 's off, lower case, 33 stop words out, Porter's
stems. Every character has a class, a letter; a text becomes the string of its classes, and one pattern finds the words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from mage_envs.worlds.webshop.porter import stem

MAX_WORD = 255
"""Longer words are cut into pieces of this many characters."""

_LONGEST_KEPT = 40
"""Longer parts of a text are read anew each time: what agents write must not fill the memory."""

_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())

_SINGLE = {
    "'": "'", '"': '"', "#": "#", "*": "#", "\u200c": "X", "\u200d": "Z", "\ufe0e": "v", "\ufe0f": "V", "\u20e3": "C",
    "\u202f": "_", "\u05f3": "A", "\uff9e": "X", "\uff9f": "X", "\u200b": "O",
    **dict.fromkeys(":·\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a", ":"),
    **dict.fromkeys(".\u2018\u2019\u2024\ufe52\uff07\uff0e", "."),
    **dict.fromkeys(",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b", ","),
}  # fmt: skip
"""Characters whose class no rule gives. Classes: : . , between letters, both, digits; X marks; Z V v C of emoji."""

_RANGES = (
    ("H", "5d0-5ea 5ef-5f2 fb1d fb1f-fb28 fb2a-fb4f"),
    ("K", "3031-3035 309b-309c 30a0-30fa 30fc-30ff 31f0-31ff 32d0-32fe 3300-3357 ff66-ff9d 1b000"),
    ("i", "3041-3096 309d-309f 1b001 1f200"),
    ("h", "2e80-2fd5 3005-3007 3021-3029 3038-303b 3400-4dbf 4e00-9fff f900-faff 20000-2fa1d 30000-323af"),
    ("S", "e01-e3a e40-e4e e81-ecd edc-edf 1000-103f 1050-108f 109a-109f 1780-17d3 17d7 17dc-17dd 1950-19cf "
          "19da 19de-19df 1a20-1a7c 1aa0-1aad a9e0-a9ef a9fa-a9fe aa60-aac2 aadb-aadf 11700-1172b"),
    ("M", "1f3fb-1f3ff"),
    ("R", "1f1e6-1f1ff"),
    ("T", "e0020-e007e"),
    ("t", "e007f"),
    ("A", "2139 24b6-24e9 1f130-1f149 1f150-1f169 1f170-1f189 2c2-2c5 2d2-2d7 2de-2df"),
    ("B", "261d 26f9 270a-270d 1f385 1f3c2-1f3c4 1f3c7 1f3ca-1f3cc 1f442-1f443 1f446-1f450 1f466-1f478 1f47c "
          "1f481-1f483 1f485-1f487 1f48f 1f491 1f4aa 1f574-1f575 1f57a 1f590 1f595-1f596 1f645-1f647 "
          "1f64b-1f64f 1f6a3 1f6b4-1f6b6 1f6c0 1f6cc 1f90c 1f90f 1f918-1f91f 1f926 1f930-1f939 1f93c-1f93e "
          "1f977 1f9b5-1f9b6 1f9b8-1f9b9 1f9bb 1f9cd-1f9cf 1f9d1-1f9dd 1fac3-1fac5 1faf0-1faf6"),
    ("E", "a9 ae 203c 2049 2122 2194-2199 21a9-21aa 231a-231b 2328 2388 23cf 23e9-23f3 23f8-23fa 25aa-25ab 25b6 "
          "25c0 25fb-25fe 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714 2716 271d 2721 2728 2733-2734 "
          "2744 2747 274c 274e 2753-2755 2757 2763-2767 2795-2797 27a1 27b0 27bf 2934-2935 2b05-2b07 2b1b-2b1c "
          "2b50 2b55 3030 303d 3297 3299 1f000-1f0ff 1f10d-1f10f 1f12f 1f16c-1f16f 1f18e 1f191-1f19a "
          "1f1ad-1f1e5 1f201-1f20f 1f21a 1f22f 1f232-1f23a 1f23c-1f23f 1f249-1f3fa 1f400-1f53d 1f546-1f64f "
          "1f680-1f6ff 1f774-1f77f 1f7d5-1f7ff 1f80c-1f80f 1f848-1f84f 1f85a-1f85f 1f888-1f88f 1f8ae-1f8ff "
          "1f90c-1f93a 1f93c-1f945 1f947-1faff 1fc00-1fffd"),
)  # fmt: skip
"""Hebrew, katakana, hiragana, ideographs, South-East Asian scripts, skin tones, flags, tags, letters that are symbols,
emoji that take a skin tone, all other emoji: code points in hexadecimal (Unicode 14). The first that fits counts."""

_BLOCKS = tuple(
    (letter, [tuple(int(end, 16) for end in (*part.split("-"), part)[:2]) if "-" in part else (int(part, 16),) * 2
              for part in ranges.split()])
    for letter, ranges in _RANGES
)  # fmt: skip

_BY_CATEGORY = {
    **dict.fromkeys(("Lu", "Ll", "Lt", "Lm", "Lo", "Nl"), "A"),
    **dict.fromkeys(("Mn", "Mc", "Me", "Cf"), "X"),
    "Nd": "N",
    "Pc": "_",
}


class _Classes(dict[int, str]):
    """From a code point to its class, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _class_of(chr(code))
        return found


def _class_of(char: str) -> str:
    if char in _SINGLE:
        return _SINGLE[char]
    if char.isascii() and char.isdigit():
        return "D"
    category = unicodedata.category(char)
    if category == "Nd":
        return "N"
    code = ord(char)
    for letter, blocks in _BLOCKS:
        if any(first <= code <= last for first, last in blocks):
            return letter
    return _BY_CATEGORY.get(category, "O")


def _pattern() -> re.Pattern[str]:
    marks = "[XVvZCTt]*"  # What clings to a character.
    bare = "(?:[XCTt]|Z(?!Z*[EBM]))*"  # What clings to an emoji: no selectors, no joiner that joins another emoji.
    letter, number, under = f"[AH]{marks}", f"[DN]{marks}", f"_{marks}"
    block = (
        f"(?:K{marks}(?:(?:{under})*K{marks})*"
        f"|(?:H{marks}(?:'{marks}|\"{marks}H{marks})"
        f"|{number}(?:(?:(?:{under})*|[,.']{marks}){number})*"
        f"|{letter}(?:(?:(?:{under})*|[:.']{marks}){letter})*)+)"
    )
    word = f"(?:{under})*{block}(?:(?:{under})+{block})*(?:{under})*"
    emoji = f"(?:(?:Z*B{bare})?M{bare}|Z*[EB]{bare}V?)"
    sequence = f"{emoji}(?:T+t|(?:Z{emoji})*)"
    plain = "A+(?=O|$)"  # Most words; the rule for words finds the same, slower.
    return re.compile(f"{plain}|{word}|{sequence}|#{bare}V?C{bare}|(?:R{marks}){{2}}|(?:S{marks})+|[hi]{marks}")


_CLASSES = _Classes()
_WORD = _pattern()


def split_words(text: str) -> list[str]:
    """Returns the words of a text, in order.

    >>> split_words("Kit's 3.5 x_y, a:b ½ 1,000 kg")
    ["Kit's", '3.5', 'x_y', 'a:b', '1,000', 'kg']
    """
    found: list[str] = []
    for match in _WORD.finditer(text.translate(_CLASSES)):
        start, end = match.span()
        found.extend(text[at : min(at + MAX_WORD, end)] for at in range(start, end, MAX_WORD))
    return found


def terms(text: str) -> list[str]:
    """Returns the search terms of a text, in order, with repetitions.

    >>> terms("The women's running shoes")
    ['women', 'run', 'shoe']
    """
    found: list[str] = []
    for part in text.split(" "):  # No word goes over a space, so that parts can be remembered.
        found += _part_terms(part) if len(part) <= _LONGEST_KEPT else _terms(part)
    return found


def _terms(text: str) -> list[str]:
    return [term for word in split_words(text) if (term := _term(word))]


@lru_cache(maxsize=1 << 13)
def _part_terms(part: str) -> tuple[str, ...]:
    return tuple(_terms(part))


@lru_cache(maxsize=1 << 14)
def _term(word: str) -> str:
    """Returns the term of a word; empty for a stop word."""
    if len(word) >= 2 and word[-1] in "sS" and word[-2] in "'\u2019\uff07":
        word = word[:-2]
    lower = word.lower() if word.isascii() else "".join(_lower(char) for char in word)
    return "" if lower in STOP_WORDS else stem(lower)


def _lower(char: str) -> str:
    """Lower case one character for one, as Java has it."""
    lowered = char.lower()
    return lowered if len(lowered) == 1 else lowered[0]
