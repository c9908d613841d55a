"""How many meta-episodes a result needs: for an interval of a wished width, or to detect a wished difference.

From a rate, for independent meta-episodes: the interval's half width (normal approximation) and the difference of two
independent agents (arcsine; both statsmodels). To check it: .602 within ±5 points needs 369; .672 against .602 with 128
each is p = .30 (Fisher), and takes 740 of each agent for a power of 80 %.

From a run, with its clusters: a cluster (meta-episodes that share an opponent and an instance) is one observation whose
standard deviation is the cluster-robust standard error times the root of the number of clusters; t intervals, and for
differences of two agents the power of a paired t test (statsmodels). A larger panel has more clusters of the same size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.paired import SIGNIFICANCE
from benchmarks.statistics import LEVEL, mean_estimate

POWER = 0.8
MOST = 10**7
"""More meta-episodes than anybody plays; above this nothing is said."""


class Spread(NamedTuple):
    """How much a mean over meta-episodes varies.

    Attributes:
        mean: The mean.
        half: Half width of its 95 % interval now; None with fewer than two clusters.
        n: Meta-episodes.
        clusters: Clusters.
        deviation: Standard deviation of a cluster, as seen by the mean; None with fewer than two.
    """

    mean: float
    half: float | None
    n: int
    clusters: int
    deviation: float | None


def spread(values: Sequence[float], clusters: Sequence[int]) -> Spread:
    """Measures how much a mean varies.

    Args:
        values: A number for each meta-episode; at least one.
        clusters: For each, the number of its cluster.

    Returns:
        The spread.
    """
    from scipy.stats import t

    found, count = mean_estimate(values, clusters), len(set(clusters))
    if found.value is None:
        raise ValueError("there is no meta-episode with a score")
    if found.low is None or found.high is None:
        return Spread(found.value, None, found.n, count, None)
    half = (found.high - found.low) / 2
    if half < 1e-9:  # What is left of rounding.
        return Spread(found.value, 0.0, found.n, count, 0.0)
    error = half / float(t.ppf((1 + LEVEL) / 2, count - 1))
    return Spread(found.value, half, found.n, count, error * math.sqrt(count))


def n_for_half_width(found: Spread, half_width: float) -> int | None:
    """Returns how many meta-episodes make half of the 95 % interval this wide or narrower.

    None if that cannot be said: nothing varies, there are fewer than two clusters, or it takes more than 10 million.
    """
    from scipy.stats import t

    def narrow(clusters: int, deviation: float) -> bool:
        return float(t.ppf((1 + LEVEL) / 2, clusters - 1)) * deviation / math.sqrt(clusters) <= half_width

    return _meta_episodes(found, narrow)


def n_for_difference(found: Spread, difference: float, power: float = POWER) -> int | None:
    """Returns how many meta-episodes detect a difference between two agents that play the same panel.

    Args:
        found: Spread of the paired differences.
        difference: The true difference to detect, two-sided at the 5 % level.
        power: Chance to detect it.

    Returns:
        Meta-episodes; None as for :func:`n_for_half_width`.
    """
    from statsmodels.stats.power import TTestPower

    def enough(clusters: int, deviation: float) -> bool:
        return float(TTestPower().power(abs(difference) / deviation, clusters, SIGNIFICANCE)) >= power

    return _meta_episodes(found, enough)


def n_for_rate(rate: float, half_width: float) -> int:
    """Returns how many independent meta-episodes make half of a rate's 95 % interval this wide.

    >>> n_for_rate(0.602, 0.05), n_for_rate(0.5, 0.05)
    (369, 385)
    """
    from statsmodels.stats.proportion import samplesize_confint_proportion

    return math.ceil(float(samplesize_confint_proportion(rate, half_width, 1 - LEVEL)))


def n_for_rates(first: float, second: float, power: float = POWER) -> int:
    """Returns how many independent meta-episodes of each of two agents detect that their rates differ.

    >>> n_for_rates(0.672, 0.602)
    740
    """
    from statsmodels.stats.power import NormalIndPower
    from statsmodels.stats.proportion import proportion_effectsize

    effect = proportion_effectsize(first, second)
    return math.ceil(float(NormalIndPower().solve_power(effect, alpha=SIGNIFICANCE, power=power)))


def power_of_rates(first: float, second: float, n: int) -> float:
    """Returns the chance that n independent meta-episodes of each of two agents tell their rates apart.

    >>> round(power_of_rates(0.672, 0.602, 740), 2)
    0.8
    """
    from statsmodels.stats.power import NormalIndPower
    from statsmodels.stats.proportion import proportion_effectsize

    return float(NormalIndPower().power(proportion_effectsize(first, second), n, SIGNIFICANCE))


def fisher_p(first: float, second: float, n: int) -> float:
    """Returns Fisher's exact two-sided p of two rates seen in n independent meta-episodes each.

    >>> round(fisher_p(0.672, 0.602, 128), 2)
    0.3
    """
    from scipy.stats import fisher_exact

    hits = [round(first * n), round(second * n)]
    return float(fisher_exact([hits, [n - count for count in hits]]).pvalue)


def _meta_episodes(found: Spread, enough: Callable[[int, float], bool]) -> int | None:
    """Searches the least number of clusters, and says it in meta-episodes."""
    if not found.deviation:
        return None
    deviation, low, high = found.deviation, 1, 2
    while not enough(high, deviation):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle, deviation) else (middle, high)
    return math.ceil(high * found.n / found.clusters)
