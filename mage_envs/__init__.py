"""MAGE: meta-episodes for Gymnasium and PettingZoo.

Importing this package registers the environments ``mage/…`` with Gymnasium. Gymnasium 1.x loads no plug-ins, so either
``import mage_envs`` before ``gymnasium.make("mage/KuhnPoker-meta-v0")``, or name the module in the id:
``gymnasium.make("mage_envs:mage/KuhnPoker-meta-v0")``.
"""

from __future__ import annotations

from mage_envs.envs.registration import environment_ids, register_environments

__all__ = ["environment_ids"]

__version__ = "0.1.0"

register_environments()
