"""Leduc poker: two rounds and a public card. Scores are chips a hand."""

from __future__ import annotations

from mage_envs.scenarios.base import Scenario, register

ENV_ID = "mage/LeducPoker-meta-v0"
UNIT = "chips per hand"

register(
    Scenario("leduc/train", ENV_ID, "opponents that can be exploited", UNIT, "leduc/train"),
    Scenario("leduc/heldout", ENV_ID, "a sampled equilibrium", UNIT, "leduc/heldout"),
)
