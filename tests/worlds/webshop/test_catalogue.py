"""The made catalogue: winnable, the same everywhere, and as hard as the original's 1,000 products."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from random import Random

import pytest

from mage_envs.worlds.webshop import Shop, make_shop
from mage_envs.worlds.webshop.catalogue import GOALS_A_PRODUCT, make_products
from mage_envs.worlds.webshop.kinds import CATEGORIES, KINDS, POOLS, VALUES
from mage_envs.worlds.webshop.wordings import PARAPHRASES, respell

SIZE_AND_PHRASING = [
    ("small", "labels"), ("small", "short"), ("large", "labels"), ("unseen", "labels"), ("unseen", "short"),
]  # fmt: skip


def fingerprint(shop: Shop) -> str:
    records = [each.as_record() for each in (*shop.products, *shop.goals)]
    return hashlib.sha256(json.dumps([records, shop.prices]).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("size", "phrasing"), SIZE_AND_PHRASING)
def test_every_goal_is_met_by_its_own_product(size: str, phrasing: str) -> None:
    shop = make_shop(size, phrasing=phrasing)  # type: ignore[arg-type]
    for number, goal in enumerate(shop.goals):
        for mode in ("webshop", "strict"):
            assert shop.reward(number, goal.asin, dict(goal.options), mode) == 1.0, goal  # type: ignore[arg-type]


def test_version_1_never_changes() -> None:
    """Another fingerprint is another catalogue: it needs another version."""
    assert make_shop().catalogue == "proc-v1:1000:seed0"
    assert fingerprint(make_shop()) == "beab1c2c5dff8f29"
    assert fingerprint(make_shop(phrasing="short")) == "55c9f6006f75075f"
    assert make_shop("unseen").catalogue == "proc-v1-unseen:1000:seed0"
    assert fingerprint(make_shop("unseen")) == "16e6561962adf20f"
    assert fingerprint(make_shop("unseen", phrasing="short")) == "9f12d4c19f0864a5"


def test_a_larger_catalogue_begins_with_the_smaller_one() -> None:
    assert make_products(300)[:200] == make_products(200)
    assert make_products(200, seed=1) != make_products(200)


def test_all_categories_and_kinds_are_there() -> None:
    assert len(KINDS) == 46
    products = make_shop("large").products
    assert len({each.asin for each in products}) == 5_000
    assert {each.query for each in products} == {kind.query for kind in KINDS}
    assert {each.category for each in products} == set(CATEGORIES)


def test_no_product_has_most_of_the_goals() -> None:
    counts = Counter(goal.asin for goal in make_shop().goals)
    assert max(counts.values()) <= GOALS_A_PRODUCT
    assert len(counts) > 900


def test_short_requests_name_no_options() -> None:
    shop = make_shop(phrasing="short")
    texts = [goal.text for goal in shop.goals]
    assert all(text == text.lower() and ": " not in text for text in texts)
    told = [text.split(", and price")[0].split() for text in texts]
    assert sum(map(len, told)) / len(told) == pytest.approx(14, abs=1)


def test_other_words_are_no_options_and_not_the_same_words() -> None:
    assert set(PARAPHRASES) == {attribute for pool in POOLS.values() for attribute in pool}
    values = {value for values in VALUES.values() for value in values}
    for attribute, said in PARAPHRASES.items():
        assert not {value for value in values if re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", said)}, said
        assert not set(attribute.split()) & set(said.split()), said
    for options in VALUES.values():
        assert len({word for value in options for word in {value, respell(value)}}) == sum(
            len({value, respell(value)}) for value in options
        )


def test_short_wordings_are_harder_by_themselves() -> None:
    labels, short = measure(make_shop()), measure(make_shop(phrasing="short"))
    for name in ("rule", "options", "rerank"):
        assert short[name][0] < labels[name][0] - 5, name
    assert short["oracle"] == (100, 100)


REAL = {"rule": (56.5, 1.2), "options": (79.8, 54.8), "rerank": (95.1, 86.6), "oracle": (98.9, 93.0)}
"""Mean score and success of four scripted shoppers on the real 1,000 products, in %; 500 goals."""


def shoppers(shop: Shop, number: int) -> dict[str, float]:
    """What four earn: who buys the first hit, that with the named options, the best of ten, and the target."""
    goal = shop.goals[number]
    text = goal.text.lower()

    def named(asin: str) -> dict[str, str]:
        found = {
            name: [value for value in values if value in text] for name, values in shop.product(asin).options.items()
        }
        return {name: max(values, key=len) for name, values in found.items() if values}

    def fit(asin: str) -> int:
        product, options = shop.product(asin), named(asin)
        meets = sum(each in text for each in product.attributes) + (shop.prices[asin] <= goal.price_upper)
        return meets + 2 * len(options) - len(product.options)

    hits = shop.search(goal.text)[:10]
    best = max(hits, key=fit)
    return {
        "rule": shop.reward(number, hits[0], {}),
        "options": shop.reward(number, hits[0], named(hits[0])),
        "rerank": shop.reward(number, best, named(best)),
        "oracle": shop.reward(number, goal.asin, dict(goal.options)),
    }


def measure(shop: Shop) -> dict[str, tuple[float, float]]:
    earned = [shoppers(shop, number) for number in Random(0).sample(range(len(shop.goals)), 500)]
    return {
        name: (
            100 * sum(each[name] for each in earned) / len(earned),
            100 * sum(each[name] == 1 for each in earned) / len(earned),
        )
        for name in REAL
    }


@pytest.mark.parametrize("size", ["small", "unseen"])
def test_it_is_as_hard_as_the_real_products(size: str) -> None:
    for name, found in measure(make_shop(size)).items():
        assert found == pytest.approx(REAL[name], abs=10), name
