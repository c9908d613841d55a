"""Rock-Paper-Scissors: uniform play cannot lose, and cannot win either; everything is in the opponent's habits."""

from __future__ import annotations

from mage_envs.scenarios.base import Scenario, register

ENV_ID = "mage/RockPaperScissors-meta-v0"
UNIT = "points per episode"

register(
    Scenario("rps/train", ENV_ID, "29 of the 43 roshambo bots", UNIT, "rps/train", (0,)),
    Scenario("rps/heldout", ENV_ID, "the other 14 roshambo bots", UNIT, "rps/heldout", (0,)),
    Scenario("rps/leaning", ENV_ID, "a favourite throw, four times in five", UNIT, "rps/leaning", (0,)),
    *(
        Scenario(
            f"rps/{split}_{throws}",
            ENV_ID,
            f"{bots}, {throws} throws an episode; the meta-episode is one match",
            UNIT,
            f"rps/{split}",
            (0,),
            arguments=(("game", f"rock_paper_scissors(throws={throws})"),),
        )
        for throws in (10, 100)
        for split, bots in (("train", "29 of the 43 roshambo bots"), ("heldout", "the other 14 roshambo bots"))
    ),
)
