"""Search by BM25, ranked as Lucene ranks (k1 = 0.9, b = 0.4, lengths rounded to eight bits, sums of 32-bit scores).

The index is a handful of arrays: they can be kept in files and memory-mapped, and are never changed. Documents are
numbered in the order of their names, because equal scores are ranked by name.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mage_envs.worlds.webshop.words import terms

K1, B = np.float32(0.9), np.float32(0.4)
MAX_HITS = 50

_EXACT_LENGTHS = 24  # Shorter lengths are kept exactly.


class Hits(NamedTuple):
    """What a search found, best first.

    Attributes:
        documents: Numbers of the documents, in the order in which they were given to :func:`build_index`.
        scores: Their scores.
    """

    documents: tuple[int, ...]
    scores: tuple[float, ...]


class SearchIndex:
    """An index over documents.

    Attributes:
        arrays: All that it consists of, by name.
    """

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Makes an index of the arrays that :func:`build_index` made."""
        self.arrays = arrays
        self._docs, self._norms, self._starts = arrays["docs"], arrays["norms"], arrays["starts"]
        self._weights, self._order = arrays["weights"], arrays["order"]
        self._terms = _TermList(arrays["letters"], arrays["ends"])

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
        totals = np.zeros(len(self._order))
        for term, times in Counter(terms(query)).items():
            number = self._terms.find(term)
            if number is None:
                continue
            start, end = self._starts[number], self._starts[number + 1]
            weight = self._weights[number] * np.float32(times)
            totals[self._docs[start:end]] += weight - weight / self._norms[start:end]
        scores = totals.astype(np.float32)
        found = np.flatnonzero(scores)
        if len(found) > limit:
            least = np.partition(scores[found], -limit)[-limit]
            found = found[scores[found] >= least]
        best = found[np.argsort(-scores[found], kind="stable")[:limit]]
        return Hits(tuple(self._order[best].tolist()), tuple(scores[best].tolist()))


def build_index(names: Sequence[str], texts: Iterable[str]) -> SearchIndex:
    """Builds an index.

    Args:
        names: Names of the documents, in order; they decide between equal scores.
        texts: Their texts, in the same order; read once, one at a time.
    """
    numbers: dict[str, int] = {}
    counts = _Growing(3)  # Term, document, how often.
    lengths = np.zeros(len(names), dtype=np.int64)
    for document, text in enumerate(texts):
        found = Counter(terms(text))
        lengths[document] = found.total()
        for term, times in found.items():
            counts.add(numbers.setdefault(term, len(numbers)), document, times)
    return SearchIndex(_arrays(names, numbers, counts.columns(), lengths))


def _arrays(
    names: Sequence[str], numbers: dict[str, int], counts: list[npt.NDArray[Any]], lengths: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[Any]]:
    order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=np.int32)
    alphabetical = sorted(numbers, key=str.encode)
    place = np.empty(len(numbers), dtype=np.int32)
    place[[numbers[term] for term in alphabetical]] = np.arange(len(numbers), dtype=np.int32)
    term, doc, times = counts
    term, ranked = place[term], rank[doc]
    sorting = np.lexsort((ranked, term))
    frequency = np.bincount(term, minlength=len(numbers))
    documents = int((lengths > 0).sum())
    average = np.float32(lengths.sum() / documents) if documents else np.float32(1)
    inverse = np.float32(1) / (K1 * ((np.float32(1) - B) + B * _rounded(lengths).astype(np.float32) / average))
    letters = [term.encode() for term in alphabetical]
    return {
        "letters": np.frombuffer(b"".join(letters), dtype=np.uint8),
        "ends": np.cumsum([0, *map(len, letters)], dtype=np.int64),
        "starts": np.concatenate(([0], np.cumsum(frequency))).astype(np.int64),
        "docs": ranked[sorting],
        "norms": (np.float32(1) + times.astype(np.float32) * inverse[doc])[sorting],
        "weights": np.log(1 + (documents - frequency + 0.5) / (frequency + 0.5)).astype(np.float32),
        "order": order,
    }


def _rounded(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns lengths as Lucene keeps them: exact below 24, then rounded down to four significant bits above it."""
    above = np.maximum(lengths - _EXACT_LENGTHS, 0)
    bits = np.frexp(above.astype(np.float64))[1]
    shift = np.maximum(bits - 4, 0)
    return np.where(lengths < _EXACT_LENGTHS, lengths, _EXACT_LENGTHS + ((above >> shift) << shift))


class _Growing:
    """Columns of numbers that take four bytes each while they grow."""

    def __init__(self, columns: int) -> None:
        self._columns = [array("i") for _ in range(columns)]

    def add(self, *values: int) -> None:
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)

    def columns(self) -> list[npt.NDArray[Any]]:
        return [np.frombuffer(column, dtype=np.int32) if column else np.zeros(0, np.int32) for column in self._columns]


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
        wanted = term.encode(errors="replace")
        number = bisect_left(self, wanted)
        return number if number < len(self) and self[number] == wanted else None
