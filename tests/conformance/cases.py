"""Everything that is registered, as test cases. New games and worlds appear here unasked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import mage_envs

OPENSPIEL_GAMES = (
    "liars_dice(numdice=1)",
    "goofspiel(num_cards=4)",
    "kuhn_poker(players=3)",
    "matrix_pd",
    "repeated_game(stage_game=matrix_pd(),num_repetitions=3)",
    "coop_box_pushing(horizon=6)",
    "nim",
)
"""Sequential and simultaneous, two and more seats, with chance and without, rewards at the end and on the way."""


class Case(NamedTuple):
    """An environment id with the arguments that it needs."""

    id: str
    kwargs: dict[str, Any]

    @property
    def meta(self) -> bool:
        return "-meta-" in self.id

    def make(self, **kwargs: Any) -> gym.Env[Any, Any]:
        return gym.make(self.id, **self.kwargs, **kwargs).unwrapped

    def __str__(self) -> str:
        return ",".join([self.id, *map(str, self.kwargs.values())])


def _cases() -> Iterator[Case]:
    for name in mage_envs.environment_ids():
        if "world" in gym.spec(name).kwargs:
            continue
        if "/OpenSpiel-" in name:
            yield from (Case(name, {"game": game}) for game in OPENSPIEL_GAMES)
        else:
            yield Case(name, {})


CASES = tuple(_cases())
"""The games."""

WORLD_CASES = tuple(Case(name, {}) for name in mage_envs.environment_ids() if "world" in gym.spec(name).kwargs)
"""The worlds."""


def choose(env: gym.Env[Any, Any], info: dict[str, Any], rng: np.random.Generator) -> Any:
    """Chooses a legal action of either interface, or a reflection."""
    text = env.get_wrapper_attr("interface") == "text"
    if info["phase"] == "reflect":
        return f"Note {rng.integers(100)}." if text else int(rng.integers(info["action_mask"].size))
    names = info["legal_actions"]
    index = int(rng.integers(len(names)))
    return names[index] if text else int(np.flatnonzero(info["action_mask"])[index])


def transcript(env: gym.Env[Any, Any], seed: int) -> Iterator[str]:
    """Plays a meta-episode by seeded random choices and yields one line for each thing that happened."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    yield show(observation) + show(info)
    over = False
    while not over:
        action = choose(env, info, rng) if info["legal_actions"] or info["phase"] == "reflect" else 0
        observation, reward, over, truncated, info = env.step(action)
        yield f"{action} -> {show(observation)} {reward} {over} {show(info)}" + (" truncated" if truncated else "")
        over = over or truncated


def show(value: Any) -> str:
    """Writes observations and infos without addresses or views."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {show(part)}" for key, part in value.items() if key != "view") + "}"
    return str(value.tolist()) if isinstance(value, np.ndarray) else str(value)
