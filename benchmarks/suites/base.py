"""What a suite is: scenarios, how many meta-episodes of each, and the protocol they are played by. Versioned.

A suite's version rises when anything that is hashed in its panel changes: rows of different versions are different
boards.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from mage_envs.registry import Registry
from mage_envs.scenarios import SCENARIOS, Scenario

MAX_META_EPISODES = 1_000_000


@dataclass(frozen=True)
class Protocol:
    """The conditions that are equal for all agents of a suite.

    Attributes:
        episodes: N, episodes in a meta-episode.
        max_invalid: So many answers in a row that cannot be played lose the episode.
        invalid_penalty: What each of them costs in reward.
        stop_on_success: Whether the first win ends the meta-episode.
        memory: The memory that the harness gives to an agent between episodes. ``"none"``: what an agent keeps is its
            own business, and within what it has seen in this meta-episode.
        legal_actions_in_prompt: Whether prompted agents are shown the list of legal actions.
    """

    episodes: int = 3
    max_invalid: int = 3
    invalid_penalty: float = 0.0
    stop_on_success: bool = False
    memory: str = "none"
    legal_actions_in_prompt: bool = True

    def env_arguments(self) -> dict[str, Any]:
        """Returns the keyword arguments that this protocol sets in an environment."""
        return {
            "episodes": self.episodes,
            "max_invalid": self.max_invalid,
            "invalid_penalty": self.invalid_penalty,
            "stop_on_success": self.stop_on_success,
        }

    def as_dict(self) -> dict[str, Any]:
        """Returns the protocol as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Part:
    """One scenario's share of a suite.

    Attributes:
        scenario: What is played.
        meta_episodes: How many, unless the caller asks for another number.
        agents: Who plays when no agent is named.
    """

    scenario: Scenario
    meta_episodes: int
    agents: tuple[str, ...]


@dataclass(frozen=True)
class Suite:
    """A benchmark.

    Attributes:
        name: Name in the registry and of its leaderboard file.
        version: A positive integer.
        summary: One sentence for ``benchmark list``.
        parts: The scenarios, in the order of the board.
        protocol: The conditions.
    """

    name: str
    version: int
    summary: str
    parts: tuple[Part, ...]
    protocol: Protocol = Protocol()

    @property
    def default_agents(self) -> tuple[str, ...]:
        """Every agent that plays when none is named, in the order of first mention."""
        return tuple(dict.fromkeys(agent for part in self.parts for agent in part.agents))

    def under(self, *, legal_actions_in_prompt: bool | None = None) -> Suite:
        """Returns this suite with another protocol: its panel has another hash, and its rows are other rows.

        Args:
            legal_actions_in_prompt: See :class:`Protocol`; None: as it is.
        """
        if legal_actions_in_prompt is None:
            return self
        return replace(self, protocol=replace(self.protocol, legal_actions_in_prompt=legal_actions_in_prompt))

    def make_env(self, scenario: Scenario, interface: str) -> Any:
        """Makes the environment of a scenario under this suite's protocol, see :func:`interface_in`."""
        return scenario.make(interface=interface_in(scenario, interface), **self.protocol.env_arguments())


def interface_in(scenario: Scenario, wanted: str) -> str:
    """Returns the interface that is played where one is wanted: text in a world that has nothing else."""
    world = None if scenario.population is not None else getattr(scenario.make().unwrapped, "world", None)
    return wanted if world is None or wanted in world.interfaces else "text"


def part(scenario: str, meta_episodes: int, *agents: str) -> Part:
    """Names a part by the name of its scenario."""
    return Part(SCENARIOS.get(scenario), meta_episodes, agents)


SUITES: Registry[Suite] = Registry("suite", package="benchmarks.suites")
"""Suite files register their suite here."""
