"""Files of any size in WebShop's own format, with text of our own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mage_envs.worlds.webshop.catalogue import Made, make_products

BATCH = 2_000


def write_files(folder: Path, count: int, size: str = "full") -> None:
    """Writes products, instructions and a few human instructions; what is written is never all in memory."""
    suffix = {"full": "", "small": "_1000"}[size]
    instructions = {"full": "items_ins_v2.json", "small": "items_ins_v2_1000.json"}[size]
    human = {}
    with (folder / f"items_shuffle{suffix}.json").open("w") as products, (folder / instructions).open("w") as told:
        products.write("[\n")
        told.write("{")
        for number, made in enumerate(_many(count)):
            comma = ", " if number else ""
            products.write(comma + json.dumps(_record(made, number)))
            told.write(f'{comma}"{made.product.asin}": {json.dumps(_instruction(made, number))}')
            if number % 97 == 0:
                human[made.product.asin] = [_human(made)]
        products.write("\n]\n")
        told.write("}")
    (folder / "items_human_ins.json").write_text(json.dumps(human))


def _many(count: int) -> Iterator[Made]:
    for seed in range(0, -(-count // BATCH)):
        yield from make_products(min(BATCH, count - seed * BATCH), seed)


def _record(made: Made, number: int) -> dict[str, Any]:
    product = made.product
    return {
        "asin": product.asin,
        "name": product.title,
        "full_description": product.description,
        "small_description": list(product.bullets),
        "pricing": "" if number % 11 == 0 else "".join(f"${price:,.2f}" for price in product.pricing),
        "product_category": product.path,
        "category": product.category,
        "query": product.query.capitalize(),
        "images": ["https://example.invalid/0.jpg"],
        "customization_options": {
            name: [{"value": value, "image": None} for value in values] for name, values in product.options.items()
        }
        or "",
    }


def _instruction(made: Made, number: int) -> dict[str, Any]:
    told: dict[str, Any] = {"attributes": list(made.product.attributes)}
    if number % 3:
        told |= {"instruction": made.request, "instruction_attributes": list(made.wanted)}
    return told


def _human(made: Made) -> dict[str, Any]:
    return {
        "asin": made.product.asin,
        "instruction": f"{made.request.lower()}.",
        "attributes": list(made.product.attributes),
        "options": [],
        "instruction_attributes": list(made.wanted),
        "instruction_options": [values[0] for values in made.product.options.values()],
        "worker_id": "x",
        "assignment_id": "x",
    }
