"""What is trained on: groups of meta-episodes, the opponents in the shares of their weights.

A row of the data set is a group: one scenario, seat and seed, and the opponents that its members meet. TRL repeats a
row ``num_generations`` times, and :func:`to_tasks` makes each repetition another member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

import numpy as np

from mage_agent.grpo.samples import Task
from mage_envs.errors import MageError
from mage_envs.opponents.populations import load_population
from mage_envs.scenarios import SCENARIOS, Scenario

if TYPE_CHECKING:
    from datasets import Dataset

    from mage_agent.grpo.config import TrainConfig

SEED_BITS = 52
"""Seeds are below two to this power, as those of panels are."""

_TIE = 1e-9

Choice = TypeVar("Choice")


class Row(TypedDict):
    """A group.

    Attributes:
        scenario: Name of the scenario.
        opponents: Specs of the opponents; member m meets number m modulo their count. Empty in a world.
        seat: The seat of all members; None in a world.
        seed: Seed of the environment for all members.
    """

    scenario: str
    opponents: list[str]
    seat: int | None
    seed: int


class Quota(Generic[Choice]):
    """Hands out choices so that after any number of them each has had its share, rounded up or down to a whole one.

    >>> quota = Quota({"a": 2.0, "b": 1.0}, np.random.default_rng(0))
    >>> sorted(quota.next() for _ in range(6))
    ['a', 'a', 'a', 'a', 'b', 'b']
    """

    def __init__(self, weights: Mapping[Choice, float], rng: np.random.Generator) -> None:
        """Takes the weights, which are positive, and what decides between two that are equally due."""
        self._choices, self._rng = list(weights), rng
        self._shares = np.array([float(weight) for weight in weights.values()])
        self._shares /= self._shares.sum()
        self._owed = np.zeros(len(self._choices))

    def next(self) -> Choice:
        """Returns the choice that is most behind its share."""
        self._owed += self._shares
        due = np.flatnonzero(self._owed > self._owed.max() - _TIE)
        chosen = int(self._rng.choice(due))
        self._owed[chosen] -= 1
        return self._choices[chosen]


def make_rows(
    scenarios: Sequence[Scenario | str],
    groups: int,
    seed: int,
    *,
    mixed: int = 1,
    shares: Mapping[str, float] | None = None,
) -> list[Row]:
    """Draws groups.

    Args:
        scenarios: Scenarios or their names. They are played equally often, and so are the seats against an opponent.
        groups: Number of groups, at least 1.
        seed: At least 0. Same arguments, same rows.
        mixed: How many opponents the members of a group meet in turn. 1: all meet the same one.
        shares: Weights by the spec of an opponent, in place of the population's own; None: those.

    Returns:
        The rows, in the order in which they shall be played.

    Raises:
        ValueError: A number is out of range, or a world is given shares or mixed groups.
        MageError: A scenario or an opponent is unknown.
    """
    if groups < 1 or mixed < 1 or not scenarios:
        raise ValueError(
            f"needed are a scenario, 1 or more groups, and mixed of at least 1, got {scenarios}, {groups}, {mixed}"
        )
    rng = np.random.default_rng(seed)
    known = [SCENARIOS.get(scenario) if isinstance(scenario, str) else scenario for scenario in scenarios]
    if any(scenario.population is None for scenario in known) and (mixed > 1 or shares):
        raise ValueError("in a world there are no opponents: leave out shares and mixed groups")
    order = Quota(dict.fromkeys(range(len(known)), 1.0), rng)
    opponents = [Quota(weights_of(scenario, shares), rng) if scenario.population else None for scenario in known]
    seats: dict[tuple[Any, ...], Quota[int]] = {}
    rows: list[Row] = []
    for _ in range(groups):
        scenario, quota = known[place := order.next()], opponents[place]
        met = [] if quota is None else [quota.next() for _ in range(mixed)]
        seat = None
        if met:
            seat = seats.setdefault((place, *met), Quota(dict.fromkeys(scenario.seats, 1.0), rng)).next()
        rows.append(Row(scenario=scenario.name, opponents=met, seat=seat, seed=int(rng.integers(1 << SEED_BITS))))
    return rows


def make_dataset(
    scenarios: Sequence[Scenario | str],
    groups: int,
    seed: int,
    *,
    mixed: int = 1,
    shares: Mapping[str, float] | None = None,
) -> Dataset:
    """Draws groups as a data set for the trainer; see :func:`make_rows` for arguments and errors."""
    from datasets import Dataset

    return Dataset.from_list(list(make_rows(scenarios, groups, seed, mixed=mixed, shares=shares)))


def weights_of(scenario: Scenario, shares: Mapping[str, float] | None) -> dict[str, float]:
    """Returns the opponents of a scenario of a game, with weights.

    Args:
        scenario: The scenario.
        shares: Weights by spec that replace the population's own.
    """
    inner: Any = scenario.make().unwrapped
    population = inner.population if shares is None else load_population(shares, inner.game_spec)
    return dict(population.members)


def opponents_a_group(config: TrainConfig) -> int:
    """Returns how many opponents the members of a group meet: each meets two members at least.

    Raises:
        MageError: They shall meet several, and there are not so many, or too few members.
    """
    if config.opponents == "stationary":
        return 1
    scenario = config.played
    known = 0 if scenario.population is None else len(weights_of(scenario, None))
    if known < 2 or config.group_size < 4:
        raise MageError(
            f'opponents = "mixed" needs 2 opponents and group_size of at least 4, and {scenario.name} has {known}, '
            f'group_size is {config.group_size}: take opponents = "stationary"'
        )
    return min(known, config.group_size // 2)


def to_tasks(rows: Sequence[Row]) -> list[Task]:
    """Turns rows into meta-episodes to play: each repetition of a row is the group's next member.

    Args:
        rows: Those of all processes.
    """
    members: Counter[tuple[Any, ...]] = Counter()
    tasks = []
    for row in rows:
        key = (row["scenario"], row["seat"], row["seed"], *row["opponents"])
        member, met = members[key], row["opponents"]
        members[key] += 1
        opponent = met[member % len(met)] if met else None
        tasks.append(Task(row["scenario"], opponent, row["seat"], row["seed"], member))
    return tasks
