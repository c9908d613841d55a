"""ALFWorld in made households: 10 turns an episode, the same household in every episode of a meta-episode.

Splits hold out one axis each: types of tasks (Cool and Pick2, as in LaMer), rooms (bathrooms), and pairs of a thing and
where it goes. ALFWorld's own games need data, so that no scenario here names them: ``source="valid_unseen"`` does.
"""

from __future__ import annotations

from mage_envs.envs.meta_episode import Instance
from mage_envs.scenarios.base import Scenario, register

ENV_ID = "mage/ALFWorld-meta-v0"
UNIT = "1 if the task is done, else 0"


def _alfworld(name: str, summary: str, instance: Instance = "replay", **arguments: int | str) -> Scenario:
    """Makes a scenario with all that decides what a household is, defaults included: it is frozen."""
    kind: dict[str, int | str] = {
        "source": "procedural", "split": "train", "dialect": "0.4", "feedback": "terse", "admissible": "info",
        "answers": "lenient", "turns": 10,
    }  # fmt: skip
    given = {**kind, **arguments}
    return Scenario(f"alfworld/{name}", ENV_ID, summary, UNIT, None, (0,), instance, tuple(given.items()))


register(
    _alfworld("train", "made households to train on, 10 turns"),
    _alfworld("train_30", "the same with 30 turns", turns=30),
    _alfworld("train_50", "the same with 50 turns", turns=50),
    _alfworld("fresh", "another made household in each episode", "fresh"),
    _alfworld("task_types", "held out: cool a thing, place two things", split="task_types"),
    _alfworld("rooms", "held out: bathrooms", split="rooms"),
    _alfworld("pairs", "held out: pairs of a thing and where it goes", split="pairs"),
)
