"""Connect Four: win, draw or loss."""

from __future__ import annotations

from mage_envs.scenarios.base import Scenario, register

ENV_ID = "mage/ConnectFour-meta-v0"
UNIT = "win +1, draw 0, loss -1"

register(
    Scenario("connect_four/train", ENV_ID, "search, win-or-block and random play", UNIT, "connect_four/train"),
    Scenario("connect_four/heldout", ENV_ID, "search that looks further", UNIT, "connect_four/heldout"),
)
