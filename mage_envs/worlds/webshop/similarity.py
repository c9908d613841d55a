"""How alike two strings are, as *thefuzz* 0.22 says: ``token_set_ratio``, an integer in 0..100."""

from __future__ import annotations

import re
from functools import lru_cache

ALIKE = 85
"""Strings whose ratio is above this are the same attribute or option to WebShop."""

_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")
_LATIN = dict.fromkeys(range(128, 256))


@lru_cache(maxsize=1 << 15)
def token_set_ratio(first: str, second: str) -> int:
    """Compares the words that two strings share with those that only one has.

    >>> token_set_ratio("rubber sole", "sole of rubber"), token_set_ratio("x-large", "large")
    (100, 100)
    >>> token_set_ratio("red", "dark red wine"), token_set_ratio("red", "")
    (100, 0)
    """
    one, other = _words(first), _words(second)
    if not one or not other:
        return 0
    shared, left, right = one & other, one - other, other - one
    if shared and not (left and right):
        return 100
    a, b = " ".join(sorted(left)), " ".join(sorted(right))
    both = len(" ".join(shared))
    gap = 1 if both else 0
    longer, other_longer = both + gap + len(a), both + gap + len(b)
    best = _similarity(_edits(a, b), longer + other_longer)
    if both:
        best = max(best, _similarity(gap + len(a), both + longer), _similarity(gap + len(b), both + other_longer))
    return round(best)


@lru_cache(maxsize=1 << 14)
def _words(text: str) -> frozenset[str]:
    return frozenset(_NEITHER_LETTER_NOR_DIGIT.sub(" ", text.translate(_LATIN)).lower().split())


def _similarity(edits: int, length: int) -> float:
    return 100 - 100 * edits / length if length else 100.0


def _edits(a: str, b: str) -> int:
    """Returns how many letters must be taken out and put in to get from one string to the other."""
    return len(a) + len(b) - 2 * _common(a, b)


def _common(a: str, b: str) -> int:
    """Returns the length of the longest common subsequence, with one bit a letter of ``a`` (Hyyrö, 2004)."""
    places: dict[str, int] = {}
    for at, letter in enumerate(a):
        places[letter] = places.get(letter, 0) | 1 << at
    full = (1 << len(a)) - 1
    row = full
    for letter in b:
        matched = row & places.get(letter, 0)
        row = (row + matched | row - matched) & full
    return len(a) - row.bit_count()
