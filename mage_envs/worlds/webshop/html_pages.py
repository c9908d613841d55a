"""The pages of the shop as HTML, for a person at a browser. Every text is escaped; nothing needs a script."""

from __future__ import annotations

from html import escape
from typing import NamedTuple
from urllib.parse import urlencode

from mage_envs.worlds.webshop.pages import PER_PAGE, SUB_PAGES, PageKind, Place, write_page
from mage_envs.worlds.webshop.products import Product
from mage_envs.worlds.webshop.reward import Score
from mage_envs.worlds.webshop.shop import Shop
from mage_envs.worlds.webshop.world import WebShop

STYLE = "/style.css"

_INDEX = "<h1>Search</h1><p>Look for what the goal asks for, open a product, choose its options, and buy it.</p>"


class Walk(NamedTuple):
    """What a person did with a goal.

    Attributes:
        goal: Number of the goal.
        commands: What was played, as an agent would have written it.
        place: Where that led.
        refused: The last command, if the page did not have it; else empty.
    """

    goal: int
    commands: tuple[str, ...]
    place: Place
    refused: str = ""


def write_html(world: WebShop, walk: Walk) -> str:
    """Returns the page to which a walk led."""
    shop, place = world.shop, walk.place
    goal = shop.goals[walk.goal]
    parts = [_head_line(shop, walk)]
    parts.append(f'<main><p class="wish"><span>Goal {walk.goal}</span> {escape(goal.text)}</p>')
    if walk.refused:
        parts.append(f'<p role="alert">This page has no <code>{escape(walk.refused)}</code>.</p>')
    if place.kind is not PageKind.DONE:
        parts.append(_search_form(walk))
    write = _BODIES.get(place.kind)
    parts.append(_INDEX if write is None else write(shop, walk))
    parts.append(f"{_taken(world, walk)}</main>")
    return _document(f"Goal {walk.goal}: {_title(shop, place)}", "".join(parts))


def write_message(text: str) -> str:
    """Returns a page that says one thing."""
    return _document("WebShop", f'<main><p role="alert">{escape(text)}</p><p><a href="/">To the shop</a></p></main>')


def _document(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f'<link rel="icon" href="data:,"><link rel="stylesheet" href="{STYLE}"></head><body>{body}</body></html>\n'
    )


def _title(shop: Shop, place: Place) -> str:
    if place.kind in (PageKind.ITEM, PageKind.SUB):
        return shop.product(place.asin).title
    return {PageKind.RESULTS: "results", PageKind.DONE: "score"}.get(place.kind, "search")


# Links and forms: each carries the walk so far.


def _address(goal: int, commands: tuple[str, ...] = ()) -> str:
    return escape("/?" + urlencode([("goal", goal), *(("do", each) for each in commands)]))


def _link(walk: Walk, label: str, text: str) -> str:
    address = _address(walk.goal, (*walk.commands, f"click[{label.lower()}]"))
    return f'<a href="{address}">{escape(text)}</a>'


def _kept(walk: Walk) -> str:
    fields = [("goal", str(walk.goal)), *(("do", each) for each in walk.commands)]
    return "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in fields)


def _button(label: str, text: str, more: str = "") -> str:
    return f'<button name="do" value="{escape(f"click[{label.lower()}]")}"{more}>{escape(text)}</button>'


def _head_line(shop: Shop, walk: Walk) -> str:
    last = len(shop.goals) - 1
    near = [("Previous goal", walk.goal - 1), ("Next goal", walk.goal + 1)]
    links = "".join(f'<a href="{_address(at)}">{text}</a>' for text, at in near if 0 <= at <= last)
    return (
        f'<header><a class="name" href="{_address(walk.goal)}">WebShop</a> <small>{escape(shop.catalogue)}</small>'
        f'<nav aria-label="Goals"><form><label>Goal <input type="number" name="goal" min="0" max="{last}" '
        f'value="{walk.goal}" required></label><button>Go</button></form>{links}</nav></header>'
    )


def _search_form(walk: Walk) -> str:
    words = escape(" ".join(walk.place.words))
    return (
        f'<form role="search" class="search">{_kept(walk)}<label for="words">Search the shop</label>'
        f'<input id="words" type="search" name="search" value="{words}" required autocomplete="off">'
        f"<button>Search</button></form>"
    )


# The middle of each page.


def _results(shop: Shop, walk: Walk) -> str:
    place, found = walk.place, shop.results(walk.place)
    total = len(shop.search(" ".join(place.words)))
    items = "".join(
        f'<li><p>{_link(walk, each.asin, each.title)}</p><p class="facts">{escape(each.price_tag)} · '
        f"{escape(each.asin)}{' · seen' if each.asin in place.seen else ''}</p></li>"
        for each in found
    )
    first = (place.number - 1) * PER_PAGE + 1
    rows = f'<ol class="results" start="{first}">{items}</ol>' if found else "<p>Nothing on this page.</p>"
    before = _link(walk, "< prev", "Previous ten") if place.number > 1 else ""
    after = _link(walk, "next >", "Next ten") if first + PER_PAGE <= total else ""
    return (
        f"<h1>Results</h1><p>{total} found, page {place.number}</p>{rows}"
        f'<nav class="pages" aria-label="Pages">{before}{after}{_link(walk, "back to search", "Back to Search")}</nav>'
    )


def _item(shop: Shop, walk: Walk) -> str:
    product, chosen = shop.product(walk.place.asin), dict(walk.place.options)
    pages = SUB_PAGES if shop.show_attributes else SUB_PAGES[:-1]
    links = "".join(_link(walk, each, each) for each in pages)
    options = "".join(_option(product, name, chosen.get(name, "")) for name in product.options)
    return (
        f'<h1>{escape(product.title)}</h1><p class="price">{escape(product.price_tag)}</p>'
        f'<p class="facts">{escape(product.asin)} · Rating: N.A.</p><nav aria-label="About the product">{links}</nav>'
        f"<form>{_kept(walk)}{options}<p>{_button('buy now', 'Buy Now', ' class=buy')}</p></form>"
        f'<nav class="pages" aria-label="Pages">{_link(walk, "< prev", "Back to results")}'
        f"{_link(walk, 'back to search', 'Back to Search')}</nav>"
    )


def _option(product: Product, name: str, chosen: str) -> str:
    buttons = "".join(
        _button(value, value, f' aria-pressed="{"true" if value == chosen else "false"}"')
        for value in product.options[name]
    )
    return f"<fieldset><legend>{escape(name)}</legend>{buttons}</fieldset>"


def _sub(shop: Shop, walk: Walk) -> str:
    product, sub = shop.product(walk.place.asin), walk.place.sub
    lines = {
        "Description": (product.description,),
        "Features": product.bullets,
        "Attributes": (*product.attributes, product.category, product.query, product.path),
    }.get(sub, ())
    told = "".join(f"<li>{escape(each)}</li>" for each in lines if each)
    return (
        f'<h1>{escape(sub)}</h1><p class="facts">{escape(product.title)}</p>'
        f"{f'<ul>{told}</ul>' if told else '<p>Nothing is said here.</p>'}"
        f'<nav class="pages" aria-label="Pages">{_link(walk, "< prev", "Back to the product")}'
        f"{_link(walk, 'back to search', 'Back to Search')}</nav>"
    )


def _done(shop: Shop, walk: Walk) -> str:
    place, goal = walk.place, shop.goals[walk.goal]
    bought, options = shop.product(place.asin), dict(place.options)
    score = shop.score(walk.goal, place.asin, options)
    strict = shop.reward(walk.goal, place.asin, options, "strict")
    rows = _score_rows(score, len(goal.attributes), len(goal.options), strict)
    told = "".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' for name, value in rows)
    chosen = ", ".join(f"{name}: {value}" for name, value in options.items()) or "no options"
    wanted = [*goal.attributes, *(each if isinstance(each, str) else ": ".join(each) for each in goal.options)]
    verdict = "You won." if place.reward == 1.0 else "Only 1 is a win."
    return (
        f"<h1>Score <output>{place.reward:.2f}</output></h1><p>{verdict}"
        f" You bought <b>{escape(bought.title)}</b>, {escape(chosen)}.</p><table>{told}</table>"
        f"<details><summary>What the goal had in mind</summary><p>{escape(goal.title)} ({escape(goal.asin)})</p>"
        f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in wanted)}</ul></details>"
        f'<nav class="pages" aria-label="Pages"><a href="{_address(walk.goal)}">Try this goal again</a></nav>'
    )


def _score_rows(score: Score, attributes: int, options: int, strict: float) -> list[tuple[str, str]]:
    return [
        ("Attributes", f"{score.attributes} of {attributes}"),
        ("Options", f"{score.options} of {options}"),
        ("Price", "as wanted" if score.price else "too high"),
        ("Type of product", f"× {score.type_factor:g}"),
        ("Score with exact options", f"{strict:.2f}"),
    ]


_BODIES = {
    PageKind.RESULTS: _results,
    PageKind.ITEM: _item,
    PageKind.SUB: _sub,
    PageKind.DONE: _done,
}


def _taken(world: WebShop, walk: Walk) -> str:
    count = len(walk.commands)
    if count > world.turns:
        said = f"{count} steps; an agent's episode ends after {world.turns}."
    else:
        said = f"{count} of the {world.turns} steps that an agent has."
    done = "".join(f"<li><code>{escape(each)}</code></li>" for each in walk.commands)
    body = world.shop.body(walk.place)
    text = write_page(world.shop.goals[walk.goal].text, body, "text", walk.place)
    return (
        f'<footer><p class="steps">{said}</p><details><summary>As an agent sees it</summary><ol>{done}</ol>'
        f"<pre>{escape(text)}</pre></details></footer>"
    )
