"""The shop: products, search, goals and prices. Built once, never changed, shared by all sessions and threads."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING

from mage_envs.worlds.webshop.goals import Goal
from mage_envs.worlds.webshop.index import MAX_HITS, SearchIndex
from mage_envs.worlds.webshop.nouns import TitleNouns
from mage_envs.worlds.webshop.pages import (
    PER_PAGE,
    Body,
    PageKind,
    Place,
    done_body,
    index_body,
    item_body,
    results_body,
    row_of,
    sub_body,
)  # fmt: skip
from mage_envs.worlds.webshop.products import Product
from mage_envs.worlds.webshop.reward import RewardMode, Score, score_purchase
from mage_envs.worlds.webshop.session import ShopSession

if TYPE_CHECKING:
    from mage_envs.worlds.webshop.official import Variant

_KEPT_SEARCHES, _KEPT_RESULTS, _KEPT_PRODUCTS = 1 << 10, 1 << 9, 1 << 11

_INDEX = index_body()


class Shop:
    """A shop.

    Attributes:
        catalogue: Where its products are from: ``"proc-v1:1000:seed0"``, ``"official:small"``.
        products: All products, in the order of the catalogue.
        goals: All goals, in order.
        prices: One price a product, by id.
        show_attributes: Whether pages of products have a sub-page with the attributes.
    """

    def __init__(
        self,
        catalogue: str,
        products: Sequence[Product],
        index: SearchIndex,
        goals: Sequence[Goal],
        prices: Mapping[str, float],
        nouns: TitleNouns,
        positions: Mapping[str, int] | None = None,
        show_attributes: bool = True,
    ) -> None:
        """Makes a shop of its parts.

        Args:
            catalogue: Where the products are from.
            products: The products, each id once.
            index: Over ``product.contents``, in the same order.
            goals: The goals.
            prices: One price for each product.
            nouns: Nouns of the titles.
            positions: From an id to the product's place; None: it is counted.
            show_attributes: Whether there is a sub-page with the attributes.
        """
        self.catalogue, self.products, self.goals, self.prices = catalogue, products, goals, prices
        self.show_attributes = show_attributes
        self._index, self._nouns = index, nouns
        self._positions = {each.asin: at for at, each in enumerate(products)} if positions is None else positions
        self._results_body = lru_cache(maxsize=_KEPT_RESULTS)(self._make_results)
        self._product_body = lru_cache(maxsize=_KEPT_PRODUCTS)(self._make_product)
        self._row = lru_cache(maxsize=_KEPT_PRODUCTS)(lambda at: row_of(self.products[at]))
        self._last: tuple[Place | None, Body] = None, _INDEX  # One step asks several times for one page.
        self._hits = lru_cache(maxsize=_KEPT_SEARCHES)(lambda query: index.search(query).documents)

    @classmethod
    def from_dir(
        cls,
        path: str | PathLike[str],
        goal_seed: int = 42,
        shuffle_seed: int = 233,
        human_goals: bool = False,
        variant: Variant = "auto",
        show_attributes: bool = True,
    ) -> Shop:
        """Reads WebShop's own files; see :func:`mage_envs.worlds.webshop.official.load_official`."""
        from mage_envs.worlds.webshop.official import load_official

        return load_official(path, goal_seed, shuffle_seed, human_goals, variant, show_attributes)

    def search(self, query: str) -> list[str]:
        """Returns ids of the products that a query finds, best first, at most 50."""
        return [self.products[at].asin for at in self._hits(query)[:MAX_HITS]]

    def product(self, asin: str) -> Product:
        """Returns a product.

        Raises:
            ValueError: There is no such product.
        """
        at = self._positions.get(asin)
        if at is None:
            raise ValueError(f"this shop has no product {asin!r}; shop.search finds ids")
        return self.products[at]

    def goal(self, index: int) -> Goal:
        """Returns a goal.

        Raises:
            ValueError: There is no such goal.
        """
        number = operator.index(index)
        if not 0 <= number < len(self.goals):
            raise ValueError(f"this shop has goals 0..{len(self.goals) - 1}, got {number}")
        return self.goals[number]

    def session(self, goal_index: int, mode: RewardMode = "webshop") -> ShopSession:
        """Begins a walk through the shop.

        Args:
            goal_index: Which goal; any kind of integer.
            mode: How its purchase is paid.

        Raises:
            ValueError: There is no such goal or mode.
        """
        _check_mode(mode)
        self.goal(goal_index)
        return ShopSession(self, operator.index(goal_index), mode)

    def score(self, goal_index: int, asin: str, options: Mapping[str, str], mode: RewardMode = "webshop") -> Score:
        """Says what a purchase would earn, and for what.

        Raises:
            ValueError: There is no such goal or product, or no such mode.
        """
        _check_mode(mode)
        goal, product = self.goal(goal_index), self.product(asin)
        nouns = self._nouns.of(asin, product.title)
        wanted = self._nouns.of(goal.asin, goal.title)
        return score_purchase(product, goal, self.prices[asin], options, nouns, wanted, mode)

    def reward(
        self, goal_index: int, product_id: str, options: Mapping[str, str], mode: RewardMode = "webshop"
    ) -> float:
        """Says what a purchase would earn, in 0..1; see :meth:`score`."""
        return self.score(goal_index, product_id, options, mode).total

    def body(self, place: Place) -> Body:
        """Returns the page where a shopper stands, without the instruction."""
        last, body = self._last  # One read: another thread may change it.
        if last is place:
            return body
        kind = place.kind
        if kind is PageKind.INDEX:
            return _INDEX
        if kind is PageKind.RESULTS:
            body = self._results_body(place.words, place.number)
        elif kind is PageKind.DONE:
            body = done_body(place)
        else:
            body = self._product_body(place.asin, place.sub)
        self._last = place, body
        return body

    def results(self, place: Place) -> list[Product]:
        """Returns the products on a page of results."""
        return [self.products[at] for at in _shown(self._hits(" ".join(place.words)), place.number)]

    def _make_results(self, words: tuple[str, ...], number: int) -> Body:
        hits = self._hits(" ".join(words))
        return results_body(number, len(hits), [self._row(at) for at in _shown(hits, number)])

    def _make_product(self, asin: str, sub: str) -> Body:
        product = self.product(asin)
        return sub_body(product, sub) if sub else item_body(product, self.show_attributes)


def _shown(hits: tuple[int, ...], number: int) -> tuple[int, ...]:
    return hits[(number - 1) * PER_PAGE : number * PER_PAGE]


def _check_mode(mode: str) -> None:
    if mode not in ("webshop", "strict"):
        raise ValueError(f"mode must be 'webshop' or 'strict', got {mode!r}")
