"""What a purchase earns, as WebShop pays it, and as it should: ``"webshop"`` and ``"strict"``.

A purchase earns the share of the wanted attributes, options and price bound that it meets, times a factor for the type
of product. WebShop's rule for options is loose: a value counts if its words are much the same, after any colour in it
has become the colour alone. So some goals cannot be met by their own product (6.6 % of the real 1,000 products' goals),
and some wrong values count. ``"strict"`` wants each value itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from mage_envs.worlds.webshop.goals import Goal
from mage_envs.worlds.webshop.products import Product
from mage_envs.worlds.webshop.similarity import ALIKE, token_set_ratio
from mage_envs.worlds.webshop.word_lists import COLORS

RewardMode: TypeAlias = Literal["webshop", "strict"]


class Score(NamedTuple):
    """What a purchase earned, and for what.

    Attributes:
        total: The reward, in 0..1.
        type_factor: 1 for the wanted type of product, down to 0.
        attributes: How many of the wanted attributes it has.
        options: How many of the wanted options were chosen.
        price: Whether the price is not above the bound.
        title: Share of the wanted title's nouns that its own title has.
    """

    total: float
    type_factor: float
    attributes: int
    options: int
    price: bool
    title: float


def score_purchase(
    product: Product,
    goal: Goal,
    price: float,
    options: Mapping[str, str],
    nouns: tuple[str, ...],
    wanted_nouns: tuple[str, ...],
    mode: RewardMode = "webshop",
) -> Score:
    """Scores a purchase.

    Args:
        product: What was bought.
        goal: What was wanted.
        price: The product's price.
        options: The chosen values, by the options' names.
        nouns: Nouns of the product's title.
        wanted_nouns: Nouns of the goal's title.
        mode: ``"webshop"`` or ``"strict"``.
    """
    title = len(set(nouns) & set(wanted_nouns)) / len(wanted_nouns) if wanted_nouns else 0.2
    factor = _type_factor(product, goal, title)
    attributes = sum(_has(product, wanted) for wanted in goal.attributes)
    chosen = _strict_matches(goal, options) if mode == "strict" else _loose_matches(goal, options)
    affordable = price <= goal.price_upper
    total = (attributes + chosen + affordable) / (len(goal.attributes) + len(goal.options) + 1)
    return Score(total * factor, factor, attributes, chosen, affordable, title)


def can_count(pair: tuple[str, str]) -> bool:
    """Whether WebShop's rule counts an option for itself; of some values it compares a colour with the whole text."""
    return _alike(_color_of(pair[1]), _color_of_pair(pair))


def _alike(value: str, wanted: str) -> bool:
    return token_set_ratio(value, wanted) > ALIKE


def _type_factor(product: Product, goal: Goal, title: float) -> float:
    shared = _parts(product.path) & _parts(goal.path)
    factor = 1.0 if product.query == goal.query or len(shared) >= 2 or title > 0.2 else 0.5
    if title < 0.1:
        factor = 0.1
    return 0.0 if title == 0.0 else factor


@lru_cache(maxsize=1 << 12)
def _parts(path: str) -> frozenset[str]:
    return frozenset(part.strip() for part in path.split("›"))


def _has(product: Product, wanted: str) -> bool:
    if any(_alike(own, wanted) for own in product.attributes):
        return True
    return (
        wanted in product.title.lower()
        or wanted in " ".join(product.bullets).lower()
        or wanted in product.description.lower()
    )


def _strict_matches(goal: Goal, options: Mapping[str, str]) -> int:
    values = set(options.values())
    return sum(each in values if isinstance(each, str) else options.get(each[0]) == each[1] for each in goal.options)


def _loose_matches(goal: Goal, options: Mapping[str, str]) -> int:
    bought = [_color_of(value) for value in options.values()]
    wanted = [_color_of(each) if isinstance(each, str) else _color_of_pair(each) for each in goal.options]
    return sum(any(_alike(value, each) for value in bought) for each in wanted)


@lru_cache(maxsize=1 << 12)
def _color_of(value: str) -> str:
    """Returns the first colour that is part of the value, even inside a word; else the value."""
    return next((color for color in COLORS if color in value), value)


@lru_cache(maxsize=1 << 12)
def _color_of_pair(pair: tuple[str, str]) -> str:
    """Returns what WebShop compares of a synthetic goal's option: a colour only if it is the whole value or name."""
    return next((color for color in COLORS if color in pair), None) or str(tuple(pair))
