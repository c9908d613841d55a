"""The original's rules where the packs do not go: each case worked out by hand."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mage_envs.worlds.webshop import Shop, make_shop
from mage_envs.worlds.webshop.goals import NO_BOUND, Goal, draw_bound, human_goals, synthetic_goals
from mage_envs.worlds.webshop.index import build_index
from mage_envs.worlds.webshop.nouns import TitleNouns
from mage_envs.worlds.webshop.pages import PageKind
from mage_envs.worlds.webshop.products import Product, attributes_of, read_product, usable
from mage_envs.worlds.webshop.reward import Score, score_purchase

PLAIN = Product("A", "", "", (), (5.0,), "$5.0", {}, (), "mugs", "garden", "Home › Kitchen › Mugs")
TEN = tuple(f"noun{number}" for number in range(10))


def goal(**wanted: Any) -> Goal:
    plain = Goal("G", "", "mugs", "garden", "Home › Kitchen › Mugs", "", (), (), 5.0, 1.0)
    return plain._replace(**wanted)


def score(
    product: dict[str, Any], wanted: dict[str, Any], options: dict[str, str] | None = None, price: float = 5.0
) -> Score:
    return score_purchase(PLAIN._replace(**product), goal(**wanted), price, options or {}, ("mug",), ("mug",))


# The type of product.


@pytest.mark.parametrize(
    ("product", "nouns", "wanted_nouns", "factor"),
    [
        ({}, TEN[:1], TEN, 1.0),  # A tenth of the nouns is not below a tenth.
        ({}, TEN[:1], (*TEN, "more"), 0.1),
        ({}, (), TEN, 0.0),  # Even with the right query and path.
        ({"query": "cups"}, TEN[:1], TEN, 1.0),  # The path.
        ({"query": "cups", "path": "Mugs›Home"}, TEN[:1], TEN, 1.0),  # Two parts of it, in any order and spacing.
        ({"query": "cups", "path": "Garden › Mugs"}, TEN[:2], TEN, 0.5),  # A fifth of the nouns is not above a fifth.
        ({"query": "cups", "path": "Garden › Mugs"}, TEN[:3], TEN, 1.0),
        ({"query": "cups", "path": "Garden › Mugs"}, TEN[:1], (*TEN, "more"), 0.1),
        ({"query": "cups", "path": "Mugs › Mugs › Mugs"}, TEN[:2], TEN, 0.5),  # One part, three times.
        ({"query": "cups", "path": ""}, ("mug", "mug"), ("mug", "mug", "mug", "mug", "cup"), 0.5),  # 1 of 5, not 4.
        ({"query": "cups", "path": ""}, ("mug",), ("mug", "mug", "mug", "cup"), 1.0),  # 1 of 4.
        ({"query": "cups", "path": ""}, ("mug",), (), 0.5),  # No nouns are wanted: a fifth.
        ({}, (), (), 1.0),
    ],
)
def test_the_type_of_product(
    product: dict[str, Any], nouns: tuple[str, ...], wanted_nouns: tuple[str, ...], factor: float
) -> None:
    found = score_purchase(PLAIN._replace(**product), goal(), 5.0, {}, nouns, wanted_nouns)
    assert (found.type_factor, found.total) == (factor, factor)


def test_two_empty_paths_share_one_part() -> None:
    found = score_purchase(PLAIN._replace(query="cups", path=""), goal(path=""), 5.0, {}, TEN[:2], TEN)
    assert found.type_factor == 0.5


# Attributes.


@pytest.mark.parametrize(
    ("product", "wanted", "met"),
    [
        ({"attributes": ("sole rubber",)}, "rubber sole", True),
        ({"attributes": ("machine washable",)}, "machine wash", True),  # 86 of 100.
        ({"attributes": ("abcdefghijklmnopqxxx",)}, "abcdefghijklmnopqrst", False),  # 2·17/40: 85 is not enough.
        ({"attributes": ("soft", "dry skin")}, "dry skin", True),
        ({"title": "Best ROSEwater"}, "sew", True),  # A part of a word.
        ({"title": "Best Rosewater"}, "Rose", False),  # Titles are read in lower case, what is wanted is not.
        ({"bullets": ("has a red", "fox on it")}, "red fox", True),  # Bullets are one text, with spaces between.
        ({"bullets": ("has a red", "fox on it"), "title": "fo"}, "redfox", False),
        ({"description": "Gluten\nfree"}, "gluten free", False),
        ({"description": "It is GLUTEN FREE."}, "gluten free", True),
        ({"title": "gluten", "description": "free"}, "gluten free", False),  # Each text by itself.
    ],
)
def test_attributes(product: dict[str, Any], wanted: str, met: bool) -> None:
    found = score(product, {"attributes": (wanted,)})
    assert (found.attributes, found.total) == (int(met), (int(met) + 1) / 2)


# Options.


@pytest.mark.parametrize(
    ("wanted", "bought", "met"),
    [
        (("blue",), {"color": "navy blue heather"}, 1),  # "blue" comes before "navy" among the colours.
        (("navy",), {"color": "navy blue heather"}, 0),
        (("standard",), {"style": "titanium"}, 1),  # Both hold "tan".
        ((("style", "standard"),), {"style": "standard"}, 0),  # Of a pair the colour must be the whole value.
        ((("size", "x-large"),), {"size": "large"}, 1),  # Its one word is among the wanted ones.
        ((("size", "large"),), {"size": "x-large"}, 0),  # "large" against "large x": 2·5/12 is 83.
        (("large",), {"size": "x-large"}, 1),  # Of a person's goal the value has no name.
        ((("a", "large"), ("b", "large")), {"a": "large"}, 2),  # One value meets two wishes.
        ((("color", "navy"), ("size", "large")), {"color": "large", "size": "navy"}, 2),  # Names do not matter.
        ((("color", "navy"), ("size", "large")), {}, 0),
    ],
)
def test_options(wanted: Any, bought: dict[str, str], met: int) -> None:
    found = score({}, {"options": wanted}, bought)
    assert (found.options, found.total) == (met, (met + 1) / (len(wanted) + 1))


def test_the_price_may_be_the_bound() -> None:
    assert score({}, {}, price=5.0).total == 1.0
    assert score({}, {}, price=5.01).total == 0.0


def test_all_together() -> None:
    """(1 of 2 attributes + 1 of 2 options + no price) of 5, times a half for another type."""
    found = score_purchase(
        PLAIN._replace(query="cups", path="", attributes=("soft",)),
        goal(attributes=("soft", "hard"), options=(("size", "large"), ("color", "navy"))),
        9.0, {"size": "large", "color": "coral"}, ("mug",), ("mug", "set", "gift", "box", "lid"),
    )  # fmt: skip
    assert (found.attributes, found.options, found.price, found.type_factor) == (1, 1, False, 0.5)
    assert found.total == 2 / 5 * 0.5


# Goals.


def test_price_bounds() -> None:
    def drawn(price: float) -> set[float]:
        return {draw_bound(price, Random(seed)) for seed in range(200)}

    assert drawn(9.99) == {20.0, 30.0, 40.0}  # Of 10, 20, 30 and 40 two, and of them the higher.
    assert drawn(10.0) == {30.0, 40.0, 50.0}
    assert drawn(975.0) == {990.0}
    assert drawn(980.0) == drawn(5_000.0) == {NO_BOUND}


def test_goals_of_records() -> None:
    shirt = PLAIN._replace(asin="S", options={"size": ("s", "m"), "color": ("red", "tan")})
    none = PLAIN._replace(asin="N", options={"size": ()})
    told = {"instruction": "Find me a shirt", "instruction_attributes": ["soft"]}
    found = synthetic_goals([shirt, none], {"S": told, "N": told}, {"S": 985.0, "N": 985.0}, Random(0))
    assert [each.text for each in found] == [
        f"Find me a shirt with color: {color}, and size: {size}" for color in ("red", "tan") for size in ("s", "m")
    ]
    assert found[0].weight == 0.25  # One of four goals that want it.
    record = {
        "instruction": "a soft shirt...", "instruction_attributes": ["soft"], "instruction_options": ["red"],
    }  # fmt: skip
    empty = {**record, "instruction_attributes": []}
    (human,) = human_goals([shirt, none], {"S": [record, empty]}, {"S": 985.0}, Random(0))
    assert (human.text, human.options) == ("a soft shirt", ("red",))


# Products.

RECORD: dict[str, Any] = {
    "asin": "B1", "name": "Mug", "full_description": "", "small_description": ["big"], "pricing": "$1,234.56",
    "customization_options": "", "query": "  Mugs ", "category": "garden", "product_category": "Home › Mugs",
}  # fmt: skip


def read(**changed: Any) -> Product:
    return read_product({**RECORD, **changed}, None)


def test_products_of_records() -> None:
    assert (read().pricing, read().price_tag) == ((1234.56,), "$1234.56")
    assert (read(pricing="").pricing, read(pricing=None).price_tag) == ((100.0,), "$100.0")
    ranged = read(pricing="$5.00 - $7.50 - $9")
    assert (ranged.pricing, ranged.price_tag) == ((5.0, 7.5), "$5.0 to $7.5")
    assert (read(small_description="one").bullets, read(small_description="").bullets) == (("one",), ("",))
    assert (read(full_description=None).description, read().query, read().attributes) == ("", "mugs", ("DUMMY_ATTR",))
    options = {"Color": [{"value": " Red/BLUE "}, {"value": "x"}], "Size": None, "Style": []}
    assert read(customization_options=options).options == {"color": ("red | blue", "x"), "style": ()}


def test_attributes_of_records() -> None:
    assert attributes_of({"attributes": ["soft"]}) == ("soft",)
    assert attributes_of({"instruction": "x"}) is attributes_of(None) is None


def test_records_that_are_no_products() -> None:
    kept = [{"asin": asin, "at": at} for at, asin in enumerate(("nan", "B1", "12345678901", "1234567890", "B1"))]
    assert [each["at"] for each in usable(kept)] == [1, 3]


# Pages.


@pytest.fixture(scope="module")
def shop() -> Shop:
    options = {"size": ("buy later", "features", "next >", "large"), "color": ("red", "large")}
    products = [
        PLAIN._replace(asin=f"P{number:02}", title=f"mug {number}", options=options if number == 14 else {})
        for number in range(23)
    ]
    index = build_index((each.asin, each.contents) for each in products)
    prices = {each.asin: 5.0 for each in products}
    return Shop("test", products, index, [goal(asin="P14", title="mug 14")], prices, TitleNouns({}))


def visit(shop: Shop, *actions: str) -> Any:
    session = shop.session(0)
    for action in actions:
        session.step(action)
    return session


def test_pages_of_results(shop: Shop) -> None:
    first = visit(shop, "search[mug]")
    assert "Page 1 (Total results: 23)" in first.text()
    assert first.available_actions()["clickables"][:2] == ["back to search", "next >"]
    third = visit(shop, "search[mug]", "click[next >]", "click[next >]")
    labels = third.available_actions()["clickables"]
    assert labels == ["back to search", "< prev", "next >", "p21", "p22", "p14"]  # By id; the longer text comes last.
    beyond = visit(shop, "search[mug]", *["click[next >]"] * 4)
    assert "Page 5 (Total results: 23)" in beyond.text()
    assert beyond.available_actions()["clickables"] == ["back to search", "< prev", "next >"]
    for _ in range(6):
        beyond.step("click[< prev]")  # There is none on the first page.
    assert beyond.text() == first.text()


def test_a_product_is_left_for_the_page_on_which_it_was_found(shop: Shop) -> None:
    found = ("search[mug]", "click[next >]", "click[next >]")
    before = visit(shop, *found)
    session = visit(shop, *found, "click[p14]", "click[red]", "click[description]")
    session.step("click[< prev]")
    assert dict(session.place.options) == {"color": "red"}  # Kept over the page about the product.
    session.step("click[< prev]")
    assert (session.text(), session.place.options) == (before.text(), ())
    session.step("click[p14]")
    assert session.place.options == ()


def test_a_search_is_read_everywhere_and_clears_options(shop: Shop) -> None:
    for page in ((), ("click[next >]",), ("click[p14]", "click[red]"), ("click[p14]", "click[red]", "click[reviews]")):
        session = visit(shop, "search[mug 14]", *page, "search[mug]")
        assert (session.place.kind, session.place.number, session.place.options) == (PageKind.RESULTS, 1, ())


def test_labels_that_are_options_and_more(shop: Shop) -> None:
    """A button's name wins over an option's, the last of two options over the first."""
    at = ("search[mug 14]", "click[p14]")
    assert visit(shop, *at, "click[features]").place.kind is PageKind.SUB
    assert dict(visit(shop, *at, "click[next >]").place.options) == {"size": "next >"}
    assert dict(visit(shop, *at, "click[large]").place.options) == {"color": "large"}
    assert dict(visit(shop, *at, "click[buy later]").place.options) == {"size": "buy later"}
    labels = visit(shop, *at).available_actions()["clickables"]
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize(
    "action",
    ["search[]", "Search[mug]", " search[mug]", "search [mug]", "search[a\nb]", "click[search]", "click[p14]", "mug",
     "search[a][b]", "search[a] [b]", "click[Buy Now]", "", "[x]"],
)  # fmt: skip
def test_the_grammar_refuses(shop: Shop, action: str) -> None:
    assert visit(shop, action).place == visit(shop).place


def test_the_grammar_takes(shop: Shop) -> None:
    plain = visit(shop, "search[mug]").text()
    assert visit(shop, "search[MUG] please").text() == plain  # Whatever follows, in any letter case.
    assert visit(shop, "search[mug]", "click[P01]").place.asin == "P01"
    assert "Total results: 0" in visit(shop, "search[ ]").text()
    assert visit(shop, "search[[mug]]").place.kind is PageKind.INDEX  # The name would be "search[".


def test_more_than_fifty_results_are_fifty() -> None:
    found = make_shop()
    assert len(found.search("soft travel gift set for men women kids home")) == 50
