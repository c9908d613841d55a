"""WebShop on made catalogues: one goal in every episode of a meta-episode; what is held out is another kind of goal.

Trained on goals of fashion, electronics and grocery, worded as the original's, among 1,000 products. The test is the
same in a shop of 1,000 others, none of them a twin of one that was trained on. Held out are the other categories, other
wordings, and five times as many products: each alone, and all at once. The split is ours, since no paper defines its
own.
"""

from __future__ import annotations

from mage_envs.scenarios.base import Scenario, register

ENV_ID = "mage/WebShop-meta-v0"
UNIT = "score of the purchase, 0 to 1"


def _webshop(name: str, summary: str, **arguments: str) -> Scenario:
    """Makes a scenario with all that decides what is played, defaults included: it is frozen."""
    usual = {"catalogue": "small", "phrasing": "labels", "show": "text", "reward": "webshop", "dialect": "lenient"}
    return Scenario(
        f"webshop/{name}", ENV_ID, summary, UNIT, None, (0,), "replay", tuple({**usual, **arguments}.items())
    )


register(
    _webshop("train", "1,000 made products: goals to train on", split="train"),
    _webshop("validation", "1,000 made products: goals to choose by", split="validation"),
    _webshop("test", "1,000 other made products, which no training sees", split="test", catalogue="unseen"),
    _webshop(
        "heldout", "held out: beauty and garden, short wordings, 5,000 products", split="heldout", phrasing="short",
        catalogue="large",
    ),
    _webshop("heldout_categories", "held out: beauty and garden", split="heldout"),
    _webshop(
        "heldout_phrasing", "held out: short wordings without labels", split="test", phrasing="short",
        catalogue="unseen",
    ),
    _webshop("heldout_size", "held out: 5,000 products", split="test", catalogue="large"),
)  # fmt: skip
