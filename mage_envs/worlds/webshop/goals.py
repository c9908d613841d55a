"""Goals: what somebody wants to buy, and up to which price. All randomness is one generator of the standard library.

``random.Random(seed)`` gives on every machine the numbers that WebShop's own ``random.seed(seed)`` gave.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple, TypeAlias

from mage_envs.worlds.webshop.products import Product

NO_BOUND = 1_000_000.0
_BOUNDS = tuple(10.0 * step for step in range(1, 100))

Options: TypeAlias = "tuple[tuple[str, str], ...] | tuple[str, ...]"


class Goal(NamedTuple):
    """What is to be bought.

    Attributes:
        asin: A product that was in mind.
        title: Its title.
        query: Its query.
        category: Its category.
        path: Its path of categories.
        text: The instruction, the only part that an agent may know.
        attributes: What the product shall have.
        options: Pairs of a name and a value (synthetic goals), or values alone (human ones).
        price_upper: The price shall not be higher, in dollars.
        weight: For drawing goals, as WebShop weighs them.
        labelled: Whether the options have names: in synthetic goals.
    """

    asin: str
    title: str
    query: str
    category: str
    path: str
    text: str
    attributes: tuple[str, ...]
    options: Options
    price_upper: float
    weight: float
    labelled: bool = True

    @property
    def wanted(self) -> tuple[str, ...]:
        """The wanted values of options."""
        return tuple(each if isinstance(each, str) else each[1] for each in self.options)

    def as_record(self) -> dict[str, Any]:
        """Returns the goal as WebShop has it, under its names."""
        pairs = dict(each for each in self.options if not isinstance(each, str))
        return {
            "asin": self.asin,
            "category": self.category,
            "query": self.query,
            "name": self.title,
            "product_category": self.path,
            "instruction_text": self.text,
            "attributes": list(self.attributes),
            "price_upper": self.price_upper,
            "goal_options": pairs if self.labelled else list(self.wanted),
            "weight": self.weight,
        }


def draw_prices(products: Iterable[Product], random: Random) -> dict[str, float]:
    """Returns one price a product: a number between the ends where it has a range."""
    return {
        each.asin: each.pricing[0] if len(each.pricing) == 1 else random.uniform(*each.pricing[:2]) for each in products
    }


def synthetic_goals(
    products: Iterable[Product],
    instructions: Mapping[str, Mapping[str, Any]],
    prices: Mapping[str, float],
    random: Random,
    limit: int | None = None,
    say: Callable[[Sequence[tuple[str, str]]], str] | None = None,
) -> list[Goal]:
    """Makes one goal for each combination of option values of each product that has an instruction.

    Args:
        products: In the order of the catalogue.
        instructions: From an id to a record with ``instruction`` and ``instruction_attributes``.
        prices: From :func:`draw_prices`.
        random: One price bound a product is drawn.
        limit: At most so many goals a product, spread evenly over its combinations; None: all.
        say: Words the options, as :func:`label_options` does (None).
    """
    say = label_options if say is None else say
    found = []
    for product in products:
        record = instructions.get(product.asin, {})
        if not record.get("instruction"):
            continue
        bound = draw_bound(prices[product.asin], random)
        count = math.prod(map(len, product.options.values()))
        kept = count if limit is None else min(limit, count)
        for at in range(kept):
            options = combination(product, at * count // kept)
            text = f"{record['instruction']}{say(options)}{bound_text(bound)}"
            found.append(make_goal(product, text, record["instruction_attributes"], options, bound))
    counts = Counter(attribute for goal in found for attribute in goal.attributes)
    return [
        goal._replace(weight=sum(1.0 / counts[each] for each in goal.attributes) / max(1, len(goal.attributes)))
        for goal in found
    ]


def label_options(options: Sequence[tuple[str, str]]) -> str:
    """Words options as the original does.

    >>> label_options([("color", "red"), ("size", "8")])
    ' with color: red, and size: 8'
    """
    return " with " + ", and ".join(f"{name}: {value}" for name, value in options) if options else ""


def human_goals(
    products: Iterable[Product],
    instructions: Mapping[str, Sequence[Mapping[str, Any]]],
    prices: Mapping[str, float],
    random: Random,
) -> list[Goal]:
    """Makes one goal of each instruction that a person wrote and that asks for an attribute."""
    found = []
    for product in products:
        for record in instructions.get(product.asin, ()):
            if record["instruction_attributes"]:
                bound = draw_bound(prices[product.asin], random)
                text = record["instruction"].strip(".") + bound_text(bound)
                options = tuple(record["instruction_options"])
                found.append(
                    make_goal(product, text, record["instruction_attributes"], options, bound)._replace(labelled=False)
                )
    return found


def make_goal(product: Product, text: str, attributes: Sequence[str], options: Options, bound: float) -> Goal:
    """Makes a goal of a product, with weight 1."""
    return Goal(
        product.asin, product.title, product.query, product.category, product.path, text, tuple(attributes), options,
        bound, 1.0,
    )  # fmt: skip


def draw_bound(price: float, random: Random) -> float:
    """Draws the highest price that a goal allows: one of the next four multiples of ten, but the lowest."""
    above = [bound for bound in _BOUNDS if bound > price][:4]
    return max(random.sample(above, 2)) if len(above) >= 2 else NO_BOUND


def bound_text(bound: float) -> str:
    """Words a price bound."""
    return "" if bound == NO_BOUND else f", and price lower than {bound:.2f} dollars"


def combination(product: Product, number: int) -> tuple[tuple[str, str], ...]:
    """Returns a combination of option values: names in order, the last one's values first.

    Args:
        product: The product.
        number: In 0..the product of the numbers of values, less 1.
    """
    found: list[tuple[str, str]] = []
    for name in sorted(product.options, reverse=True):
        values = product.options[name]
        number, at = divmod(number, len(values))
        found.append((name, values[at]))
    return tuple(reversed(found))
