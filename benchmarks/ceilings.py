"""Exact yardsticks of a panel: what a row of a board is compared with.

They are averages over the panel's own entries, so that a score on the panel is compared with what could be expected on
it. Where an opponent has no behaviour table (search, memory) or the game is too large there is none, and the field is
empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.panels import Entry
from benchmarks.statistics import EMPTY, Estimate
from benchmarks.suites.base import Suite
from benchmarks.yardsticks import Episodes, Kind, SeatYardsticks, exact_value, has_table, seat_yardsticks
from mage_envs.games import GameSpec
from mage_envs.scenarios import Scenario


class TotalBounds(NamedTuple):
    """Bounds of the Bayes-adaptive value of a whole meta-episode.

    Attributes:
        low: Below: what Thompson sampling gets, estimated by play, or an agent that learns nothing, if that is more.
        low_error: Standard error of ``low``.
        high: Above: what an agent gets that is told the opponent, exact.
    """

    low: float
    low_error: float
    high: float


class Ceilings(NamedTuple):
    """Exact values of a panel's entries of one scenario; None where there is none.

    Attributes:
        equilibrium: Expected score per episode of equilibrium play (``cfr``, or ``minimax`` with perfect information).
        told: Expected score per episode of the best response to each opponent; in a world, of the best play. None
            with replayed instances, unless it is the same in every episode: there the instance can be learnt, and the
            best of a first episode is no ceiling.
        adaptive: Expected score of each episode of the agent with the best expected total that knows the population and
            is not told the opponent.
        random: Expected score per episode of uniform random play.
        bounds: Of the sum of ``adaptive``, if only bounds are known.
        least_gap: Between equilibrium and told; below it there is nothing to gain.
    """

    equilibrium: float | None
    told: float | None
    adaptive: Episodes | None
    random: float | None = None
    bounds: TotalBounds | None = None
    least_gap: float = 1e-9

    def normalise(self, score: Estimate) -> Estimate:
        """Puts a score on the scale on which equilibrium play is 0 and the told-the-opponent ceiling is 1.

        Empty if there are no exact values, or nothing to gain: a scale of nothing would only show noise.
        """
        if self.equilibrium is None or self.told is None or self.told - self.equilibrium < self.least_gap:
            return EMPTY
        return score.scaled(self.equilibrium, self.told)


NONE = Ceilings(None, None, None)
NOTHING_TO_GAIN = 0.01
"""Share of a game's range of returns below which a gain counts as none."""


def panel_ceilings(suite: Suite, scenario: Scenario, entries: Sequence[Entry]) -> Ceilings:
    """Averages the yardsticks of a scenario over opponents and seats.

    Args:
        suite: For its protocol.
        scenario: The scenario.
        entries: Its entries in the panel.

    Returns:
        The values; None where there is no exact one.
    """
    if not entries:
        return NONE
    if scenario.population is None:
        return _world_ceilings(seat_yardsticks(suite, scenario, entries))
    game: GameSpec = suite.make_env(scenario, "text").unwrapped.game_spec
    if not all(has_table(game, opponent) for opponent in {str(entry.opponent) for entry in entries}):
        return NONE  # Known before a tree is built.
    seats = seat_yardsticks(suite, scenario, entries)
    adaptive = _average(seats, "adaptive")
    return Ceilings(
        equilibrium=_each(_average(seats, "equilibrium")),
        told=_each(_average(seats, "told")) if scenario.instance == "fresh" else None,
        adaptive=adaptive,
        random=_each(_average(seats, "random")),
        bounds=_bounds(seats) if adaptive is None else None,
        least_gap=NOTHING_TO_GAIN * (game.game.max_utility() - game.game.min_utility()),
    )


def _world_ceilings(seats: Sequence[SeatYardsticks]) -> Ceilings:
    best = _average(seats, "told") or ()
    return Ceilings(None, best[0] if len(set(best)) == 1 else None, _average(seats, "adaptive"))


def opponent_yardsticks(game: GameSpec, opponent: str, seat: int) -> tuple[float | None, float | None]:
    """Returns the expected score per episode of equilibrium play, and of the best response, against one opponent."""
    equilibrium, told = (exact_value(game, opponent, seat, kind).episodes for kind in ("equilibrium", "told"))
    return _each(equilibrium), _each(told)


def _each(episodes: Episodes | None) -> float | None:
    return None if episodes is None else episodes[0]


def _average(seats: Sequence[SeatYardsticks], kind: Kind) -> Episodes | None:
    found = [seat.average.values[kind].episodes for seat in seats]
    known = [episodes for episodes in found if episodes is not None]
    if len(known) < len(found):
        return None
    return tuple(np.dot([seat.share for seat in seats], known).tolist())


def _bounds(seats: Sequence[SeatYardsticks]) -> TotalBounds | None:
    """Averages over seats, of which some may have exact values."""
    low, variance, high = 0.0, 0.0, 0.0
    for seat in seats:
        exact = seat.average.values["adaptive"].episodes
        if exact is not None:
            low, high = low + seat.share * sum(exact), high + seat.share * sum(exact)
        elif seat.bounds is not None:
            low, high = low + seat.share * seat.bounds.lower, high + seat.share * seat.bounds.upper
            variance += (seat.share * seat.bounds.lower_error) ** 2
        else:
            return None
    return TotalBounds(low, math.sqrt(variance), high)
