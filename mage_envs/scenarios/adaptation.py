"""Opponents that change during the meta-episode: how soon does an agent notice, and how much does it lose?

Every ordered pair of strategies comes equally often, so that on average the opponent after the switch is worth as much
as the one before. The episode of the switch is part of the opponent, and as hidden as the opponent is. Populations fix
what the numbers mean: of 16 episodes, four come before the earliest switch and five from the latest one on.
"""

from __future__ import annotations

from mage_envs.scenarios import kuhn, rock_paper_scissors
from mage_envs.scenarios.base import Scenario, register

register(
    Scenario(
        "adaptation/kuhn",
        kuhn.ENV_ID,
        "one archetype, and from a hidden episode on another one",
        kuhn.UNIT,
        "kuhn/switching",
    ),
    Scenario(
        "adaptation/rps",
        rock_paper_scissors.ENV_ID,
        "one habit, and from a hidden episode on another one; ten throws an episode",
        rock_paper_scissors.UNIT,
        "rps/switching",
        (0,),
        arguments=(("game", "rock_paper_scissors(throws=10)"),),
    ),
)
