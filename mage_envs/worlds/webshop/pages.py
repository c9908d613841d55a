"""The pages of the shop: where a shopper stands, what the page has on it, and how it reads.

A page is a list of nodes, a kind and a text each. Both ways of writing it, and the list of what can be clicked, come
from that one list. Nothing here changes: a step makes a new :class:`Place`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

from mage_envs.charset import printable
from mage_envs.games import fold
from mage_envs.worlds.webshop.products import Product

PageText: TypeAlias = Literal["text", "text_rich"]

PER_PAGE = 10
SEPARATOR = " [SEP] "
SEARCH, BACK, NEXT, PREVIOUS, BUY = "Search", "Back to Search", "Next >", "< Prev", "Buy Now"
SUB_PAGES = ("Description", "Features", "Reviews", "Attributes")

_SPACES = " \t\n\r\f\v"
_SAFE = {ord(char): f"\\u{ord(char):04x}" for char in "<>&'"}
_NOT_SHOWN = ("attrs", "category", "query", "product category")
_TARGET = (
    "Target",
    "asin",
    "options",
    "attrs",
    "price upper",
    "instuction text",
    "category",
    "product category",
    "query",
)
"""Labels of the last page, spelled as WebShop spells them."""


class PageKind(StrEnum):
    """Which page is open."""

    INDEX = "index"
    RESULTS = "results"
    ITEM = "item"
    SUB = "sub"
    DONE = "done"


class Place(NamedTuple):
    """Where a shopper stands.

    Attributes:
        kind: The page.
        words: Words of the last search.
        number: Page of its results, from 1; it may lie beyond the last.
        asin: The open product, or the one that was bought; else empty.
        options: Chosen values by name, in the order in which the names were first chosen.
        sub: The open sub-page: ``"Description"``, ``"Features"``, ``"Reviews"`` or ``"Attributes"``; else empty.
        seen: Products that were opened since the last visit of the index page.
        reward: What the purchase earned.
    """

    kind: PageKind = PageKind.INDEX
    words: tuple[str, ...] = ()
    number: int = 1
    asin: str = ""
    options: tuple[tuple[str, str], ...] = ()
    sub: str = ""
    seen: frozenset[str] = frozenset()
    reward: float = 0.0


class NodeKind(StrEnum):
    """What a node is."""

    PLAIN = "plain"
    BUTTON = "button"
    LINK = "link"
    OPTION = "option"


_HEADS = {
    PageKind.INDEX: ("WebShop", "Instruction: "),
    PageKind.RESULTS: ("Instruction:",),
    PageKind.ITEM: ("Instruction:",),
    PageKind.SUB: ("Instruction:",),
    PageKind.DONE: (),
}
"""What stands above the instruction; the last page has none."""

_HEAD_TEXTS = {kind: "".join(f"{text.strip()}{SEPARATOR}" for text in texts) for kind, texts in _HEADS.items()}
"""The same as ``"text"`` has it."""


class Node(NamedTuple):
    """A piece of a page.

    Attributes:
        kind: What it is.
        text: What it says.
        name: The name of the option whose value it is; else empty.
    """

    kind: NodeKind
    text: str
    name: str = ""


class Body:
    """All of a page but the instruction at its head: the same for every goal, so that shoppers can share it.

    Attributes:
        nodes: What is on it.
        clickables: The labels alone, in order.
        labels: What can be clicked, by its label in lower case: buttons, then products, then options. Where labels are
            equal, the first gives the place and the last the meaning.
        commands: A click on each label.
        text: It in words, as ``"text"`` has it.
        results: Id, title and price tag of each product that a page of results shows.
    """

    __slots__ = ("_folded", "clickables", "commands", "labels", "nodes", "results", "text")

    def __init__(
        self, nodes: Iterable[Node], results: Iterable[tuple[str, str, str]] = (), text: str | None = None
    ) -> None:
        """Makes a body of its nodes, and of the products that were found; ``text`` where it is known."""
        self.results = tuple(results)
        self.nodes = tuple(nodes)
        self.labels = _clickables(self.nodes)
        self.clickables = tuple(self.labels)
        self.commands = tuple([f"click[{label}]" for label in self.labels])
        self.text = _joined(self.nodes) if text is None else text
        self._folded: tuple[dict[str, str], dict[str, str]] | None = None

    @property
    def folded(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """From a label, and from the click on it, to the label: in lower case and single spaces, the first first."""
        if self._folded is None:
            labels: dict[str, str] = {}
            clicks: dict[str, str] = {}
            for label in self.labels:
                for said in (label, printable(label)):  # Observations escape rare characters.
                    labels.setdefault(fold(said), label)
                    clicks.setdefault(fold(f"click[{said}]"), label)
            self._folded = labels, clicks
        return self._folded


def index_body() -> Body:
    """Returns the page on which a search is begun."""
    return Body([_button(SEARCH)])


class Row(NamedTuple):
    """A product as pages of results show it, made once for all of them.

    Attributes:
        nodes: Its link, title and price tag.
        text: They in words, as ``"text"`` has them.
        result: Id, title and price tag.
    """

    nodes: tuple[Node, ...]
    text: str
    result: tuple[str, str, str]


def row_of(product: Product) -> Row:
    """Returns a product as pages of results show it."""
    nodes = Node(NodeKind.LINK, product.asin), _plain(product.title), _plain(product.price_tag)
    return Row(nodes, _joined(nodes), (product.asin, product.title, product.price_tag))


def results_body(number: int, total: int, shown: Sequence[Row]) -> Body:
    """Returns a page of results.

    Args:
        number: The page, from 1.
        total: Results on all pages.
        shown: Products on this page.
    """
    nodes = [_button(BACK), _plain(f"Page {number} (Total results: {total})")]
    if number > 1:
        nodes.append(_button(PREVIOUS))
    nodes.append(_button(NEXT))
    text = SEPARATOR.join((_joined(nodes), *[row.text for row in shown]))
    for row in shown:
        nodes += row.nodes
    return Body(nodes, [row.result for row in shown], text)


def item_body(product: Product, show_attributes: bool) -> Body:
    """Returns the page of a product."""
    nodes = [_button(BACK), _button(PREVIOUS)]
    for name, values in product.options.items():
        nodes.append(_plain(name))
        nodes += (Node(NodeKind.OPTION, value, name) for value in values)
    nodes += (_plain(product.title), _plain(f"Price: {product.price_tag}"), _plain("Rating: N.A."))
    nodes += map(_button, SUB_PAGES if show_attributes else SUB_PAGES[:-1])
    nodes.append(_button(BUY))
    return Body(nodes)


def sub_body(product: Product, sub: str) -> Body:
    """Returns a sub-page of a product."""
    told: tuple[str, ...] = ()
    if sub == "Description":
        told = (product.description,)
    elif sub == "Features":
        told = tuple(f" {each}" for each in product.bullets)
    elif sub == "Attributes":
        told = (*(f" {each}" for each in product.attributes), product.category, product.query, product.path)
    return Body([_button(BACK), _button(PREVIOUS), *map(_plain, told)])


def done_body(place: Place) -> Body:
    """Returns the page after a purchase."""
    options = json.dumps(dict(place.options), sort_keys=True).translate(_SAFE)
    texts = ["Thank you for shopping with us!", "Your code: ", "None", " (Paste it in your MTurk interface.)"]
    texts += ["Purchased", "asin", place.asin, "options", options]
    texts += (text for label in _NOT_SHOWN for text in (label, "None"))
    texts += [*_TARGET, "Goal ", "None", "Reward", "Your score (min 0.0, max 1.0)", str(place.reward)]
    return Body(_plain(text) for text in (*texts, "Reward Details ", "None"))


def write_page(instruction: str, body: Body, mode: PageText, place: Place) -> str:
    """Returns a page in words.

    Args:
        instruction: What the shopper was told.
        body: The rest of the page.
        mode: ``"text"`` joins all texts with ``[SEP]``; ``"text_rich"`` has a line for each and marks buttons.
        place: Where the shopper stands.

    Raises:
        ValueError: There is no such mode.
    """
    if mode == "text":
        told = _as_parsed(instruction)
        if place.kind is PageKind.DONE or not told:
            return _HEAD_TEXTS[place.kind] + body.text
        return f"{_HEAD_TEXTS[place.kind]}{told.strip()}{SEPARATOR}{body.text}"
    if mode != "text_rich":
        raise ValueError(f"a page is written as 'text' or 'text_rich', got {mode!r}")
    head = [text for each in (*_HEADS[place.kind], instruction) if (text := _as_parsed(each))]
    if place.kind is PageKind.DONE:
        head = []
    shown = [(node, text) for node in body.nodes if (text := _as_parsed(node.text))]
    address = _address(place)
    lines, clicked = [f"{text}\n" for text in head], []
    for node, text in shown:
        if node.kind is NodeKind.BUTTON:
            lines.append(f"[button] {text} [button_]\n")
        elif node.kind is NodeKind.LINK:
            mark = "clicked button" if text in place.seen else "button"
            lines.append(f"\n[{mark}] {text} [{mark}_]\n")
        elif node.kind is NodeKind.PLAIN:
            lines.append(f"{text}\n")
        elif f'"{text}"' in address:
            lines.append(f"  [clicked button] {text} [clicked button_]\n")
            clicked.append(f"You have clicked {text}.\n")
        else:
            lines.append(f"  [button] {text} [button_]\n")
    return "".join((*reversed(clicked), *lines))


def _clickables(nodes: Iterable[Node]) -> dict[str, Node]:
    groups: dict[NodeKind, dict[str, Node]] = {NodeKind.BUTTON: {}, NodeKind.LINK: {}, NodeKind.OPTION: {}}
    for node in nodes:
        if node.kind is not NodeKind.PLAIN:
            groups[node.kind][node.text if node.kind is NodeKind.OPTION else node.text.lower()] = node
    return {**groups[NodeKind.BUTTON], **groups[NodeKind.LINK], **groups[NodeKind.OPTION]}


def _address(place: Place) -> str:
    """Returns the part of a product page's address in which WebShop looks up what was chosen, quotes and all."""
    return f"{'+'.join(place.words)}/{place.number}/{json.dumps(dict(place.options))}"


def _joined(nodes: Iterable[Node]) -> str:
    """Returns nodes in words, as ``"text"`` has them."""
    return SEPARATOR.join(text.strip() for node in nodes if (text := _as_parsed(node.text)))


def _as_parsed(text: str) -> str:
    """Returns a text as an HTML parser leaves it: of white space alone one space remains, of line ends nothing."""
    if text.strip(_SPACES):
        return text
    return "" if not text or "\n" in text else " "


def _plain(text: str) -> Node:
    return Node(NodeKind.PLAIN, text)


def _button(text: str) -> Node:
    return Node(NodeKind.BUTTON, text)
