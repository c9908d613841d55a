"""Speed and size of WebShop: steps, the first environment, a further one, and catalogues on disk.

Run: ``python -m benchmarks.perf.webshop`` (100,000 products on disk; ``--products 200000`` for more, ``--products 0``
for none). Standard output gets one line of figures; standard error says what they are. One core does all of it. Steps
are timed in processor time, and the best of several rounds counts, because other work on the machine comes in bursts.
Time and memory of the first environment are those of a fresh process, imports and all; ``bare`` is what importing
gymnasium and numpy alone takes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import gymnasium as gym

import mage_envs  # noqa: F401 -- registers the ids
from mage_envs.worlds.webshop import Shop, load_official, make_shop
from mage_envs.worlds.webshop.catalogue import Made, make_products

ROUNDS, STEPS, FURTHER, QUERIES, BATCH = 7, 20_000, 500, 300, 2_000

_FRESH = """
import json, resource, time
begun = time.perf_counter()
{what}
seconds = time.perf_counter() - begun
kilobytes = int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmRSS")))
print(json.dumps([seconds, kilobytes / 1024]))
"""
_FIRST = 'import gymnasium, mage_envs; gymnasium.make("mage/WebShop-v0").reset(seed=1)'
_ENGINE = "from mage_envs.worlds.webshop import make_shop; make_shop().session(0).text()"
_BARE = "import gymnasium, numpy"


def session_steps(shop: Shop, steps: int = STEPS) -> float:
    """Returns steps a second of a random shopper; each step also writes the page and lists what can be clicked."""
    random = Random(0)
    session = shop.session(0)
    labels = session.available_actions()["clickables"]
    begun = time.process_time()
    for _ in range(steps):
        if session.done:
            session = shop.session(random.randrange(len(shop.goals)))
            labels = session.available_actions()["clickables"]
        action = f"click[{random.choice(labels)}]"
        if action == "click[search]":
            action = f"search[{shop.goals[session.goal_index].text}]"
        session.step(action)
        session.text()
        labels = session.available_actions()["clickables"]
    return steps / (time.process_time() - begun)


def environment_steps(steps: int = STEPS) -> float:
    """Returns steps a second of a random agent in the environment, resets included."""
    env = gym.make("mage/WebShop-v0").unwrapped
    random = Random(0)
    _, info = env.reset(seed=0)
    begun = time.process_time()
    for _ in range(steps):
        name = random.choice(info["legal_actions"])
        if name.startswith("search"):
            name = f"search[{info['view'].facts['instruction']}]"
        _, _, over, cut, info = env.step(name)
        if over or cut:
            _, info = env.reset()
    return steps / (time.process_time() - begun)


def fresh(what: str, rounds: int = 3) -> tuple[float, float]:
    """Returns seconds and megabytes of a fresh process that does something."""
    found: list[list[float]] = []
    for _ in range(rounds):
        run = [sys.executable, "-c", _FRESH.format(what=what)]
        found.append(json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout))
    return min(each[0] for each in found), min(each[1] for each in found)


def further_bytes(count: int = FURTHER) -> dict[str, float]:
    """Returns bytes that one more takes: an environment, one with its spaces, a played one, a session."""
    shop = make_shop()

    def made(_: int) -> Any:
        return gym.make("mage/WebShop-v0").unwrapped

    def with_spaces(at: int) -> Any:
        env = made(at)
        return env, env.action_space, env.observation_space

    def played(at: int) -> Any:
        env = made(at)
        env.reset(seed=at)
        env.step("search[soft travel gift set]")
        return env

    kinds: dict[str, Callable[[int], Any]] = {
        "env": made, "env_with_spaces": with_spaces, "env_played": played, "session": shop.session,
    }  # fmt: skip
    found = {}
    for name, make in kinds.items():
        make(0)
        tracemalloc.start()
        kept: list[Any] = [make(at) for at in range(count)]
        found[f"further_{name}_bytes"] = tracemalloc.get_traced_memory()[0] / len(kept)
        tracemalloc.stop()
    return found


def write_files(folder: Path, count: int) -> None:
    """Writes a product and an instruction file in the official format, one product at a time."""
    with (folder / "items_shuffle.json").open("w") as products, (folder / "items_ins_v2.json").open("w") as told:
        products.write("[")
        told.write("{")
        comma = ""
        for seed in range(-(-count // BATCH)):
            for made in make_products(min(BATCH, count - seed * BATCH), seed):
                products.write(comma + json.dumps(_record(made)))
                told.write(f'{comma}"{made.product.asin}": {json.dumps(_instruction(made))}')
                comma = ", "
        products.write("]")
        told.write("}")


def _record(made: Made) -> dict[str, Any]:
    product = made.product
    options = {name: [{"value": value} for value in values] for name, values in product.options.items()}
    return {
        "asin": product.asin,
        "name": product.title,
        "full_description": product.description,
        "small_description": product.bullets,
        "pricing": "".join(f"${price}" for price in product.pricing),
        "product_category": product.path,
        "category": product.category,
        "query": product.query,
        "customization_options": options or "",
    }


def _instruction(made: Made) -> dict[str, Any]:
    return {
        "attributes": made.product.attributes,
        "instruction": made.request,
        "instruction_attributes": made.wanted,
    }


def on_disk(count: int) -> dict[str, float]:
    """Builds a catalogue on disk and returns its figures; all files are removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="mage-webshop-") as place:
        folder = Path(place)
        os.environ["MAGE_CACHE"] = str(folder / "cache")
        write_files(folder, count)
        figures = {"file_mb": (folder / "items_shuffle.json").stat().st_size / 1e6}
        begun = time.perf_counter()
        shop = load_official(folder, on_disk=True)
        figures["build_s"] = time.perf_counter() - begun
        begun = time.perf_counter()
        shop = load_official(folder, on_disk=True)
        figures["reopen_s"] = time.perf_counter() - begun
        random, times = Random(1), []
        for _ in range(QUERIES):
            query = shop.goals[random.randrange(len(shop.goals))].text
            begun = time.perf_counter()
            shop.search(query)
            times.append(time.perf_counter() - begun)
        figures["query_ms"] = statistics.median(times) * 1e3
        what = (
            f"from mage_envs.worlds.webshop import load_official; shop = load_official({place!r}, on_disk=True); "
            "shop.session(0).text(); shop.search('soft travel gift set')"
        )
        figures["open_process_mb"] = fresh(what, 1)[1]
        return figures


def main() -> None:
    """Measures and writes the line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=100_000, help="products of the catalogue on disk; 0: none")
    count = parser.parse_args().products
    shop = make_shop()
    figures = {
        "session_steps_per_s": max(session_steps(shop) for _ in range(ROUNDS)),
        "env_steps_per_s": max(environment_steps() for _ in range(ROUNDS)),
    }
    (bare_s, bare_mb), (engine_s, engine_mb), (first_s, first_mb) = map(fresh, (_BARE, _ENGINE, _FIRST))
    figures |= {"bare_s": bare_s, "bare_mb": bare_mb, "engine_s": engine_s, "engine_mb": engine_mb}
    figures |= {"first_s": first_s, "first_mb": first_mb}
    figures |= further_bytes()
    if count:
        figures |= {f"disk_{name}": value for name, value in on_disk(count).items()}
    sys.stderr.write("1,000 made products; pages written at each step; products on disk: " + f"{count}\n")
    sys.stdout.write(" ".join(f"{name}={value:.4g}" for name, value in figures.items()) + "\n")


if __name__ == "__main__":
    main()
