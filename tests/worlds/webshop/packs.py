"""What the original WebShop answers: on a catalogue of our own text (``golden``), and on the real 1,000 products."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mage_envs.worlds.webshop import Shop

GOLDEN = Path(__file__).parent / "golden"
REAL = Path("/work/shared/data/webshop/real")
HAS_REAL = (REAL / "items_shuffle_1000.json").is_file()


class Pack(NamedTuple):
    shop: Shop
    goals: list[dict[str, Any]]
    prices: dict[str, float]
    rewards: list[list[Any]]
    searches: list[list[Any]]
    episodes: list[dict[str, Any]]


def read(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


@cache
def pack(name: str) -> Pack:
    if name == "real":
        found = read(REAL / "search_top50.json.gz")
        return Pack(
            Shop.from_dir(REAL),
            read(REAL / "goals_synthetic_seed42_shuffle233.json.gz"),
            read(REAL / "prices_seed42.json.gz"),
            read(REAL / "reward_12000.json.gz"),
            [each for group in found.values() for each in group],
            read(REAL / "traces_400ep.json.gz"),
        )
    goals = read(GOLDEN / f"goals_{name}.json.gz")
    traces = [read(GOLDEN / f"traces_{name}_{mode}.json.gz") for mode in ("text", "text_rich")]
    return Pack(
        Shop.from_dir(GOLDEN, goal_seed=42, shuffle_seed=233, human_goals=name == "human"),
        goals["goals"],
        goals["prices"],
        read(GOLDEN / f"reward_{name}.json.gz"),
        read(GOLDEN / "search_top50.json.gz"),
        [{"mode": trace["mode"], **episode} for trace in traces for episode in trace["episodes"]],
    )
