"""Places that do not rank noise.

Rows are ranked by the last episode's score, or by pass@N where the first win ends the meta-episode. A row is better
than another *beyond doubt* if its interval lies above the other's. Its places run from 1 + the number of rows that are
better beyond doubt to the number of rows that are not worse beyond doubt. So two rows that cannot be told apart always
share a place, whatever else is on the board, and a row with one place only is told apart from all others. To check it:
1.0, 0.9 and 0.75, each ± 0.1, have the places 1-2, 1-3 and 2-3.

Intervals that do not overlap are a cautious test (p is about .006 for two of equal width), which leaves room for many
rows. ``benchmark compare`` pairs meta-episodes, and tells more apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from benchmarks.columns import INTERVAL
from benchmarks.rows import Row
from benchmarks.statistics import Estimate


class Place(NamedTuple):
    """The places that a row may have.

    Attributes:
        best: The best one, from 1.
        worst: The worst one.
    """

    best: int
    worst: int

    def __str__(self) -> str:
        """Writes it as a board does.

        >>> str(Place(1, 3)), str(Place(2, 2))
        ('1-3', '2')
        """
        return f"{self.best}" if self.best == self.worst else f"{self.best}-{self.worst}"


def rankable(row: Row) -> bool:
    """Whether a row takes part: complete, not of an oracle, and not under a causal control."""
    return row["oracle"] == "no" and row["control"] == "none" and row["n_scored"] == row["n_expected"] != "0"


def places(rows: Sequence[Row]) -> list[Place | None]:
    """Ranks rows of one scenario and panel.

    Args:
        rows: The rows.

    Returns:
        For each row its places; None for rows that are not ranked.
    """
    rivals = [_estimate(row) for row in rows if rankable(row)]
    return [place_of(_estimate(row), rivals) if rankable(row) else None for row in rows]


def place_of(own: Estimate, rivals: Sequence[Estimate]) -> Place:
    """Returns the places of an estimate.

    Args:
        own: The estimate.
        rivals: All that are ranked, itself included. An interval that could not be computed is endless.

    Returns:
        Its places.
    """
    low, high = _ends(own)
    ends = [_ends(rival) for rival in rivals]
    return Place(1 + sum(other > high for other, _ in ends), len(ends) - sum(other < low for _, other in ends))


def ranks(rows: Sequence[Row]) -> list[int | None]:
    """Returns the best place of each row; see :func:`places`."""
    return [None if place is None else place.best for place in places(rows)]


def measure(row: Row) -> str:
    """Returns by which of its columns a row is ranked, without the number: ``score`` or ``pass``."""
    number = row["episodes"]
    return "pass" if row[f"pass_{number}"] and not row[f"score_{number}"] else "score"


def last_score(row: Row) -> float:
    """Returns what a row is ranked by, of the last episode; minus infinity if there is none."""
    return float(row[f"{measure(row)}_{row['episodes']}"] or "-inf")


def _estimate(row: Row) -> Estimate:
    name = f"{measure(row)}_{row['episodes']}"
    value, low, high = (float(row[name + end]) if row[name + end] else None for end in INTERVAL)
    return Estimate(value, low, high, int(row["n_scored"]))


def _ends(found: Estimate) -> tuple[float, float]:
    return -inf if found.low is None else found.low, inf if found.high is None else found.high
