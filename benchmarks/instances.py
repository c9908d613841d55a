"""Instances of worlds in a panel: none comes twice, as far as a world has others.

What is compared is :meth:`World.content`, so that two numbers of one board count as one instance. To find ten rooms of
a test split, a hundred are made; so the seeds that were found are kept on disk, under a key of all that they follow
from, this package's code included.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import mage_envs
from mage_envs.cache import Arrays, content_key, load, store
from mage_envs.scenarios import Scenario
from mage_envs.worlds import World

MAX_TRIES = 100
"""So many seeds are tried for an entry; the last one is taken if every instance has come before.

Where a world says how many instances there are, ten times as many are tried, and all come equally often.
"""

_KIND = "panel"


def new_instances(
    scenario: Scenario, episodes: int, seeds: Sequence[int], another: Callable[[int, int], int]
) -> list[int]:
    """Exchanges seeds whose instances have come before.

    Args:
        scenario: The world as it is played.
        episodes: N. Where instances are fresh, all N of a meta-episode count.
        seeds: A seed for each meta-episode.
        another: From the place of a seed and the number of a further try, from 1, to another seed.

    Returns:
        As many seeds.
    """
    facts = json.dumps([scenario.as_dict(), episodes, list(seeds)], sort_keys=True)
    key = content_key(facts, _code())
    found = load(_KIND, key, lambda arrays: _decode(arrays, len(seeds)))
    if found is None:
        found = list(_chosen(scenario, episodes, seeds, another))
        store(_KIND, key, {"seeds": np.array(found, dtype=np.int64)})
    return found


def contents(env: Any, seed: int) -> list[str]:
    """Returns the names of the instances that a seed draws, one if they are replayed."""
    env.reset(seed=seed)
    world: World = env.unwrapped.world
    drawn = env.unwrapped.instances
    return [
        world.content(world.start(instance)) for instance in (drawn if env.unwrapped.instance == "fresh" else drawn[:1])
    ]


def _chosen(
    scenario: Scenario, episodes: int, seeds: Sequence[int], another: Callable[[int, int], int]
) -> Iterator[int]:
    env: Any = scenario.make(interface="text", episodes=episodes)
    seen: set[str] = set()
    count = env.unwrapped.world.count or 0
    for place, first in enumerate(seeds):
        if count and len(seen) == count:
            seen.clear()  # All have come: the next round.
        for again in range(max(MAX_TRIES, 10 * count)):
            seed = another(place, again) if again else first
            names = contents(env, seed)
            if len(set(names)) == len(names) and seen.isdisjoint(names):
                break
        seen.update(names)
        yield seed


def _decode(arrays: Arrays, count: int) -> list[int]:
    seeds = arrays["seeds"]
    if seeds.shape != (count,) or seeds.dtype != np.int64:
        raise ValueError(f"expected {count} seeds, got {seeds.dtype} of shape {seeds.shape}")
    found: list[int] = seeds.tolist()
    return found


@cache
def _code() -> str:
    """Returns a key of the code of environments and worlds."""
    folder = Path(mage_envs.__file__).parent
    return content_key(*(file.read_bytes() for file in sorted(folder.rglob("*.py"))))
