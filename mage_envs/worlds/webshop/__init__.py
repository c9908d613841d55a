"""WebShop: shopping by instruction; the engine of its own, and the world. See :mod:`.shop` and :mod:`.world`."""

from __future__ import annotations

from mage_envs.worlds.webshop.catalogue import make_shop
from mage_envs.worlds.webshop.official import load_official
from mage_envs.worlds.webshop.session import ShopSession
from mage_envs.worlds.webshop.shop import Shop
from mage_envs.worlds.webshop.splits import split_of
from mage_envs.worlds.webshop.world import WebShop

__all__ = ["Shop", "ShopSession", "WebShop", "load_official", "make_shop", "split_of"]
