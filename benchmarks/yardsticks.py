"""Exact values of a scenario, by seat, opponent and episode: what the command and the leaderboards are made of.

There are four yardsticks: uniform random play, equilibrium play, the best of an agent that is *told* the opponent, and
the Bayes-adaptive value: the best of an agent that knows the population only. To check them: against ``aggressive`` in
Kuhn poker an agent that is told expects 1/3 chip a hand from either seat. In a world nobody else plays, so that
there is nothing to be told: told and adaptive are the best play that the world proves. docs/ceilings.md explains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from benchmarks.panels import Entry
from benchmarks.suites.base import Suite
from mage_agent.policies import equilibrium_strategy
from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.opponents import make_opponent
from mage_envs.scenarios import Instance, Scenario
from mage_envs.tabular.solve import (
    AdaptiveBounds,
    AdaptiveValue,
    adaptive_bounds,
    bayes_adaptive_value,
    best_response_value,
    expected_value,
)
from mage_envs.worlds import InstanceId, World

Kind: TypeAlias = Literal["random", "equilibrium", "told", "adaptive"]
Episodes: TypeAlias = tuple[float, ...]
Population: TypeAlias = tuple[tuple[str, int], ...]

KINDS: tuple[Kind, ...] = ("random", "equilibrium", "told", "adaptive")
ANY = "any"
"""Stands for the opponent where a value is the average over the population."""
NO_TABLE = "no table: its moves depend on more than its view (memory, or search at random)"
NEEDS_ALL = "not every opponent of the population has a table"
NOBODY_ELSE = "nobody else plays, and no exact value of random play is known"
STOPS = "the first win ends the meta-episode, which the solver does not know"


class Exact(NamedTuple):
    """Exact expected scores, or why there are none.

    Attributes:
        episodes: Of each episode; None if they are not known.
        why: Why not; empty if they are.
    """

    episodes: Episodes | None
    why: str = ""


class Member(NamedTuple):
    """The yardsticks against one opponent, or on average.

    Attributes:
        opponent: Its spec, or ``ANY``.
        share: Its share of the panel's meta-episodes in this seat.
        values: By kind.
    """

    opponent: str
    share: float
    values: Mapping[Kind, Exact]


class SeatYardsticks(NamedTuple):
    """The yardsticks of a scenario for one seat of the agent.

    Attributes:
        seat: The seat.
        share: Its share of the panel's meta-episodes.
        members: Opponents in alphabetical order.
        average: Over the opponents, with their shares.
        bounds: Of the average Bayes-adaptive value, if that is not known and bounds are.
    """

    seat: int
    share: float
    members: tuple[Member, ...]
    average: Member
    bounds: AdaptiveBounds | None


def seat_yardsticks(suite: Suite, scenario: Scenario, entries: Sequence[Entry]) -> tuple[SeatYardsticks, ...]:
    """Computes the yardsticks of a scenario on a panel.

    Args:
        suite: For its protocol.
        scenario: The scenario.
        entries: Its entries in the panel: opponents count as often as they come there.

    Returns:
        One for each seat, in ascending order; in a world one, without opponents.
    """
    if not entries:
        return ()
    if scenario.population is None:
        return (_of_world(suite, scenario, entries),)
    game: GameSpec = suite.make_env(scenario, "text").unwrapped.game_spec
    shares = Counter((entry.seat, str(entry.opponent)) for entry in entries)
    found = []
    for seat in sorted({seat for seat, _ in shares}):
        population = tuple((opponent, count) for (other, opponent), count in sorted(shares.items()) if other == seat)
        found.append(_seat(_Setting(suite, game, seat, scenario.instance), population, len(entries)))
    return tuple(found)


def has_table(game: GameSpec, opponent: str) -> bool:
    """Whether an opponent's moves depend on its view alone, so that exact values can be computed."""
    return make_opponent(opponent, game).tabular


@lru_cache(maxsize=4096)
def exact_value(game: GameSpec, opponent: str, seat: int, kind: Literal["random", "equilibrium", "told"]) -> Exact:
    """Returns the expected score of one episode on a new deal."""
    if not has_table(game, opponent):
        return Exact(None, NO_TABLE)
    if kind == "told":
        return _exact(lambda: (best_response_value(game, opponent, seat),))
    own = "random" if kind == "random" else equilibrium_strategy(game)
    return _exact(lambda: (expected_value(game, own, opponent, seat),))


class _Setting(NamedTuple):
    suite: Suite
    game: GameSpec
    seat: int
    instance: Instance

    @property
    def episodes(self) -> int:
        return self.suite.protocol.episodes

    def each(self, opponent: str, kind: Literal["random", "equilibrium", "told"]) -> Exact:
        """Returns what is the same in each episode."""
        found = exact_value(self.game, opponent, self.seat, kind)
        return found if found.episodes is None else Exact(found.episodes * self.episodes)

    def told(self, opponent: str) -> Exact:
        """With replayed instances, the agent that is told the opponent still has to learn the deal."""
        if self.instance == "fresh":
            return self.each(opponent, "told")
        found = self.adaptive(((opponent, 1),))
        return Exact(None, found) if isinstance(found, str) else Exact(found.per_episode)

    def adaptive(self, population: Population) -> AdaptiveValue | str:
        """Returns the Bayes-adaptive value, or why there is none."""
        if self.suite.protocol.stop_on_success:
            return STOPS
        if any(not has_table(self.game, opponent) for opponent, _ in population):
            return NO_TABLE
        if len(population) == 1 and self.instance == "fresh":  # Nothing to find out.
            ((opponent, _),) = population
            told = self.told(opponent)
            if told.episodes is None:
                return told.why
            return AdaptiveValue(sum(told.episodes), told.episodes, {opponent: told.episodes})
        return _adaptive(self.game, population, self.seat, self.episodes, self.instance)


def _of_world(suite: Suite, scenario: Scenario, entries: Sequence[Entry]) -> SeatYardsticks:
    best = _best_play(suite, scenario, entries)
    nothing = Exact(None, NOBODY_ELSE)
    adaptive = Exact(None, STOPS) if suite.protocol.stop_on_success else best
    values: dict[Kind, Exact] = {"random": nothing, "equilibrium": nothing, "told": best, "adaptive": adaptive}
    return SeatYardsticks(entries[0].seat, 1.0, (), Member(ANY, 1.0, values), None)


def _best_play(suite: Suite, scenario: Scenario, entries: Sequence[Entry]) -> Exact:
    env = suite.make_env(scenario, "text").unwrapped
    world: World = env.world

    def instances() -> Iterator[InstanceId]:
        for entry in entries:
            env.reset(seed=entry.seed)
            yield from env.instances if scenario.instance == "fresh" else env.instances[:1]

    try:
        new, again = world.best_play(instances(), env.turns)
    except UnsupportedGameError as error:
        return Exact(None, str(error))
    later = again if scenario.instance == "replay" else new
    return Exact((new,) + (later,) * (suite.protocol.episodes - 1))


def _seat(at: _Setting, population: Population, entries: int) -> SeatYardsticks:
    adaptive, total = at.adaptive(population), sum(count for _, count in population)
    members = []
    for opponent, count in population:
        values: dict[Kind, Exact] = {
            "random": at.each(opponent, "random"),
            "equilibrium": at.each(opponent, "equilibrium"),
            "told": at.told(opponent),
            "adaptive": _of_opponent(at, opponent, adaptive),
        }
        members.append(Member(opponent, count / total, values))
    average = Member(ANY, 1.0, {kind: _average(members, kind) for kind in KINDS})
    missing = isinstance(adaptive, str) and adaptive not in (NO_TABLE, STOPS)
    bounds = _bounds(at.game, population, at.seat, at.episodes, at.instance) if missing else None
    return SeatYardsticks(at.seat, total / entries, tuple(members), average, bounds)


def _of_opponent(at: _Setting, opponent: str, adaptive: AdaptiveValue | str) -> Exact:
    if isinstance(adaptive, AdaptiveValue):
        return Exact(adaptive.per_opponent[opponent])
    return Exact(None, NEEDS_ALL if adaptive == NO_TABLE and has_table(at.game, opponent) else adaptive)


def _average(members: Sequence[Member], kind: Kind) -> Exact:
    found = [member.values[kind] for member in members]
    known = [value.episodes for value in found if value.episodes is not None]
    if len(known) == len(found):
        return Exact(tuple(np.dot([member.share for member in members], known).tolist()))
    reasons = sorted({value.why for value in found if value.episodes is None})
    return Exact(None, NEEDS_ALL if NO_TABLE in reasons else "; ".join(reasons))


def _exact(compute: Callable[[], Episodes]) -> Exact:
    try:
        return Exact(compute())
    except UnsupportedGameError as error:
        return Exact(None, str(error))


@lru_cache(maxsize=256)
def _adaptive(game: GameSpec, population: Population, seat: int, episodes: int, instance: str) -> AdaptiveValue | str:
    try:
        return bayes_adaptive_value(game, dict(population), [seat] * episodes, instance=instance)
    except UnsupportedGameError as error:
        return str(error)


@lru_cache(maxsize=256)
def _bounds(game: GameSpec, population: Population, seat: int, episodes: int, instance: str) -> AdaptiveBounds | None:
    try:
        return adaptive_bounds(game, dict(population), [seat] * episodes, instance=instance)
    except UnsupportedGameError:
        return None
