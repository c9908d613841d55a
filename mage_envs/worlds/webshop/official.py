"""WebShop's own files: names, formats, which are official, and a shop made of them.

``MAGE_WEBSHOP_DATA`` or an argument names the folder. Files may be compressed (``.gz``).
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple, TypeAlias

from mage_envs.errors import MageError
from mage_envs.worlds.webshop.goals import draw_prices, human_goals, synthetic_goals
from mage_envs.worlds.webshop.index import build_index
from mage_envs.worlds.webshop.nouns import TitleNouns
from mage_envs.worlds.webshop.products import read_product, usable
from mage_envs.worlds.webshop.shop import Shop

VARIABLE = "MAGE_WEBSHOP_DATA"
HUMAN_FILE = "items_human_ins.json"

Variant: TypeAlias = Literal["auto", "small", "full"]


class Files(NamedTuple):
    """Names of the files of one variant."""

    products: str
    instructions: str


FILES: dict[str, Files] = {
    "small": Files("items_shuffle_1000.json", "items_ins_v2_1000.json"),
    "full": Files("items_shuffle.json", "items_ins_v2.json"),
}


def find_file(folder: Path, name: str) -> Path | None:
    """Returns the file of that name, plain or compressed; None if there is none."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def read_json(path: Path) -> Any:
    """Reads a JSON file, plain or compressed.

    Raises:
        MageError: It is not JSON.
    """
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return json.loads(data)
    except (ValueError, OSError, EOFError) as error:
        raise MageError(f"{path} cannot be read as JSON ({error}): copy it anew") from error


def load_official(
    path: str | PathLike[str] | None = None,
    goal_seed: int = 42,
    shuffle_seed: int = 233,
    human: bool = False,
    variant: Variant = "auto",
    show_attributes: bool = True,
) -> Shop:
    """Makes a shop of WebShop's files.

    Args:
        path: Their folder; None: the environment variable ``MAGE_WEBSHOP_DATA``.
        goal_seed: Prices and price bounds are drawn from it.
        shuffle_seed: The order of the goals is drawn from it.
        human: Goals are instructions that people wrote, instead of made ones.
        variant: ``"small"`` (1,000 products), ``"full"``, or whichever is there, the small one first.
        show_attributes: Whether pages of products have a sub-page with the attributes.

    Raises:
        MageError: A file is missing or damaged; the message says which.
    """
    folder = Path(path if path is not None else os.environ.get(VARIABLE, ""))
    files = FILES[_choose(folder, variant)]
    records = read_json(_need(folder, files.products))
    instructions: Mapping[str, Any] = read_json(_need(folder, files.instructions))
    products = []
    for record in usable(records):
        told = instructions.get(record["asin"])
        products.append(read_product(record, None if told is None else tuple(told["attributes"])))
    random = Random(goal_seed)
    prices = draw_prices(products, random)
    if human:
        goals = human_goals(products, read_json(_need(folder, HUMAN_FILE)), prices, random)
    else:
        goals = synthetic_goals(products, instructions, prices, random)
    Random(shuffle_seed).shuffle(goals)
    index = build_index([each.asin for each in products], (each.contents for each in products))
    kept: Mapping[str, Any] = next((read_json(each) for each in sorted(folder.glob("title_noun*.json*"))), {})
    return Shop(f"official:{variant}", products, index, goals, prices, TitleNouns(kept), None, show_attributes)


def _need(folder: Path, name: str) -> Path:
    found = find_file(folder, name)
    if found is None:
        raise MageError(f"{folder} has no {name} (nor {name}.gz): name WebShop's folder, or set {VARIABLE} to it")
    return found


def _choose(folder: Path, variant: Variant) -> str:
    if variant != "auto":
        return variant
    return "small" if find_file(folder, FILES["small"].products) else "full"
