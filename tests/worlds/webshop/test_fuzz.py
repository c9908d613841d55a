"""A hundred thousand actions of any kind: nothing raises, nothing hidden is told."""

from __future__ import annotations

from random import Random

import pytest

from mage_envs.worlds.webshop import Shop, ShopSession, make_shop
from mage_envs.worlds.webshop.answers import read_answer
from mage_envs.worlds.webshop.pages import Place
from mage_envs.worlds.webshop.session import click, open_search
from tests.worlds.webshop.packs import pack

_PIECES = (
    "search[", "click[", "]", "[", "Search[", "CLICK[ ", "buy now", "< prev", "next >", "back to search", "features",
    "description", "attributes", "reviews", "<r>", "<a> ", "<c>", "<q> x", " ", "\n", "\t", "\x00", "½", "❤️", "琥珀",
    "e\u0301", "\ud800", "'", '"', "{}", "%s", "tea", "soft gift", "..", "\\", "x" * 300, "1️⃣", "👨\u200d👩", "İ",
    "ß", "_", "()",
)  # fmt: skip


def actions(random: Random, shop: Shop, labels: list[str]) -> str:
    kind = random.random()
    if kind < 0.45 and labels:
        return f"click[{random.choice(labels)}]"
    if kind < 0.6:
        return f"search[{random.choice(shop.goals).text if random.random() < 0.3 else random.choice(_PIECES)}]"
    if kind < 0.7:
        return f"click[{random.choice(shop.products).asin.lower()}]"
    return "".join(random.choices(_PIECES, k=random.randint(0, 5)))


@pytest.mark.parametrize("which", ["made", "golden"])
def test_any_action_is_survived_and_tells_nothing(which: str) -> None:
    shop = make_shop() if which == "made" else pack("synthetic").shop
    random = Random(5)
    bought = 0
    session, other = _pair(shop, random)
    for number in range(50_000):
        if session.done or random.random() < 0.01:
            session, other = _pair(shop, random)
        action = actions(random, shop, session.available_actions()["clickables"])
        reward, done = session.step(action)
        other_reward, other_done = other.step(action)
        assert done == other_done == session.done
        assert 0.0 <= reward <= 1.0
        assert done or (reward, other_reward) == (0.0, 0.0)
        bought += done
        if number % 7 == 0 or done:  # All that a page tells of the goal is its instruction, and what a purchase earned.
            assert _rest(shop, session, number) == _rest(shop, other, number)
    assert bought > 100


def _pair(shop: Shop, random: Random) -> tuple[ShopSession, ShopSession]:
    """Begins two walks that differ only in their goals."""
    first, second = random.sample(range(len(shop.goals)), 2)
    return shop.session(first), shop.session(second)


def _rest(shop: Shop, session: ShopSession, number: int) -> str:
    """Returns the page without the instruction and the reward."""
    place = session.place._replace(reward=0.0)
    instruction = shop.goals[session.goal_index].text
    shown = ShopSession(shop, session.goal_index)
    shown.place = place
    return shown.text("text_rich" if number % 2 else "text").replace(instruction, "")


def test_any_answer_is_read_or_refused() -> None:
    shop = make_shop(50)
    random = Random(6)
    place = open_search(Place(), "soft gift")
    labels = list(shop.body(place).labels)
    for _ in range(20_000):
        command = read_answer("".join(random.choices((*_PIECES, *labels), k=random.randint(0, 8))), shop.body(place))
        assert command is None or command[0] == "search" or command[1] in labels
        if command is not None and command[0] == "click":
            click(shop, 0, place, command[1])
