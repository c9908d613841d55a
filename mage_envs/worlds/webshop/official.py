"""WebShop's own files: names, formats, which are official, and a shop made of them.

``MAGE_WEBSHOP_DATA`` or an argument names the folder. Files may be compressed (``.gz``).
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from mage_envs.errors import MageError
from mage_envs.worlds.webshop.disk import DiskCatalogue, DiskProducts, DiskTable, open_catalogue
from mage_envs.worlds.webshop.disk_goals import DiskGoals, disk_human_goals, disk_prices
from mage_envs.worlds.webshop.goals import Goal, draw_prices, human_goals, synthetic_goals
from mage_envs.worlds.webshop.index import build_index
from mage_envs.worlds.webshop.nouns import NounSource, TitleNouns, choose_nouns
from mage_envs.worlds.webshop.products import attributes_of, read_product, usable
from mage_envs.worlds.webshop.shop import Shop

VARIABLE = "MAGE_WEBSHOP_DATA"
HUMAN_FILE = "items_human_ins.json"
MAX_IN_MEMORY = 64 << 20
"""Larger product files, in bytes, are put into a catalogue on disk."""

Variant: TypeAlias = Literal["auto", "small", "full"]
"""The 1,000 products, all of them, or whichever is there, the small ones first."""


class Files(NamedTuple):
    """Names of the files of one variant, and what is known of the official ones.

    Attributes:
        products: Name of the product file.
        instructions: Name of the file of attributes and instructions.
        sizes: Sizes of the official two, in bytes.
    """

    products: str
    instructions: str
    sizes: tuple[int, int]


FILES: dict[str, Files] = {
    "small": Files("items_shuffle_1000.json", "items_ins_v2_1000.json", (4_467_013, 147_099)),
    "full": Files("items_shuffle.json", "items_ins_v2.json", (5_479_720_229, 186_295_270)),
}


def load_official(
    path: str | PathLike[str] | None = None,
    goal_seed: int = 42,
    shuffle_seed: int = 233,
    human: bool = False,
    variant: Variant = "auto",
    show_attributes: bool = True,
    on_disk: bool | None = None,
    nouns: NounSource = "auto",
) -> Shop:
    """Makes a shop of WebShop's files.

    Args:
        path: Their folder; None: the environment variable ``MAGE_WEBSHOP_DATA``.
        goal_seed: Prices and price bounds are drawn from it.
        shuffle_seed: The order of the goals is drawn from it.
        human: Goals are instructions that people wrote, instead of made ones.
        variant: ``"small"`` (1,000 products), ``"full"``, or whichever is there, the small one first.
        show_attributes: Whether pages of products have a sub-page with the attributes.
        on_disk: Whether texts and index stay on disk, in MAGE's cache; None: if the product file is above 64 MB.
        nouns: Where the nouns of titles are from: ``"file"`` (``title_noun*.json`` in the folder), ``"spacy"``,
            ``"words"`` (our list; ``shop.catalogue`` then ends with ``+words``), or the first of these that is there.

    Raises:
        MageError: A file is missing or damaged; the message says which.
        ValueError: An unknown variant.
    """
    if path is None and not os.environ.get(VARIABLE):
        raise MageError(f"WebShop's files are where? Name their folder (data_dir), or set {VARIABLE} to it")
    folder = Path(os.environ[VARIABLE] if path is None else path).expanduser()
    chosen = _choose(folder, variant)
    files = FILES[chosen]
    products, instructions = _need(folder, files.products), _need(folder, files.instructions)
    told = read_json(_need(folder, HUMAN_FILE)) if human else None
    official = (products.stat().st_size, instructions.stat().st_size) == files.sizes
    name = f"official:{chosen}" if official else f"modified:{chosen}"
    kept = _title_nouns(folder)
    titles, told_by = choose_nouns(kept, nouns)
    name = name if told_by != "words" else f"{name}+words"
    try:
        if on_disk if on_disk is not None else products.stat().st_size > MAX_IN_MEMORY:
            catalogue = open_catalogue(products, instructions)
            return _disk_shop(catalogue, name, goal_seed, shuffle_seed, told, titles, show_attributes)
        return _memory_shop(products, instructions, name, goal_seed, shuffle_seed, told, titles, show_attributes)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise MageError(
            f"a record of {products}, {instructions.name} or {HUMAN_FILE} is not as WebShop writes it "
            f"({type(error).__name__}: {error}): copy the files anew"
        ) from error


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
    except (ValueError, OSError, EOFError, RecursionError) as error:
        raise MageError(f"{path} cannot be read as JSON ({error}): copy it anew") from error


def _title_nouns(folder: Path) -> Mapping[str, Sequence[Any]] | None:
    for path in sorted(folder.glob("title_noun*.json*")):
        found = read_json(path)
        if not isinstance(found, dict):
            raise MageError(f"{path} has no nouns by product: copy it anew, or take it away")
        return found
    return None


def _memory_shop(
    products_file: Path, instructions_file: Path, name: str, goal_seed: int, shuffle_seed: int, told: Any,
    nouns: TitleNouns, show_attributes: bool,
) -> Shop:  # fmt: skip
    instructions: Mapping[str, Any] = read_json(instructions_file)
    products = []
    for record in usable(read_json(products_file)):
        kept = instructions.get(record["asin"])
        products.append(read_product(record, attributes_of(kept)))
    if not products:
        raise MageError(f"{products_file} has no products: copy it anew")
    random = Random(goal_seed)
    prices = draw_prices(products, random)
    if told is None:
        goals = synthetic_goals(products, instructions, prices, random)
    else:
        goals = human_goals(products, told, prices, random)
    Random(shuffle_seed).shuffle(goals)
    index = build_index((each.asin, each.contents) for each in products)
    return Shop(name, products, index, goals, prices, nouns, None, show_attributes)


def _disk_shop(
    catalogue: DiskCatalogue, name: str, goal_seed: int, shuffle_seed: int, told: Any, nouns: TitleNouns,
    show_attributes: bool,
) -> Shop:  # fmt: skip
    random = Random(goal_seed)
    prices = disk_prices(catalogue, random)
    goals: Sequence[Goal]
    if told is None:
        goals = DiskGoals(catalogue, goal_seed, shuffle_seed)
    else:
        goals = disk_human_goals(catalogue, told, prices, random)
        Random(shuffle_seed).shuffle(goals)
    return Shop(
        name, DiskProducts(catalogue), catalogue.index, goals, DiskTable(catalogue, prices), nouns,
        DiskTable(catalogue), show_attributes,
    )  # fmt: skip


def _need(folder: Path, name: str) -> Path:
    found = find_file(folder, name)
    if found is None:
        raise MageError(f"{folder} has no {name} (nor {name}.gz): name WebShop's folder, or set {VARIABLE} to it")
    return found


def _choose(folder: Path, variant: Variant) -> str:
    if variant not in get_args(Variant):
        raise ValueError(f"variant must be one of {', '.join(map(repr, get_args(Variant)))}, got {variant!r}")
    if variant != "auto":
        return variant
    return "full" if find_file(folder, FILES["small"].products) is None else "small"
