"""Products, and how WebShop reads them from its records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

MAX_ASIN = 10
DEFAULT_PRICE = 100.0
NO_ATTRIBUTES = ("DUMMY_ATTR",)

_NOT_IN_A_NUMBER = re.compile(r"[^\d.]")


class Product(NamedTuple):
    """One product.

    Attributes:
        asin: Its id, at most ten characters.
        title: Its name.
        description: One text, often empty.
        bullets: Its features.
        pricing: One price in dollars, or the ends of a range.
        price_tag: The price as pages show it.
        options: From the name of an option to its values, all in lower case.
        attributes: What goals ask for; hidden from pages unless they show attributes.
        query: The search under which it was found.
        category: ``"beauty"``, ``"electronics"``, ``"fashion"``, ``"garden"`` or ``"grocery"``.
        path: Its categories from wide to narrow, with ``›`` between.
    """

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    pricing: tuple[float, ...]
    price_tag: str
    options: dict[str, tuple[str, ...]]
    attributes: tuple[str, ...]
    query: str
    category: str
    path: str

    @property
    def contents(self) -> str:
        """The text that is searched."""
        first = self.bullets[0] if self.bullets else ""
        options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in self.options.items())
        return f"{self.title} {self.description} {first} {options}".lower()

    def as_record(self) -> dict[str, Any]:
        """Returns the product as WebShop has it after loading, under its names; without what it never fills."""
        return {
            "Title": self.title,
            "Description": self.description,
            "BulletPoints": list(self.bullets),
            "pricing": list(self.pricing),
            "Price": self.price_tag,
            "Rating": "N.A.",
            "options": {name: list(values) for name, values in self.options.items()},
            "Attributes": list(self.attributes),
            "query": self.query,
            "category": self.category,
            "product_category": self.path,
        }


def read_product(record: Mapping[str, Any], attributes: tuple[str, ...] | None) -> Product:
    """Makes a product of a record of WebShop's product file.

    Args:
        record: Keys that are read: asin, name, full_description, small_description, pricing, customization_options,
            query, category, product_category.
        attributes: From the instruction file; None if it does not have the product.
    """
    bullets = () if record["small_description"] is None else record["small_description"]
    pricing, tag = _read_price(record["pricing"])
    return Product(
        record["asin"],
        record["name"],
        record["full_description"] or "",
        tuple(bullets) if isinstance(bullets, list | tuple) else (bullets,),
        pricing,
        tag,
        _read_options(record["customization_options"] or {}),
        NO_ATTRIBUTES if attributes is None else attributes,
        record["query"].lower().strip(),
        record["category"],
        record["product_category"],
    )


def attributes_of(record: Mapping[str, Any] | None) -> tuple[str, ...] | None:
    """Returns the attributes of a record of the instruction file; None if there is none, or it has none."""
    kept = None if record is None else record.get("attributes")
    return None if kept is None else tuple(kept)


def usable(records: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yields the records that are products: each id once, and only ids that are none too long."""
    seen = set()
    for record in records:
        asin = record["asin"]
        if asin != "nan" and len(asin) <= MAX_ASIN and asin not in seen:
            seen.add(asin)
            yield record


def _read_price(pricing: str | None) -> tuple[tuple[float, ...], str]:
    if not pricing:
        return (DEFAULT_PRICE,), f"${DEFAULT_PRICE}"
    values = tuple(float(_NOT_IN_A_NUMBER.sub("", part)) for part in pricing.split("$")[1:])
    return (values, f"${values[0]}") if len(values) == 1 else (values[:2], f"${values[0]} to ${values[1]}")


def _read_options(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {
        name.lower(): tuple(each["value"].strip().replace("/", " | ").lower() for each in values)
        for name, values in given.items()
        if values is not None
    }
