"""WebShop: shopping by instruction. See :mod:`.shop`."""

from __future__ import annotations

from mage_envs.worlds.webshop.shop import Shop

__all__ = ["Shop"]
