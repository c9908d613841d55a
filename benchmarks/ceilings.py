"""Exact yardsticks of a panel: equilibrium play, the ceiling when told the opponent, and the Bayes-adaptive value.

They are averages over the panel's own entries, so that a score on the panel is compared with what could be expected on
it. Where an opponent has no behaviour table (search, memory) or the game is too large there is none, and the field is
empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from benchmarks.panels import Entry
from benchmarks.statistics import EMPTY, Estimate
from benchmarks.suites.base import Suite
from mage_agent.policies import equilibrium_strategy
from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.opponents import make_opponent
from mage_envs.scenarios import Scenario
from mage_envs.tabular.solve import bayes_adaptive_value, best_response_value, expected_value


class Ceilings(NamedTuple):
    """Exact values of a panel's entries of one scenario.

    Attributes:
        equilibrium: Expected score per episode of equilibrium play (``cfr``, or ``minimax`` with perfect information).
        told: Expected score per episode of the best response to each opponent.
        adaptive: Expected score of each episode of the agent with the best expected total that knows the population and
            is not told the opponent.
        least_gap: Between equilibrium and told; below it there is nothing to gain.
    """

    equilibrium: float | None
    told: float | None
    adaptive: tuple[float, ...] | None
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
    """Computes the yardsticks of a scenario's entries.

    Args:
        suite: For its protocol.
        scenario: The scenario.
        entries: Its entries in the panel.

    Returns:
        The values; None where there is no exact one. With a replayed instance an agent can learn the deal, so that
        the best response is no ceiling and only the adaptive value is given.
    """
    if scenario.population is None or not entries:
        return NONE
    game: GameSpec = suite.make_env(scenario, "text").unwrapped.game_spec
    shares = Counter((str(entry.opponent), entry.seat) for entry in entries)
    if not all(make_opponent(opponent, game).tabular for opponent, _ in shares):
        return NONE  # Known before a tree is built.
    fresh = scenario.instance == "fresh"
    return Ceilings(
        equilibrium=_average(game, shares, "equilibrium") if fresh else None,
        told=_average(game, shares, "told") if fresh else None,
        adaptive=None if suite.protocol.stop_on_success else _adaptive(game, shares, suite, scenario),
        least_gap=NOTHING_TO_GAIN * (game.game.max_utility() - game.game.min_utility()),
    )


def opponent_yardsticks(game: GameSpec, opponent: str, seat: int) -> tuple[float | None, float | None]:
    """Returns the expected score per episode of equilibrium play, and of the best response, against one opponent."""
    return _value(game, opponent, seat, "equilibrium"), _value(game, opponent, seat, "told")


def _average(game: GameSpec, shares: Counter[tuple[str, int]], what: str) -> float | None:
    values = {key: _value(game, *key, what) for key in shares}
    if any(value is None for value in values.values()):
        return None
    return sum(shares[key] * (value or 0.0) for key, value in values.items()) / shares.total()


@lru_cache(maxsize=4096)
def _value(game: GameSpec, opponent: str, seat: int, what: str) -> float | None:
    try:
        if what == "told":
            return best_response_value(game, opponent, seat)
        return expected_value(game, equilibrium_strategy(game), opponent, seat)
    except UnsupportedGameError:
        return None


def _adaptive(
    game: GameSpec, shares: Counter[tuple[str, int]], suite: Suite, scenario: Scenario
) -> tuple[float, ...] | None:
    total = np.zeros(suite.protocol.episodes)
    for seat in sorted({seat for _, seat in shares}):
        population = tuple((opponent, count) for (opponent, other), count in sorted(shares.items()) if other == seat)
        value = _adaptive_value(game, population, seat, suite.protocol.episodes, scenario.instance)
        if value is None:
            return None
        total += np.multiply(value, sum(count for _, count in population) / shares.total())
    return tuple(total.tolist())


@lru_cache(maxsize=256)
def _adaptive_value(
    game: GameSpec, population: tuple[tuple[str, int], ...], seat: int, episodes: int, instance: str
) -> tuple[float, ...] | None:
    weights = {opponent: float(count) for opponent, count in population}
    try:
        return bayes_adaptive_value(game, weights, [seat] * episodes, instance=instance).per_episode
    except UnsupportedGameError:
        return None
