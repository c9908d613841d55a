"""How alike texts are, without a model: the cosine of their TF-IDF vectors. Deterministic.

Features are words and whole lines: the words of two boards may be the same while no line is. A feature that fewer texts
have weighs more, log((1 + n) / (1 + n_f)) + 1: term weights as in G. Salton and C. Buckley, Information Processing &
Management 24, 1988, smoothed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def similarities(query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Returns how alike each text is to the query.

    >>> similarities("Your card: J.", ["Your card: K.", "Your card: J."]).round(2).tolist()
    [0.34, 1.0]

    Args:
        query: A text.
        texts: The texts that it is compared with, and that say how common a feature is.

    Returns:
        Numbers in 0..1, shape ``(len(texts),)``; 0: nothing in common.
    """
    counts = [_features(text) for text in (*texts, query)]
    place = {feature: number for number, feature in enumerate(dict.fromkeys(f for count in counts for f in count))}
    vectors = np.zeros((len(counts), max(1, len(place))))
    for row, count in zip(vectors, counts, strict=True):
        row[[place[feature] for feature in count]] = list(count.values())
    having = (vectors[:-1] > 0).sum(axis=0)
    vectors *= np.log((1 + len(texts)) / (1 + having)) + 1
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(norms == 0, 1, norms)
    alike: npt.NDArray[np.float64] = np.clip(vectors[:-1] @ vectors[-1], 0.0, 1.0)
    return alike


def most_similar(query: str, texts: Sequence[str], count: int) -> list[int]:
    """Returns the places of the texts that are most like the query, the most similar last; of equals, the newest."""
    scores = similarities(query, texts).round(12)  # Sums in another order must not decide.
    return np.argsort(scores, kind="stable")[-count:].tolist() if count else []


def _features(text: str) -> Counter[str]:
    folded = text.casefold()
    return Counter([*folded.split(), *(line.strip() + "\n" for line in folded.splitlines() if line.strip())])
