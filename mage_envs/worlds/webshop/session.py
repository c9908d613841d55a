"""One shopper with one goal: from an action to the next page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict

from mage_envs.worlds.webshop.pages import (
    BACK,
    BUY,
    NEXT,
    PREVIOUS,
    SEARCH,
    SUB_PAGES,
    Node,
    NodeKind,
    PageKind,
    PageText,
    Place,
    write_page,
)  # fmt: skip
from mage_envs.worlds.webshop.reward import RewardMode

if TYPE_CHECKING:
    from mage_envs.worlds.webshop.shop import Shop

_ACTION = re.compile(r"(.+)\[(.+)\]")
_SUB_PAGE = {name.lower(): name for name in SUB_PAGES}
_SEARCH, _BACK, _NEXT, _PREVIOUS, _BUY = (name.lower() for name in (SEARCH, BACK, NEXT, PREVIOUS, BUY))


class AvailableActions(TypedDict):
    """What can be done on a page, as WebShop says it.

    Attributes:
        has_search_bar: Whether the page has one; a search is read on every page nevertheless.
        clickables: Labels in lower case.
    """

    has_search_bar: bool
    clickables: list[str]


class ShopSession:
    """A walk through a shop. It holds only where it stands, and shares all else.

    Attributes:
        shop: The shop.
        goal_index: Which of its goals.
        place: Where it stands.
    """

    __slots__ = ("_mode", "goal_index", "place", "shop")

    def __init__(self, shop: Shop, goal_index: int, mode: RewardMode = "webshop") -> None:
        """Begins on the index page; ``Shop.session`` checks the goal's index."""
        self.shop, self.goal_index, self._mode = shop, goal_index, mode
        self.place = Place()

    @property
    def done(self) -> bool:
        """Whether something was bought."""
        return self.place.kind is PageKind.DONE

    def text(self, mode: PageText = "text") -> str:
        """Returns the page in words."""
        return write_page(self.shop.goals[self.goal_index].text, self.shop.body(self.place), mode, self.place)

    def available_actions(self) -> AvailableActions:
        """Returns what can be done on the page."""
        labels = self.shop.body(self.place).labels
        return {"has_search_bar": self.place.kind is PageKind.INDEX, "clickables": list(labels)}

    def step(self, action: str) -> tuple[float, bool]:
        """Plays ``search[words]`` or ``click[label]``, in WebShop's grammar; anything else changes nothing.

        Returns:
            What it earned, and whether the walk is over. After a purchase nothing changes or earns any more.
        """
        if self.done:
            return 0.0, True
        self.place = play(self.shop, self.goal_index, self.place, action, self._mode)
        return self.place.reward, self.done


def play(shop: Shop, goal_index: int, place: Place, action: str, mode: RewardMode = "webshop") -> Place:
    """Returns where an action in WebShop's grammar leads; the same place if it is none that the page has."""
    match = _ACTION.match(action)
    if match is None:
        return place
    name, argument = match[1], match[2].lower()
    if name == "search":
        return open_search(place, argument)
    if name == "click":
        return click(shop, goal_index, place, argument, mode)
    return place


def open_search(place: Place, words: str, number: int = 1) -> Place:
    """Returns a page of the results of a search."""
    return Place(PageKind.RESULTS, tuple(words.split(" ")), number, seen=place.seen)


def click(shop: Shop, goal_index: int, place: Place, label: str, mode: RewardMode = "webshop") -> Place:
    """Returns where a click leads; the same place if the page has no such label.

    A button's label wins over an option of the same name, as in WebShop.
    """
    node = shop.body(place).labels.get(label)
    if node is None or label == _SEARCH:
        return place
    if label == _BUY:
        score = shop.score(goal_index, place.asin, dict(place.options), mode)
        return place._replace(kind=PageKind.DONE, reward=score.total)
    if label == _BACK:
        return Place()
    if label in (_NEXT, _PREVIOUS) and place.kind is PageKind.RESULTS:
        return open_search(place, " ".join(place.words), place.number + (1 if label == _NEXT else -1))
    if label == _PREVIOUS and place.kind is PageKind.ITEM:
        return open_search(place, " ".join(place.words), place.number)
    if label in _SUB_PAGE:
        return place._replace(kind=PageKind.SUB, sub=_SUB_PAGE[label])
    return _item(place, node)


def _item(place: Place, node: Node) -> Place:
    """Opens a product, comes back to it from a sub-page, or chooses a value of an option."""
    asin, options, seen = place.asin, place.options, place.seen
    if node.kind is NodeKind.LINK:
        asin, seen = node.text, seen | {node.text}
    elif node.kind is NodeKind.OPTION:
        options = tuple({**dict(options), node.name: node.text}.items())
    return Place(PageKind.ITEM, place.words, place.number, asin, options, "", seen)
