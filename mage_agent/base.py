"""What an agent is: three methods, no dependency. Scripted, prompted and trained agents are the same to the harness.

An agent that waits (for a server) writes its methods as coroutines, ``async def``; many of its meta-episodes are then
in flight at once. One that computes writes plain methods, and is run in processes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from mage_envs.envs.meta_episode import Instance
from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GameSpec
from mage_envs.worlds import World

_AGENT = int.from_bytes(b"agent", "big")
"""The spawn key of agents' generators."""

RecordCall: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Keeps one call of a model: JSON values, such as prompt, reply, and whatever helps to look into it later."""


@dataclass(frozen=True)
class Briefing:
    """What an agent is told before a meta-episode.

    Attributes:
        spec: The game or world; :attr:`game` and :attr:`world` are for those who need one of the two.
        rules: Its rules in words.
        episodes: N, the number of episodes.
        population: Spec strings of the opponents that may come, with weights; the one that comes stays hidden.
        seed: The agent's seed, for :func:`agent_generator`. It may be the environment's.
        opponent: The spec of the hidden opponent. None, except for agents that declare themselves an oracle.
        seats: The agent's seat in each episode. None if nobody knows before the episode.
        instance: ``"fresh"`` if each episode has its own instance, ``"replay"`` if all have one. None: it is not told.
        record_call: Keeps a call of a model beside the record of this meta-episode, if the run was asked to
            (``benchmark run --calls``); else None.
        legal_actions_in_prompt: Whether the suite's protocol wants the legal actions listed in a prompt. An agent that
            shows its view in words obeys it; nothing else depends on it.
    """

    spec: GameSpec | World
    rules: str
    episodes: int
    population: tuple[tuple[str, float], ...]
    seed: int
    opponent: str | None = None
    seats: tuple[int, ...] | None = None
    instance: Instance | None = None
    record_call: RecordCall | None = None
    legal_actions_in_prompt: bool = True

    @property
    def game(self) -> GameSpec:
        """The game.

        Raises:
            UnsupportedGameError: A world is played.
        """
        if not isinstance(self.spec, GameSpec):
            raise UnsupportedGameError(f"this agent plays games, not the world {self.spec.title}")
        return self.spec

    @property
    def world(self) -> World:
        """The world.

        Raises:
            UnsupportedGameError: A game is played.
        """
        if not isinstance(self.spec, World):
            raise UnsupportedGameError(f"this agent plays in worlds, not the game {self.spec.name!r}")
        return self.spec


class Usage(NamedTuple):
    """What an agent's calls of a model came to in one meta-episode. Retries, cache hits and times are not in it.

    It is what was asked and answered, not how often or how long a server was asked: the same replies give the same
    usage in every run, so that records stay the same.

    Attributes:
        calls: Prompts that were answered.
        prompt_tokens: Tokens that the model read; None if unknown for any call.
        completion_tokens: Tokens that it wrote, thoughts included; None if unknown for any call.
        cost: US dollars for these tokens; None if unknown.
        memory_truncated: Prompts whose memory was shortened to fit.
        prompts: SHA-256 over all prompts sent, in order, as hexadecimal digits; empty if there were none.
    """

    calls: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    memory_truncated: int = 0
    prompts: str = ""


class Agent(Protocol):
    """A player of meta-episodes. One object plays one meta-episode at a time.

    Each method may be a coroutine (``async def``) that returns the same. If one is, the agent is awaited in an event
    loop with many others of its kind, an object for each meta-episode in flight, and must not block the loop. A method
    that is told of a busy server raises :class:`mage_agent.errors.Overloaded`, and is called again.

    A method ``card() -> Mapping[str, Any]`` is optional: what a board and a manifest say of the agent, any of
    ``model``, ``revision``, ``memory``, ``prompt_hash`` (text) and ``sampling`` (JSON values: temperature …).

    An attribute ``also_text`` is optional: whether an agent that plays arrays answers in words where a world has no
    arrays.

    A method ``end(observation)`` is optional: it is shown how the last episode ended, which nobody is asked about. It
    returns nothing.

    A method ``usage() -> Usage`` is optional: what the calls of a model came to since :meth:`begin`. It is asked once,
    when the meta-episode is over, also if the agent failed (but not if it failed to begin), and is no coroutine.

    Attributes:
        name: As it is written on a leaderboard; the spec that makes it, such as ``"mcts(simulations=100)"``.
        oracle: Whether its scores are ceilings that were played and no results of learning: it may read the hidden
            opponent in its briefing, or plays what was computed as the best for the population. Its rows are labelled
            and not ranked.
        interface: Which interface of the environment it plays: ``"array"`` or ``"text"``.
    """

    name: str
    oracle: bool
    interface: str

    def begin(self, briefing: Briefing) -> Awaitable[None] | None:
        """Starts a meta-episode and forgets the last one."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """Returns an action for a step in phase ``play``; ``info["view"]`` is the agent's view."""

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """Is shown the terminal view of an episode; returns the free action of phase ``reflect``."""


def agent_generator(seed: int) -> np.random.Generator:
    """Returns the generator of an agent: never that of an environment with the same seed, or any other below 2**128.

    Environments take the numbers of ``numpy.random.default_rng(seed)``, the first of which chooses the hidden opponent.
    A spawn key keeps streams apart that grow from one seed; NumPy pads the seed before it, so that no shorter seed
    alone can give the same.

    Args:
        seed: At least 0.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_AGENT,)))
