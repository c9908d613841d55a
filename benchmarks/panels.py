"""Panels: the list of meta-episodes that a benchmark plays. The same on any machine, for any agent, in any order.

Opponents come in the shares of their weights (largest remainder, exact fractions). Each deal of an opponent is played
from every seat with one seed, as in duplicate bridge, so that the luck of the cards cancels. In a world, where nobody
else plays, no instance comes twice, as far as there are others (:mod:`benchmarks.instances`). Seeds are SHA-256 of what
they stand for: nothing depends on a generator, a file system or a worker.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from benchmarks.instances import new_instances
from benchmarks.suites.base import MAX_META_EPISODES, Part, Suite

SEED_BITS = 52  # JSON readers that know only doubles read these exactly.

Members: TypeAlias = Iterable[tuple[str | None, float]]


class Entry(NamedTuple):
    """One meta-episode to play.

    Attributes:
        scenario: Name of the scenario.
        number: Number of the entry in its scenario, from 0.
        opponent: Spec of the opponent; None where nobody else plays.
        seat: The agent's seat in all episodes.
        seed: Seed of the environment.
    """

    scenario: str
    number: int
    opponent: str | None
    seat: int
    seed: int

    @property
    def agent_seed(self) -> int:
        """The seed that an agent gets: its own, and independent of the environment's."""
        return derive_seed("agent", self.scenario, self.opponent, self.seat, self.seed)


@dataclass(frozen=True)
class Panel:
    """All meta-episodes of a suite.

    Attributes:
        suite: The suite.
        entries: Scenario by scenario, in the order of the suite.
    """

    suite: Suite
    entries: tuple[Entry, ...]

    @cached_property
    def hash(self) -> str:
        """SHA-256 over all that decides what is played: suite, version, protocol, scenarios, entries."""
        return hashlib.sha256(canonical_json(self.as_dict()).encode()).hexdigest()

    @cached_property
    def by_scenario(self) -> Mapping[str, tuple[Entry, ...]]:
        """The entries of each scenario."""
        names = [part.scenario.name for part in self.suite.parts]
        return {name: tuple(entry for entry in self.entries if entry.scenario == name) for name in names}

    def as_dict(self) -> dict[str, Any]:
        """Returns the panel as JSON values."""
        return {
            "suite": self.suite.name,
            "version": self.suite.version,
            "protocol": self.suite.protocol.as_dict(),
            "scenarios": [part.scenario.as_dict() for part in self.suite.parts],
            "entries": [list(entry) for entry in self.entries],
        }


def make_panel(suite: Suite, seed: int = 0, meta_episodes: int | None = None) -> Panel:
    """Builds the panel of a suite.

    Args:
        suite: The suite.
        seed: Another seed is another panel.
        meta_episodes: Meta-episodes of each scenario; None: as many as the suite says.

    Returns:
        The panel.

    Raises:
        ValueError: ``meta_episodes`` is out of range.
    """
    entries: list[Entry] = []
    for part in suite.parts:
        size = part.meta_episodes if meta_episodes is None else meta_episodes
        salt = (suite.name, suite.version, part.scenario.name, seed)
        entries += scenario_entries(part, population_members(part), size, salt, suite.protocol.episodes)
    return Panel(suite, tuple(entries))


def population_members(part: Part) -> Members:
    """Returns the opponents of a scenario with their weights; one None where nobody else plays."""
    if part.scenario.population is None:
        return ((None, 1.0),)
    population = part.scenario.make().unwrapped.population  # type: ignore[attr-defined]
    return tuple((str(spec), float(weight)) for spec, weight in population.members)


def scenario_entries(part: Part, members: Members, size: int, salt: tuple[Any, ...], episodes: int = 1) -> list[Entry]:
    """Builds the entries of one scenario.

    Args:
        part: The scenario and its seats.
        members: Opponents and weights, in any order.
        size: Number of meta-episodes. If it is no multiple of the number of seats, the last deal misses some.
        salt: What the seeds are derived from, besides the opponent and the number of its deal.
        episodes: Episodes of a meta-episode: so many instances come in it where they are fresh.

    Returns:
        ``size`` entries, the opponents spread evenly over them.
    """
    if not 1 <= size <= MAX_META_EPISODES:
        raise ValueError(f"meta_episodes must be in 1..{MAX_META_EPISODES}, got {size}")
    seats = part.scenario.seats
    counts = largest_remainder(members, -(-size // len(seats)))
    deals = [(Fraction(2 * k + 1, 2 * count), key, k) for key, count in counts.items() for k in range(count)]
    deals.sort(key=lambda deal: (deal[0], str(deal[1])))
    seeds = [derive_seed(*salt, opponent, k) for _, opponent, k in deals]
    if part.scenario.population is None:

        def another(place: int, again: int) -> int:
            return derive_seed(*salt, *deals[place][1:], again)

        seeds = new_instances(part.scenario, episodes, seeds, another)
    entries: list[Entry] = []
    for (_, opponent, _), seed in zip(deals, seeds, strict=True):
        entries += [Entry(part.scenario.name, len(entries) + i, opponent, seat, seed) for i, seat in enumerate(seats)]
    return entries[:size]


def largest_remainder(members: Members, total: int) -> dict[str | None, int]:
    """Shares out a total in proportion to weights; what is left over goes to the largest remainders, ties by name.

    >>> largest_remainder([("a", 0.3), ("b", 0.3), ("c", 0.4)], 5)
    {'a': 2, 'b': 1, 'c': 2}
    """
    weights = {key: Fraction(str(weight)) for key, weight in sorted(members, key=lambda member: str(member[0]))}
    quotas = {key: weight * total / sum(weights.values()) for key, weight in weights.items()}
    counts = {key: int(quota) for key, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda key: counts[key] - quotas[key])
    for key in by_remainder[: total - sum(counts.values())]:
        counts[key] += 1
    return counts


def derive_seed(*parts: Any) -> int:
    """Returns a seed in 0..2**52 - 1 that is a pure function of the parts, which must be JSON values.

    >>> derive_seed("quick", 1, "kuhn/train", 0, "conservative", 0)
    4327509840095372
    """
    digest = hashlib.sha256(canonical_json(list(parts)).encode()).hexdigest()
    return int(digest[: SEED_BITS // 4], 16)


def canonical_json(value: Any) -> str:
    """Writes JSON in the one form that is hashed: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
