"""Which products are for training, and which never: by what a product is, before anything is shuffled.

The original splits the shuffled list of goals by position, so that most products of its test goals are training
products too. Here a product's split is a function of its title, and all goals of a product are in its split. Two of the
five categories are held out whole. The split is ours: no paper defines its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from mage_envs.worlds.webshop.disk_goals import DiskGoals
from mage_envs.worlds.webshop.shop import Shop

Split: TypeAlias = Literal["all", "train", "validation", "test", "heldout"]

SPLITS: tuple[str, ...] = get_args(Split)
HELD_OUT = frozenset(("beauty", "garden"))

_BUCKETS = ("train",) * 8 + ("validation", "test")


def split_of(title: str, category: str) -> str:
    """Returns the split of a product.

    >>> split_of("Verlo Classic Wool Sweater", "fashion"), split_of("Verlo Wool Rug", "garden")
    ('train', 'heldout')
    """
    return "heldout" if category in HELD_OUT else bucket_of(title)


def bucket_of(title: str) -> str:
    """Returns the split of a product with a title, unless its category is held out."""
    return _BUCKETS[int(hashlib.sha256(title.casefold().encode(errors="replace")).hexdigest(), 16) % len(_BUCKETS)]


def goals_of(shop: Shop, split: str) -> Sequence[int]:
    """Returns the goals of a split, ascending.

    Raises:
        ValueError: An unknown split, or one that has no goals in this shop.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(map(repr, SPLITS))}, got {split!r}")
    found: Sequence[int]
    if split == "all":
        found = range(len(shop.goals))
    elif isinstance(shop.goals, DiskGoals):
        found = shop.goals.of_products(lambda product: split_of(product.title, product.category) == split)
    else:
        found = tuple(at for at, goal in enumerate(shop.goals) if split_of(goal.title, goal.category) == split)
    if not found:
        raise ValueError(
            f"the shop {shop.catalogue} has no goals of split {split!r}: choose another split or catalogue"
        )
    return found
