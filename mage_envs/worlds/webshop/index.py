"""Search by BM25, ranked as Lucene ranks (k1 = 0.9, b = 0.4, lengths rounded to eight bits, sums of 32-bit scores).

The index is a handful of arrays: they can be kept in files and memory-mapped, and are never changed. Documents are
numbered in the order of their names, because equal scores are ranked by name.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mage_envs.worlds.webshop.words import terms

K1, B = np.float32(0.9), np.float32(0.4)
MAX_HITS = 50

ARRAYS = ("letters", "ends", "starts", "docs", "norms", "weights", "order")

_EXACT_LENGTHS = 24  # Shorter lengths are kept exactly.
_POSTINGS_IN_MEMORY = 1 << 22
_KEPT_TERMS = 1 << 12
_SHORT = 1 << 10
"""The scores of terms that are in more documents are not kept: 4,096 terms may take 16 MB."""
_BLOCK = 64


class Hits(NamedTuple):
    """What a search found, best first.

    Attributes:
        documents: Numbers of the documents, in the order in which they were given to :func:`build_index`.
        scores: Their scores.
    """

    documents: tuple[int, ...]
    scores: tuple[float, ...]


class _Term(NamedTuple):
    """A term: its number, the documents that have it, and what it adds to their scores if it comes once in a query."""

    number: int
    documents: npt.NDArray[Any]
    scores: npt.NDArray[np.float32] | None


class SearchIndex:
    """An index over documents.

    Attributes:
        arrays: All that it consists of, by the names in :data:`ARRAYS`.
    """

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Makes an index of the arrays that :func:`build_index` made."""
        self.arrays = arrays
        self._docs, self._norms, self._starts = arrays["docs"], arrays["norms"], arrays["starts"]
        self._weights, self._order = arrays["weights"], arrays["order"]
        self._find = _TermList(arrays["letters"], arrays["ends"]).find
        self._term = lru_cache(maxsize=_KEPT_TERMS)(self._look_up)

    def __len__(self) -> int:
        """Returns the number of documents."""
        return len(self._order)

    def search(self, query: str, limit: int = MAX_HITS) -> Hits:
        """Finds the best documents.

        Args:
            query: Words.
            limit: At most so many.

        Returns:
            Documents that have a word of the query. Equal scores stand in the order of the documents' names.
        """
        documents, scores = [], []
        for term, times in Counter(terms(query)).items():
            found = self._term(term)
            if found is not None:
                documents.append(found.documents)
                scores.append(
                    found.scores if times == 1 and found.scores is not None else self._score(found.number, times)
                )
        if not documents:
            return Hits((), ())
        return self._best(np.concatenate(documents), np.concatenate(scores), limit)

    def _look_up(self, term: str) -> _Term | None:
        number = self._find(term)
        if number is None:
            return None
        documents = self._docs[self._starts[number] : self._starts[number + 1]]
        return _Term(number, documents, self._score(number, 1) if len(documents) <= _SHORT else None)

    def _score(self, number: int, times: int) -> npt.NDArray[np.float32]:
        """Returns what a term that comes so often in a query adds to the score of each document that has it."""
        weight = self._weights[number] * np.float32(times)
        scores: npt.NDArray[np.float32] = weight - weight / self._norms[self._starts[number] : self._starts[number + 1]]
        return scores

    def _best(self, documents: npt.NDArray[Any], parts: npt.NDArray[Any], limit: int) -> Hits:
        """Sums parts of scores by document, and returns the best documents."""
        blocks = -(-len(self._order) // _BLOCK)
        scores = np.bincount(documents, weights=parts, minlength=blocks * _BLOCK).astype(np.float32)
        least = np.float32(0)
        # Nothing below the limit-th best score can be among the best, nor below that of the best of each block.
        tops = scores.reshape(blocks, _BLOCK).max(axis=1) if blocks > limit else scores
        if len(tops) > limit:
            least = np.partition(tops, -limit)[-limit]
        found = np.flatnonzero(scores >= least) if least > 0 else np.flatnonzero(scores)
        best = found[np.argsort(-scores[found], kind="stable")[:limit]]
        return Hits(tuple(self._order[best].tolist()), tuple(scores[best].tolist()))


def build_index(documents: Iterable[tuple[str, str]], folder: Path | None = None) -> SearchIndex:
    """Builds an index.

    Args:
        documents: Name and text of each, read once, one at a time. Names decide between equal scores.
        folder: An existing folder for the arrays, which are then memory-mapped; None: they stay in memory.
    """
    numbers: dict[str, int] = {}
    names: list[str] = []
    postings = _Postings(folder)
    lengths = array("q")
    for name, text in documents:
        found = Counter(terms(text))
        lengths.append(found.total())
        for term, times in found.items():
            postings.add(numbers.setdefault(term, len(numbers)), len(names), times)
        names.append(name)
    return SearchIndex(_arrays(names, numbers, postings, np.array(lengths, dtype=np.int64), folder))


def open_index(folder: Path) -> SearchIndex:
    """Opens an index that was built in a folder: its arrays are memory-mapped."""
    return SearchIndex({name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS})


def _arrays(
    names: Sequence[str],
    numbers: dict[str, int],
    postings: _Postings,
    lengths: npt.NDArray[np.int64],
    folder: Path | None,
) -> dict[str, npt.NDArray[Any]]:
    order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=np.int32)
    alphabetical = sorted(numbers, key=_bytes)
    place = np.empty(len(numbers), dtype=np.int32)
    place[[numbers[term] for term in alphabetical]] = np.arange(len(numbers), dtype=np.int32)
    frequency = np.zeros(len(numbers), dtype=np.int64)
    for term, _, _ in postings.blocks():
        frequency += np.bincount(place[term], minlength=len(numbers))
    starts = np.concatenate(([0], np.cumsum(frequency))).astype(np.int64)
    documents = int((lengths > 0).sum())
    average = np.float32(lengths.sum() / documents) if documents else np.float32(1)
    inverse = np.float32(1) / (K1 * ((np.float32(1) - B) + B * _rounded(lengths).astype(np.float32) / average))
    docs = _allocate("docs", int(starts[-1]), np.int32, folder)
    norms = _allocate("norms", int(starts[-1]), np.float32, folder)
    filled = starts[:-1].copy()
    for term, doc, times in postings.blocks():
        own = place[term]
        sorting = np.lexsort((rank[doc], own))
        own = own[sorting]
        first = np.searchsorted(own, own)  # Where the run of the same term begins.
        target = filled[own] + np.arange(len(own)) - first
        docs[target] = rank[doc[sorting]]
        norms[target] = np.float32(1) + times[sorting].astype(np.float32) * inverse[doc[sorting]]
        filled += np.bincount(own, minlength=len(numbers))
    postings.clear()
    letters = list(map(_bytes, alphabetical))
    small: dict[str, npt.NDArray[Any]] = {
        "letters": np.frombuffer(b"".join(letters), dtype=np.uint8),
        "ends": np.cumsum([0, *map(len, letters)], dtype=np.int64),
        "starts": starts,
        "weights": np.log(1 + (documents - frequency + 0.5) / (frequency + 0.5)).astype(np.float32),
        "order": order,
    }
    if folder is not None:
        for name, values in small.items():
            np.save(folder / f"{name}.npy", values)
    return {**small, "docs": docs, "norms": norms}


def _allocate(name: str, size: int, dtype: Any, folder: Path | None) -> npt.NDArray[Any]:
    if folder is None or size == 0:
        empty = np.zeros(size, dtype=dtype)
        if folder is not None:
            np.save(folder / f"{name}.npy", empty)
        return empty
    mapped: npt.NDArray[Any] = np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=dtype, shape=(size,))
    return mapped


def _bytes(term: str) -> bytes:
    return term.encode(errors="surrogatepass")


def _rounded(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns lengths as Lucene keeps them: exact below 24, then rounded down to four significant bits above it."""
    above = np.maximum(lengths - _EXACT_LENGTHS, 0)
    bits = np.frexp(above.astype(np.float64))[1]
    shift = np.maximum(bits - 4, 0)
    return np.where(lengths < _EXACT_LENGTHS, lengths, _EXACT_LENGTHS + ((above >> shift) << shift))


class _Postings:
    """Which term is in which document how often, in blocks; with a folder, only the last block is in memory."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._blocks: list[npt.NDArray[np.int32] | Path] = []
        self._last = array("i")

    def add(self, term: int, document: int, times: int) -> None:
        self._last.extend((term, document, times))
        if len(self._last) >= 3 * _POSTINGS_IN_MEMORY:
            self._close_block()

    def blocks(self) -> Iterable[npt.NDArray[np.int32]]:
        """Yields blocks of shape (3, n): terms, documents, times."""
        if self._last:
            self._close_block()
        for block in self._blocks:
            yield np.load(block) if isinstance(block, Path) else block

    def clear(self) -> None:
        """Removes the blocks and their files."""
        for block in self._blocks:
            if isinstance(block, Path):
                block.unlink()
        self._blocks = []

    def _close_block(self) -> None:
        block = np.ascontiguousarray(np.array(self._last, dtype=np.int32).reshape(-1, 3).T)
        self._last = array("i")
        if self._folder is None:
            self._blocks.append(block)
            return
        path = self._folder / f"block-{len(self._blocks)}.npy"
        np.save(path, block)
        self._blocks.append(path)


class _TermList(Sequence[bytes]):
    """Sorted terms, in one run of letters."""

    def __init__(self, letters: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> None:
        self._letters, self._ends = memoryview(letters.data), ends

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: Any) -> Any:
        return bytes(self._letters[self._ends[number] : self._ends[number + 1]])

    def find(self, term: str) -> int | None:
        """Returns the number of a term; None if no document has it."""
        wanted = _bytes(term)
        number = bisect_left(self, wanted)
        return number if number < len(self) and self[number] == wanted else None
