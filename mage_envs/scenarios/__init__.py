"""Scenarios: frozen data, one file a domain. ``SCENARIOS.get("kuhn/train").make()`` gives the environment."""

from __future__ import annotations

from mage_envs.envs.meta_episode import Instance, Interface
from mage_envs.scenarios.base import SCENARIOS, Scenario

__all__ = ["SCENARIOS", "Instance", "Interface", "Scenario"]
