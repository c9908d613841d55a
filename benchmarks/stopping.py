"""When a run stops before its end: too many meta-episodes without a score, or too much money spent.

What was finished is kept, and a resumed run goes on. So stopping changes no result; it only leaves some out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from benchmarks.pool import Tally
from benchmarks.records import UNSCORED, Record
from mage_envs.errors import MageError

LEAST_FINISHED = 20
"""So many meta-episodes are finished before a share of them says anything."""

_PLACE = re.compile(r" \(in \S+, line \d+\)$")
"""Where in an agent's code an error came from, as :func:`benchmarks.asking.failure` writes it."""

Reason: TypeAlias = Literal["errors", "cost", "unknown cost"]


class StoppedEarly(MageError):  # noqa: N818 - the run was told to
    """A run reached a limit. What was finished is kept.

    Attributes:
        reason: Which limit.
        error: The most frequent error; empty if it was not errors that stopped the run.
    """

    def __init__(self, reason: Reason, message: str, error: str = "") -> None:
        """Takes what is said."""
        super().__init__(message)
        self.reason, self.error = reason, error


@dataclass(frozen=True)
class Limits:
    """Past which a run stops.

    Attributes:
        error_rate: Share, 0 to 1, of the meta-episodes finished in this attempt whose status is ``error`` or
            ``timeout``; agents that compute and agents that wait are counted apart. None: no limit.
        cost: US dollars for the whole run, earlier attempts included. None: no limit.
    """

    error_rate: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        """Checks ranges.

        Raises:
            ValueError: One is left.
        """
        if self.error_rate is not None and not 0.0 <= self.error_rate <= 1.0:
            raise ValueError(f"the error rate is a share in 0..1, got {self.error_rate}")
        if self.cost is not None and not 0.0 < self.cost < float("inf"):
            raise ValueError(f"the cost limit must be more than 0 dollars, got {self.cost}")

    def check(self, tally: Tally, total: int, spent: float) -> None:
        """Looks at how far a run is.

        Args:
            tally: What was finished in this attempt.
            total: Of how many. Where nothing is left there is nothing to stop.
            spent: US dollars that the run has cost so far, ``tally`` included.

        Raises:
            StoppedEarly: A limit is reached.
        """
        if self.cost is not None and math.isinf(spent) and tally.done < total:
            raise StoppedEarly(
                "unknown cost", "the server did not say how many tokens it used: --cost-limit cannot hold any more"
            )
        if self.cost is not None and spent >= self.cost and tally.done < total:
            raise StoppedEarly("cost", f"the run has cost {spent:.4g} dollars, and its limit is {self.cost:g}")
        if self.error_rate is None or not LEAST_FINISHED <= tally.done < total:
            return
        if tally.bad > self.error_rate * tally.done:
            raise StoppedEarly(
                "errors",
                f"{tally.bad} of {tally.done} meta-episodes have no score, more than --max-error-rate "
                f"{self.error_rate:g} allows",
            )


def most_frequent_error(records: Iterable[Record]) -> str:
    """Returns what most of the records without a score say; of equally many the first. Empty if there are none."""
    found = Counter(_PLACE.sub("", record.error or "") for record in records if record.status in UNSCORED)
    return max(found, key=found.__getitem__, default="")


def cost_of(records: Iterable[Record]) -> float:
    """Returns what records have cost, in US dollars; infinity if that of one is unknown: no limit holds then."""
    return sum(math.inf if record.usage.cost is None else record.usage.cost for record in records if record.usage)
