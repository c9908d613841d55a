"""Two agents on the same meta-episodes: is the difference more than chance?

Everything is paired by meta-episode, and a cluster (meta-episodes that share an opponent and an instance) counts as one
observation: its differences are added up before a sign is taken or flipped.

- *Interval*: of the mean difference, cluster-robust (:mod:`benchmarks.statistics`).
- *Sign test* (``scipy.stats.binomtest``): exact, over the clusters in which the two differ. To check it: 8 of 10 is
  p = 112/1024 = .109.
- *Permutation test*: the signs of the clusters' sums are flipped; exact by enumeration up to 2^14 flips
  (``scipy.stats.permutation_test``), else drawn (``scipy.stats.monte_carlo_test``) from a fixed seed. To check it: the
  sums 1, 2, 3 are as far from 0 as they can be in 2 of 8 flips, p = .25.
- *Holm*: over all comparisons that are shown (``statsmodels`` multipletests).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.statistics import Estimate, FloatArray, mean_estimate

SIGNIFICANCE = 0.05
MOST_EXACT = 14
"""So many clusters that differ are enumerated: 2^14 = 16,384 flips."""
LEAST_DRAWS = 9_999
_DRAWS_A_COMPARISON = 100  # Keeps the least p that can be drawn well under the significance after Holm's correction.
_BATCH = 1000


class PairedTest(NamedTuple):
    """What two agents' results on the same meta-episodes say of their difference.

    Attributes:
        difference: Mean of first minus second, with a 95 % interval.
        clusters: Number of clusters.
        first_better: Clusters in which the first is ahead.
        second_better: Clusters in which the second is.
        sign_p: Exact two-sided p of the sign test; 1 if no cluster differs.
        p: Two-sided p of the permutation test; 1 if no cluster differs.
    """

    difference: Estimate
    clusters: int
    first_better: int
    second_better: int
    sign_p: float
    p: float


def paired_test(differences: Sequence[float], clusters: Sequence[int], comparisons: int = 1) -> PairedTest:
    """Tests whether paired differences are centred on 0.

    Args:
        differences: First minus second, for each meta-episode.
        clusters: For each, the number of its cluster.
        comparisons: How many comparisons will be corrected for: more need more draws.

    Returns:
        The estimate and both tests.
    """
    sums = cluster_sums(differences, clusters)
    first, second = int((sums > 0).sum()), int((sums < 0).sum())
    return PairedTest(
        difference=mean_estimate(differences, clusters),
        clusters=len(sums),
        first_better=first,
        second_better=second,
        sign_p=sign_p(first, second),
        p=permutation_p(sums, max(LEAST_DRAWS, _DRAWS_A_COMPARISON * comparisons - 1)),
    )


def cluster_sums(values: Sequence[float], clusters: Sequence[int]) -> FloatArray:
    """Adds up the values of each cluster.

    >>> cluster_sums([1.0, -1.0, 2.0], [0, 0, 1]).tolist()
    [0.0, 2.0]
    """
    _, numbers = np.unique(np.asarray(clusters, dtype=np.int64), return_inverse=True)
    sums = np.bincount(numbers, weights=np.asarray(values, dtype=np.float64))
    return np.where(np.abs(sums) < 1e-9, 0.0, sums)  # What cancels is a draw, whatever rounding leaves.


def sign_p(first: int, second: int) -> float:
    """Returns the exact two-sided p of a sign test.

    >>> round(sign_p(8, 2), 4)
    0.1094
    """
    from scipy.stats import binomtest

    return 1.0 if first + second == 0 else float(binomtest(first, first + second, 0.5).pvalue)


def permutation_p(sums: Sequence[float] | FloatArray, draws: int = LEAST_DRAWS) -> float:
    """Returns the two-sided p of flipping the signs of the clusters' sums.

    Args:
        sums: Sum of the differences of each cluster.
        draws: Number of flips to draw where there are too many to enumerate.

    Returns:
        The share of flips whose total is at least as far from 0. Drawn, it is never 0: the observed one is a flip, too.

    >>> permutation_p([1.0, 2.0, 3.0])
    0.25
    """
    from scipy.stats import monte_carlo_test, permutation_test

    values = np.asarray(sums, dtype=np.float64)
    values = values[values != 0.0]  # Flipping a 0 changes nothing.
    if len(values) < 2:
        return 1.0  # Both flips of a single one are as far from 0.
    if len(values) <= MOST_EXACT:
        found = permutation_test(
            (values, np.zeros(len(values))),
            lambda x, y, axis: (x - y).sum(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=1 << MOST_EXACT,
        )
        return float(found.pvalue)
    rng = np.random.default_rng(0)

    def flipped(size: Any) -> FloatArray:
        signs: FloatArray = rng.choice(np.array([-1.0, 1.0]), size=size)
        flips: FloatArray = values * signs
        return flips

    drawn = monte_carlo_test(values, flipped, np.sum, vectorized=True, n_resamples=draws, batch=_BATCH)
    return float(drawn.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrects p values for their number, after Holm (1979).

    >>> [round(p, 6) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(p_values, SIGNIFICANCE, method="holm")[1]] if p_values else []
