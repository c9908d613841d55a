"""What a scenario is: an environment id, its keyword arguments, a population and the seats to play, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from mage_envs.envs.meta_episode import Instance
from mage_envs.registry import Registry


@dataclass(frozen=True)
class Scenario:
    """A task that is played the same way wherever it is named.

    Attributes:
        name: Name in the registry: ``"kuhn/train"``.
        env_id: Gymnasium id of a meta-episode: ``"mage/KuhnPoker-meta-v0"``.
        summary: One sentence for ``benchmark list``.
        unit: What a score of 1 is: ``"chips per episode"``.
        population: Who may come. None: nobody else plays (worlds).
        seats: Seats that the agent plays, each in the same share of the meta-episodes.
        instance: ``"fresh"`` draws a new instance for each episode, ``"replay"`` repeats the first.
        arguments: Further keyword arguments of the environment, as pairs of a name and a JSON value.
        needs_data: Whether instances are read from files that are no part of MAGE: an error says how to get them.
    """

    name: str
    env_id: str
    summary: str
    unit: str
    population: str | None = None
    seats: tuple[int, ...] = (0, 1)
    instance: Instance = "fresh"
    arguments: tuple[tuple[str, Any], ...] = ()
    needs_data: bool = False

    def __post_init__(self) -> None:
        """Checks the seats.

        Raises:
            ValueError: There is no seat, or a seat twice.
        """
        if not self.seats or len(set(self.seats)) != len(self.seats):
            raise ValueError(f"seats of scenario {self.name!r} must be one or more different seats, got {self.seats}")

    def make(self, *, interface: str | None = None, **more: Any) -> gym.Env[Any, Any]:
        """Makes the environment.

        Args:
            interface: ``"array"`` or ``"text"``. None: the environment's own first one.
            **more: Keyword arguments of the environment that a protocol sets, such as ``episodes``.

        Returns:
            The environment, as ``gymnasium.make`` gives it.
        """
        given = {"instance": self.instance, **dict(self.arguments), **more}
        if interface is not None:
            given["interface"] = interface
        if self.population is not None:
            given["population"] = self.population
        return gym.make(self.env_id, **given)

    def as_dict(self) -> dict[str, Any]:
        """Returns all that decides what is played, as JSON values: what a panel's hash is taken over.

        Raises:
            LevelError: Files are not there that it is read from.
        """
        made: Any = self.make().unwrapped if self.needs_data else None
        return {
            "name": self.name,
            "env_id": self.env_id,
            "population": self.population,
            "seats": list(self.seats),
            "instance": self.instance,
            "arguments": dict(self.arguments),
            **({} if made is None else {"data": made.world.data}),
        }


SCENARIOS: Registry[Scenario] = Registry("scenario", package="mage_envs.scenarios")
"""Scenario files register their scenarios here, under the scenario's name."""


def register(*scenarios: Scenario) -> None:
    """Adds scenarios to the registry under their names."""
    for scenario in scenarios:
        SCENARIOS.register(scenario.name, scenario)
