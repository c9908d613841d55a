"""ALFWorld: 10 turns an episode, the same household in every episode of a meta-episode.

Made households are held out by number, and on one axis each: types of tasks (Cool and Pick2, as in LaMer), rooms
(bathrooms), and pairs of a thing and where it goes. The published validation games need data on disk.
"""

from __future__ import annotations

from dataclasses import replace

from mage_envs.envs.meta_episode import Instance
from mage_envs.scenarios.base import Scenario, register

ENV_ID = "mage/ALFWorld-meta-v0"
UNIT = "1 if the task is done, else 0"


def _alfworld(name: str, summary: str, instance: Instance = "replay", **arguments: int | str) -> Scenario:
    """Makes a scenario with all that decides what a household is, defaults included: it is frozen."""
    kind: dict[str, int | str] = {
        "source": "procedural", "split": "train", "dialect": "0.4", "quirks": "faithful", "feedback": "terse",
        "admissible": "info", "answers": "lenient", "turns": 10,
    }  # fmt: skip
    given = {**kind, **arguments}
    return Scenario(f"alfworld/{name}", ENV_ID, summary, UNIT, None, (0,), instance, tuple(given.items()))


def _published(source: str, summary: str) -> Scenario:
    return replace(_alfworld(source, summary, source=source, split="all"), needs_data=True)


register(
    _alfworld("train", "made households to train on, 10 turns"),
    _alfworld("train_30", "the same with 30 turns", turns=30),
    _alfworld("train_50", "the same with 50 turns", turns=50),
    _alfworld("validation", "made households to choose by", split="validation"),
    _alfworld("test", "made households that no training sees", split="test"),
    _alfworld("fresh", "another made household in each episode", "fresh"),
    _alfworld("task_types", "held out: cool a thing, place two things", split="task_types"),
    _alfworld("rooms", "held out: bathrooms", split="rooms"),
    _alfworld("pairs", "held out: pairs of a thing and where it goes", split="pairs"),
    _published("valid_seen", "ALFWorld's own 140 games in rooms that training knows; needs its data"),
    _published("valid_unseen", "ALFWorld's own 134 games in other rooms; needs its data"),
)
