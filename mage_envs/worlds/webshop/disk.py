"""A catalogue on disk: texts behind offsets, numbers and the index memory-mapped, for files that no memory holds.

It is built once from WebShop's files and kept in MAGE's cache folder, under a key of the files' contents and of
:data:`VERSION`. Opening it again reads a few pages.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import math
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mage_envs import cache
from mage_envs.errors import MageError
from mage_envs.worlds.webshop.index import SearchIndex, build_index, open_index
from mage_envs.worlds.webshop.products import Product, attributes_of, read_product, usable
from mage_envs.worlds.webshop.streaming import stream_dict, stream_list

VERSION = "2"
"""Rises when a file of the same content gives another catalogue on disk."""

_KEPT_PRODUCTS = 1 << 10
_SAMPLE = 1 << 16
_SAMPLES = 64
_KEPT_OF_A_RECORD = ("instruction", "instruction_attributes")
_NUMBERS = ("ends", "pricing", "combinations", "weights", "sorted_ids", "sorted_at")


class Entry(NamedTuple):
    """What is kept of a product.

    Attributes:
        product: The product.
        record: ``instruction`` and ``instruction_attributes``; empty if it has none.
    """

    product: Product
    record: dict[str, Any]


class DiskCatalogue:
    """A catalogue that was built in a folder.

    Attributes:
        folder: Where.
        index: The search index.
        pricing: One price, or the ends of a range; float64, shape (products, 2), NaN where there is no second.
        combinations: Combinations of option values, 0 without an instruction; int64, shape (products,).
        weights: Weight of each goal of a product; float64, shape (products,).
    """

    def __init__(self, folder: Path) -> None:
        """Opens it."""
        self.folder = folder
        numbers = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _NUMBERS}
        self.pricing, self.combinations, self.weights = (numbers[name] for name in _NUMBERS[1:4])
        self._ends, self._ids, self._at = numbers["ends"], numbers["sorted_ids"], numbers["sorted_at"]
        self._texts = np.memmap(folder / "texts", dtype=np.uint8, mode="r")
        self.index: SearchIndex = open_index(folder / "index")
        self.entry = lru_cache(maxsize=_KEPT_PRODUCTS)(self._read)

    def __len__(self) -> int:
        """Returns the number of products."""
        return len(self._ends) - 1

    def position(self, asin: str) -> int | None:
        """Returns the place of a product in the catalogue; None if there is none of this id."""
        wanted = asin.encode(errors="replace")
        at = int(np.searchsorted(self._ids, wanted))
        return int(self._at[at]) if at < len(self._ids) and self._ids[at] == wanted else None

    def _read(self, at: int) -> Entry:
        fields, record = json.loads(self._texts[self._ends[at] : self._ends[at + 1]].tobytes())
        asin, title, description, bullets, pricing, tag, options, attributes, query, category, path = fields
        values = {name: tuple(each) for name, each in options.items()}
        product = Product(
            asin, title, description, tuple(bullets), tuple(pricing), tag, values, tuple(attributes), query, category,
            path,
        )  # fmt: skip
        return Entry(product, record)


class DiskProducts(Sequence[Product]):
    """The products of a catalogue on disk, read when asked for."""

    def __init__(self, catalogue: DiskCatalogue) -> None:
        """Shows a catalogue as a sequence."""
        self._catalogue = catalogue

    def __len__(self) -> int:
        """Returns the number of products."""
        return len(self._catalogue)

    def __getitem__(self, at: Any) -> Any:
        """Returns a product, or a list of them."""
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return self._catalogue.entry(int(at) % len(self)).product


class DiskTable(Mapping[str, Any]):
    """From an id to something of the product: its place, its price."""

    def __init__(self, catalogue: DiskCatalogue, values: Sequence[Any] | npt.NDArray[Any] | None = None) -> None:
        """Makes a table.

        Args:
            catalogue: The catalogue.
            values: One value a product; None: its place.
        """
        self._catalogue, self._values = catalogue, values

    def __getitem__(self, asin: str) -> Any:
        """Returns the value of a product."""
        at = self._catalogue.position(asin)
        if at is None:
            raise KeyError(asin)
        return at if self._values is None else float(self._values[at])

    def __iter__(self) -> Iterator[str]:
        """Yields all ids, in the order of the catalogue."""
        return (self._catalogue.entry(at).product.asin for at in range(len(self._catalogue)))

    def __len__(self) -> int:
        """Returns the number of products."""
        return len(self._catalogue)


def open_catalogue(products: Path, instructions: Path) -> DiskCatalogue:
    """Opens the catalogue of two files; builds it first if the cache does not have it.

    Without a cache folder (``MAGE_CACHE=off``) it is built in a temporary one, for this process.

    Raises:
        MageError: A file, or what the cache has of it, is damaged.
    """
    place = cache.folder()
    if place is None:
        temporary = Path(tempfile.mkdtemp(prefix="mage-webshop-"))
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return DiskCatalogue(_build(products, instructions, temporary))
    folder = place / f"webshop-{cache.content_key(VERSION, _fingerprint(products), _fingerprint(instructions))}"
    if not folder.is_dir():
        place.mkdir(parents=True, exist_ok=True)
        built = _build(products, instructions, Path(tempfile.mkdtemp(prefix=".webshop-", dir=place)))
        _move(built, folder)
    try:
        return DiskCatalogue(folder)
    except (OSError, ValueError) as error:
        raise MageError(f"{folder} is damaged ({error}): remove it, and it is made anew") from error


def keep_arrays(
    folder: Path, name: str, make: Callable[[], dict[str, npt.NDArray[Any]]]
) -> dict[str, npt.NDArray[Any]]:
    """Returns arrays that are kept beside a catalogue, memory-mapped; makes them first if they are not there."""
    kept = folder / name
    if not kept.is_dir():
        fresh = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder))
        for key, values in make().items():
            np.save(fresh / f"{key}.npy", values)
        _move(fresh, kept)
    return {path.stem: np.load(path, mmap_mode="r") for path in sorted(kept.glob("*.npy"))}


def _move(fresh: Path, folder: Path) -> None:
    """Puts a folder into its place in one step; another process may have been faster with the same."""
    try:
        fresh.rename(folder)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        if not folder.is_dir():
            raise


def _fingerprint(path: Path) -> str:
    """Hashes a file's size, time and 64 pieces of its content: all of 5.5 GB would take longer than to open it."""
    found = path.stat()
    digest = hashlib.sha256(f"{found.st_size} {found.st_mtime_ns}".encode())
    with path.open("rb") as file:
        for piece in range(_SAMPLES):
            file.seek(piece * max(found.st_size - _SAMPLE, 0) // max(_SAMPLES - 1, 1))
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


class _Numbers:
    """What is counted while a catalogue is built."""

    def __init__(self) -> None:
        self.ends, self.ids = [0], [b""][:0]
        self.pricing: list[tuple[float, float]] = []
        self.combinations: list[int] = []
        self.wanted: list[tuple[str, ...]] = []
        self.counts: Counter[str] = Counter()

    def add(self, entry: Entry, size: int) -> None:
        product, record = entry
        count = math.prod(map(len, product.options.values())) if record.get("instruction") else 0
        wanted = tuple(record["instruction_attributes"]) if count else ()
        self.ends.append(self.ends[-1] + size)
        self.ids.append(product.asin.encode(errors="replace"))
        self.pricing.append((product.pricing[0], product.pricing[1] if len(product.pricing) > 1 else math.nan))
        self.combinations.append(count)
        self.wanted.append(wanted)
        for each in wanted:
            self.counts[each] += count

    def save(self, folder: Path) -> None:
        weights = [sum(1.0 / self.counts[each] for each in wanted) / max(1, len(wanted)) for wanted in self.wanted]
        ids = np.array(self.ids or [b""], dtype="S")[: len(self.ids)]
        order = np.argsort(ids, kind="stable")
        arrays = (
            np.array(self.ends, dtype=np.int64), np.array(self.pricing, dtype=np.float64).reshape(-1, 2),
            np.array(self.combinations, dtype=np.int64), np.array(weights, dtype=np.float64), ids[order], order,
        )  # fmt: skip
        for name, values in zip(_NUMBERS, arrays, strict=True):
            np.save(folder / f"{name}.npy", values)


def _build(products: Path, instructions: Path, folder: Path) -> Path:
    """Builds a catalogue in an empty folder; removes the folder if that fails."""
    try:
        _write(products, instructions, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _write(products: Path, instructions: Path, folder: Path) -> None:
    numbers = _Numbers()
    with tempfile.TemporaryFile() as told, (folder / "texts").open("wb") as texts:
        where: dict[str, tuple[int, int]] = {}
        for asin, record in stream_dict(instructions):
            data = json.dumps(record).encode()
            where[asin] = told.tell(), len(data)
            told.write(data)

        def record_of(asin: str) -> dict[str, Any] | None:
            if asin not in where:
                return None
            at, size = where[asin]
            found: dict[str, Any] = json.loads(os.pread(told.fileno(), size, at))
            return found

        def documents() -> Iterator[tuple[str, str]]:
            for item in usable(stream_list(products)):
                record = record_of(item["asin"])
                product = read_product(item, attributes_of(record))
                kept = {key: value for key, value in (record or {}).items() if key in _KEPT_OF_A_RECORD}
                data = json.dumps((product, kept)).encode()
                texts.write(data)
                numbers.add(Entry(product, kept), len(data))
                yield product.asin, product.contents

        told.flush()
        (folder / "index").mkdir()
        build_index(documents(), folder / "index")
    if not numbers.ids:
        raise MageError(f"{products} has no products: copy it anew")
    numbers.save(folder)
