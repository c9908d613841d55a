"""Kuhn poker: the smallest game in which finding out how the opponent plays pays. Scores are chips a hand."""

from __future__ import annotations

from mage_envs.scenarios.base import Scenario, register

ENV_ID = "mage/KuhnPoker-meta-v0"
UNIT = "chips per hand"

register(
    Scenario("kuhn/train", ENV_ID, "three archetypes that can be exploited, a new deal each hand", UNIT, "kuhn/train"),
    Scenario("kuhn/heldout", ENV_ID, "a sampled equilibrium that cannot be exploited", UNIT, "kuhn/heldout"),
    Scenario(
        "kuhn/paper_ood",
        ENV_ID,
        "the paper's deterministic arg-max of CFR, one deal replayed",
        UNIT,
        "kuhn/paper_ood",
        instance="replay",
    ),
)
