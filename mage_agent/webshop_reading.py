"""What scripted shoppers make of an instruction and of the pages that they see: only what every agent is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from mage_agent.base import Briefing
from mage_envs.errors import UnsupportedGameError
from mage_envs.worlds.webshop import WebShop

_BOUND = re.compile(r",? and price lower than (\d+(?:\.\d+)?) dollars")
_LABEL = re.compile(r"(?:with|and) ([a-z][a-z ]*): ([^,]+(?:,(?! and )[^,]*)*)")
_WORD = re.compile(r"[a-z0-9]+")
_PRICE = re.compile(r"\$(\d+(?:\.\d+)?)")
_PLAIN = frozenset(("find", "me", "with", "for", "and", "i", "am", "looking", "need", "want", "a", "in", "the", "of"))


class Wish(NamedTuple):
    """An instruction, read.

    Attributes:
        text: All of it, in lower case.
        query: It without price and options: what is worth a search.
        bound: The price shall not be higher; infinite if there is no bound.
        labels: Options that are named with their values.
    """

    text: str
    query: str
    bound: float
    labels: Mapping[str, str]


def check_webshop(briefing: Briefing) -> WebShop:
    """Returns the world that is played.

    Raises:
        UnsupportedGameError: It is not WebShop.
    """
    if not isinstance(briefing.world, WebShop):
        raise UnsupportedGameError(f"this agent shops in WebShop, not in {briefing.world.title}")
    return briefing.world


def read_wish(instruction: str) -> Wish:
    """Reads an instruction."""
    text = instruction.lower()
    bound = _BOUND.search(text)
    told = _BOUND.sub("", text)
    labels = {name.strip(): value.strip() for name, value in _LABEL.findall(told)}
    query = _LABEL.sub("", told).strip(" ,")
    return Wish(text, query, float(bound[1]) if bound else float("inf"), labels)


def choose_options(wish: Wish, options: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Returns the values that the instruction asks for: labelled ones, else the longest that it mentions."""
    found = {}
    for name, values in options.items():
        labelled = wish.labels.get(name)
        told = [value for value in values if re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", wish.text)]
        if labelled in values:
            found[name] = str(labelled)
        elif told and labelled is None:
            found[name] = max(told, key=len)
    return found


def rate_title(wish: Wish, title: str, price_tag: str) -> float:
    """Rates a result: 2 for each pair of wanted words that the title has, 1 for each word; −5 above the price."""
    words = [word for word in _WORD.findall(wish.query) if word not in _PLAIN]
    own = _WORD.findall(title.lower())
    pairs = set(pairwise(own))
    price = _PRICE.search(price_tag)
    dear = price is not None and float(price[1]) > wish.bound
    both = sum(pair in pairs for pair in pairwise(words))
    return 2.0 * both + len(set(words) & set(own)) - 5.0 * dear


def rate_options(wish: Wish, options: Mapping[str, Sequence[str]]) -> float:
    """Rates a product by its options: −3 for each that the instruction names and the product does not have."""
    return -3.0 * sum(value not in options.get(name, ()) for name, value in wish.labels.items())
