"""``proc-v1``: a made catalogue, about as hard as the original's 1,000 products, and without a download.

Product number i is made from ``random.Random("proc-v1:<seed>:<i>")`` of the standard library, so that a larger
catalogue begins with the smaller one, on any machine. Nearly half of the products are twins of an earlier one: the same
kind, name and attributes but one. Only goals that buying their own product meets in full are kept.

``"unseen"`` is another catalogue, made in the same way: no product of it is for training in any catalogue, because it
takes only titles that :mod:`mage_envs.worlds.webshop.splits` gives to the test split.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Literal, NamedTuple, TypeAlias, get_args

from mage_envs.worlds.webshop.goals import Goal, draw_prices, label_options, synthetic_goals
from mage_envs.worlds.webshop.index import build_index
from mage_envs.worlds.webshop.kinds import KINDS, Kind
from mage_envs.worlds.webshop.nouns import TitleNouns
from mage_envs.worlds.webshop.products import Product
from mage_envs.worlds.webshop.reward import can_count
from mage_envs.worlds.webshop.shop import Shop
from mage_envs.worlds.webshop.splits import bucket_of
from mage_envs.worlds.webshop.wordings import short_options, short_request

VERSION = "proc-v1"
SIZES = {"small": 1_000, "large": 5_000, "unseen": 1_000}
GOALS_A_PRODUCT = 8

Phrasing: TypeAlias = Literal["labels", "short"]

_TWINS = 0.45
_WITH_OPTIONS = 0.85
_RANGES = 0.09
_NO_DESCRIPTION = 0.5  # Of those whose description would tell no attribute: 30 % of all.
_IN_TITLE, _IN_BULLETS, _IN_DESCRIPTION, _NOWHERE = 0.42, 0.3, 0.15, 0.13
_ID_LETTERS = "0123456789BCDFGHJKLMNPQRSTVWXYZ"
_SYLLABLE_TEXT = "ba ver lo min tra del ko rus ana pel sor vi qua ten mo lar fen dri sa huk ori zel pan tu"
_SYLLABLES = tuple(_SYLLABLE_TEXT.split())
_EXTRA_TEXT = "Premium Classic Modern Everyday Portable Soft Upgraded Stylish Vintage Outdoor Travel Gift Casual New"
_EXTRAS = tuple(_EXTRA_TEXT.split())
_AUDIENCE_TEXT = "for Home, for Travel, for Women, for Men, for Kids, for Daily Use, for Gifts, 2 Pack, Set"
_AUDIENCES = tuple(_AUDIENCE_TEXT.split(", "))
_PLACES = ("your home", "your office", "daily use", "travel", "every season", "your family", "a gift", "beginners")
_HEADS = ("DESIGN", "QUALITY", "COMFORT", "EASY CHOICE", "DETAILS", "SERVICE", "WIDE USE")


class Made(NamedTuple):
    """A made product, and what somebody asks for who wants it."""

    product: Product
    kind: Kind
    noun: str
    words: tuple[str, ...]
    wanted: tuple[str, ...]
    request: str


def make_shop(
    size: int | str = "small", seed: int = 0, phrasing: Phrasing = "labels", show_attributes: bool = False
) -> Shop:
    """Makes the shop of a catalogue.

    Args:
        size: Number of products, or ``"small"`` (1,000), ``"large"`` (5,000) or ``"unseen"`` (1,000 of the test split).
        seed: Another seed gives another catalogue.
        phrasing: ``"labels"``: goals are worded as the original's (``with color: red, and size: 8``); ``"short"``: as
            people word them, in lower case, without labels, and half of it in other words than the product's.
        show_attributes: Whether pages of products have a sub-page with the attributes.

    Raises:
        ValueError: An unknown size or phrasing.
    """
    if phrasing not in get_args(Phrasing):
        raise ValueError(f"phrasing must be one of {', '.join(map(repr, get_args(Phrasing)))}, got {phrasing!r}")
    unseen = size == "unseen"
    version = _version(unseen)
    made = make_products(_count(size), seed, unseen)
    products = [each.product for each in made]
    random = Random(f"{version}:{seed}:goals")
    prices = draw_prices(products, random)
    wording = Random(f"{version}:{seed}:wording")
    requests = [each.request for each in made]
    say: Callable[[Sequence[tuple[str, str]]], str] = label_options
    if phrasing == "short":
        requests = [short_request(each.kind.query, each.wanted, wording) for each in made]
        say = partial(short_options, random=wording)
    instructions = {
        each.product.asin: {"instruction": request, "instruction_attributes": each.wanted}
        for each, request in zip(made, requests, strict=True)
    }
    goals = synthetic_goals(products, instructions, prices, random, GOALS_A_PRODUCT, say)
    goals = [goal for goal in goals if _winnable(goal)]
    random.shuffle(goals)
    index = build_index((each.asin, each.contents) for each in products)
    return Shop(
        f"{version}:{len(products)}:seed{seed}", products, index, goals, prices, TitleNouns({}), None, show_attributes
    )


def make_products(count: int, seed: int = 0, unseen: bool = False) -> list[Made]:
    """Makes the first products of a catalogue, each id once.

    Args:
        count: How many.
        seed: Another seed gives another catalogue.
        unseen: Whether it is the other catalogue, whose titles are all of the test split.
    """
    made: list[Made] = []
    of_kind: dict[str, list[Made]] = {kind.query: [] for kind in KINDS}
    taken: set[str] = set()
    for number in range(count):
        random = Random(f"{_version(unseen)}:{seed}:{number}")
        kind = random.choice(KINDS)
        earlier = of_kind[kind.query]
        model = random.choice(earlier) if earlier and random.random() < _TWINS else None
        found = _make(kind, model, random, taken, unseen)
        made.append(found)
        earlier.append(found)
    return made


def _version(unseen: bool) -> str:
    return f"{VERSION}-unseen" if unseen else VERSION


def _count(size: int | str) -> int:
    if isinstance(size, str):
        if size not in SIZES:
            raise ValueError(f"size must be a number or one of {', '.join(map(repr, SIZES))}, got {size!r}")
        return SIZES[size]
    if not 1 <= size <= 100_000:
        raise ValueError(f"a made catalogue has 1..100000 products, got {size}")
    return size


def _make(kind: Kind, model: Made | None, random: Random, taken: set[str], unseen: bool) -> Made:
    asin = _new_id(random, taken)
    noun = random.choice(kind.nouns) if model is None else model.noun
    words = tuple(random.sample(_EXTRAS, random.randint(2, 4))) if model is None else model.words
    attributes = _attributes(kind, model, random)
    inside, bulleted, told = _spread(attributes, random)
    named = " ".join((*words, *(each.title() for each in inside), noun))
    title = _title(named, random)
    while unseen and bucket_of(title) != "test":
        title = _title(named, random)
    options = _options(kind, random)
    pricing = _pricing(kind, random)
    product = Product(
        asin, title, _description(title, noun, told, random), _bullets(noun, bulleted, random), pricing,
        " to ".join(f"${price}" for price in pricing), options,
        attributes, kind.query, kind.category, kind.path,
    )  # fmt: skip
    wanted = tuple(random.sample(attributes, min(len(attributes), random.choice((1, 2, 2, 3, 3, 4)))))
    return Made(product, kind, noun, words, wanted, _request(kind, wanted, random))


def _title(named: str, random: Random) -> str:
    brand = "".join(random.sample(_SYLLABLES, random.randint(2, 3))).capitalize()
    return f"{brand} {named} {random.choice(_AUDIENCES)}"


def _new_id(random: Random, taken: set[str]) -> str:
    while True:
        asin = "B0" + "".join(random.choice(_ID_LETTERS) for _ in range(8))
        if asin not in taken:
            taken.add(asin)
            return asin


def _attributes(kind: Kind, model: Made | None, random: Random) -> tuple[str, ...]:
    if model is None:
        return tuple(random.sample(kind.pool, random.randint(2, 6)))
    own = list(model.product.attributes)
    own[random.randrange(len(own))] = random.choice([each for each in kind.pool if each not in own])
    return tuple(own)


def _spread(attributes: Sequence[str], random: Random) -> tuple[list[str], list[str], list[str]]:
    """Draws which attributes the title tells, which the bullets and which the description; the rest none does."""
    title: list[str] = []
    bullets: list[str] = []
    description: list[str] = []
    for each in attributes:
        (where,) = random.choices(
            (title, bullets, description, []), (_IN_TITLE, _IN_BULLETS, _IN_DESCRIPTION, _NOWHERE)
        )
        where.append(each)
    return title, bullets, description


def _options(kind: Kind, random: Random) -> dict[str, tuple[str, ...]]:
    if random.random() >= _WITH_OPTIONS:
        return {}
    found = {}
    for name, values in kind.options.items():
        chosen = sorted(random.sample(range(len(values)), min(len(values), random.randint(2, 8))))
        found[name] = tuple(values[at] for at in chosen)
    return found


def _pricing(kind: Kind, random: Random) -> tuple[float, ...]:
    def draw() -> float:
        low, high = kind.prices
        return round(math.exp(random.uniform(math.log(low), math.log(high))), 2)

    if random.random() >= _RANGES:
        return (draw(),)
    low, high = sorted((draw(), draw()))
    return (low, high) if low < high else (low,)


def _bullets(noun: str, told: Sequence[str], random: Random) -> tuple[str, ...]:
    heads = random.sample(_HEADS, random.randint(3, 6))
    bullets = [f"{head} - This {noun.lower()} is made for {random.choice(_PLACES)}." for head in heads]
    for each in told:
        bullets[random.randrange(len(bullets))] += f" With {each}."
    return tuple(bullets)


def _description(title: str, noun: str, told: Sequence[str], random: Random) -> str:
    if not told and random.random() < _NO_DESCRIPTION:
        return ""
    having = "".join(f" It comes with {each}." for each in told)
    return f"{title}. A {noun.lower()} for {random.choice(_PLACES)}.{having}"


def _request(kind: Kind, wanted: Sequence[str], random: Random) -> str:
    """Words a request as the original does: wanted attributes before the kind, after *with*, and after *for*."""
    groups: list[list[str]] = [[], [], []]
    for each in wanted:
        groups[random.randrange(3)].append(each)
    before, having, use = (", ".join(group) for group in groups)
    parts = ["Find me", before, kind.query, f"with {having}" if having else "", f"for {use}" if use else ""]
    return " ".join(part for part in parts if part)


def _winnable(goal: Goal) -> bool:
    """Whether buying the goal's own product with the wanted options meets the goal in full."""
    return all(not isinstance(each, str) and can_count(each) for each in goal.options)
