"""Porter's stemmer (M. F. Porter, 1980), with the two later changes of its author that Lucene has: *bli*, *logi*."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"


def _longest_first(endings: Iterable[str]) -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(sorted(endings, key=len, reverse=True))})$")


_ENDS_2, _ENDS_3, _ENDS_4 = _longest_first(_STEP_2), _longest_first(_STEP_3), _longest_first(_STEP_4.split())


def stem(word: str) -> str:
    """Returns the stem of a word in lower case; words of one or two letters stay.

    >>> [stem(word) for word in ("ponies", "relational", "hopping", "sky")]
    ['poni', 'relat', 'hop', 'sky']
    """
    if len(word) <= 2:
        return word
    for step in (_plural, _past, _final_y, _step_2, _step_3, _step_4, _final_e):
        word = step(word)
    return word


@lru_cache(maxsize=1 << 12)
def _form(word: str) -> str:
    """Returns one letter a letter: c for a consonant, v for a vowel."""
    form = ""
    for at, letter in enumerate(word):
        vowel = letter in "aeiou" or (letter == "y" and at > 0 and form[-1] == "c")
        form += "v" if vowel else "c"
    return form


def _measure(base: str) -> int:
    """Returns how often consonants follow vowels."""
    return _form(base).count("vc")


def _double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _form(word)[-1] == "c"


def _short(word: str) -> bool:
    """Whether the word ends as *hop* does: consonant, vowel, consonant other than w, x, y."""
    return _form(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    base = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else None
    if base is None or "v" not in _form(base):
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _double(base):
        return base if base[-1] in "lsz" else base[:-1]
    return base + "e" if _measure(base) == 1 and _short(base) else base


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _form(word[:-1]) else word


def _step_2(word: str) -> str:
    return _replaced(word, _ENDS_2, _STEP_2)


def _step_3(word: str) -> str:
    return _replaced(word, _ENDS_3, _STEP_3)


def _replaced(word: str, ends: re.Pattern[str], by: dict[str, str]) -> str:
    found = ends.search(word)
    if found is None or _measure(word[: found.start()]) == 0:
        return word
    return word[: found.start()] + by[found.group()]


def _step_4(word: str) -> str:
    found = _ENDS_4.search(word)
    if found is None:
        return word
    base = word[: found.start()]
    if found.group() == "ion" and not base.endswith(("s", "t")):
        return word
    return base if _measure(base) > 1 else word


def _final_e(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
