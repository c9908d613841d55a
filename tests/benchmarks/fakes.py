"""Agents, suites and records for the tests of the harness."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium as gym

from benchmarks.records import EpisodeRecord, Record
from benchmarks.suites.base import Part, Protocol, Suite
from mage_agent.agents import make_agent
from mage_agent.base import Agent, Briefing
from mage_envs.errors import MageError, UnsupportedGameError
from mage_envs.scenarios import Scenario

FORKSERVER = multiprocessing.get_context("forkserver")  # Quick, and without the threads of pytest-xdist.
FORKSERVER.set_forkserver_preload(["tests.benchmarks.fakes", "tests.benchmarks.awaited", "benchmarks.runner"])

KUHN = Scenario("test/kuhn", "mage/KuhnPoker-meta-v0", "for tests", "chips per hand", "kuhn/train")


def suite(size: int = 10, *agents: str, scenario: Scenario = KUHN, **protocol: Any) -> Suite:
    return Suite("test", 1, "for tests", (Part(scenario, size, agents or ("random",)),), Protocol(**protocol))


class Fake:
    """Plays the first legal action; subclasses break it."""

    oracle = False
    interface = "array"

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: list[Mapping[str, Any]] = []
        self.briefing: Briefing | None = None

    def begin(self, briefing: Briefing) -> None:
        self.briefing = briefing

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        self.seen.append(info)
        return info["view"].legal[0]

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> Any:
        self.seen.append(info)
        return 0


class Failing(Fake):
    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        raise ConnectionError("the server is gone")


class FailingAtSeat1(Fake):
    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        if info["seat"] == 1 and info["episode"] == 1:
            raise ConnectionError("the server is gone")
        return super().act(observation, info)


class Unsupported(Fake):
    def begin(self, briefing: Briefing) -> None:
        raise UnsupportedGameError("this agent plays chess only")


class Illegal(Fake):
    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return 99


class WrongType(Fake):
    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return None


class Mute(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise RuntimeError("this error cannot say what it is")


class Raising(Fake):
    """Raises what no harness expects."""

    errors: ClassVar[dict[str, BaseException]] = {
        "mute": Mute(),
        "half_a_surrogate": ValueError("x\ud800"),
        "endless": ValueError("x" * 100_000),
        "exits": SystemExit(3),
        "cancelled": asyncio.CancelledError(),
        "closed": GeneratorExit(),
    }

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        raise self.errors[self.name]


class ExitsAtOnce(Fake):
    def begin(self, briefing: Briefing) -> None:
        raise SystemExit(3)


class Huge(Fake):
    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return 10**5000


class Cheat(Fake):
    """Writes into what it is shown."""

    def reflect(self, observation: Any, info: Any) -> Any:
        info["episode_result"]["reward"] = 100.0
        info["seat"] = 7
        info.clear()
        return 0


class Writer(Fake):
    interface = "text"

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return f"I think… \n<action>{info['legal_actions'][-1]}</action>"

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return "line one\nline two ✓ \ud800"


class Oracle(Fake):
    oracle = True


FAKES = {
    "first": Fake,
    "failing": Failing,
    "failing_at_seat_1": FailingAtSeat1,
    "unsupported": Unsupported,
    "illegal": Illegal,
    "wrong_type": WrongType,
    "writer": Writer,
    "exits_at_once": ExitsAtOnce,
    "huge": Huge,
    "cheat": Cheat,
    **dict.fromkeys(Raising.errors, Raising),
    "oracle": Oracle,
}


def make_fake(spec: str) -> Agent:
    """Makes a fake, or else a real agent. Pickles by name."""
    return FAKES[spec](spec) if spec in FAKES else make_agent(spec)


class BuggyEnv(gym.Wrapper[Any, Any, Any, Any]):
    """Breaks in the first step."""

    def step(self, action: Any) -> Any:
        raise MageError("an opponent gave nonsense")


class BuggySuite(Suite):
    """A suite whose environments are broken."""

    def make_env(self, scenario: Scenario, interface: str) -> Any:
        return BuggyEnv(super().make_env(scenario, interface))


def episode(reward: float = 1.0, *, instance: str = "0", invalid: int = 0, forfeit: bool = False) -> EpisodeRecord:
    outcome = "win" if reward > 0 else "loss" if reward < 0 else "draw"
    return EpisodeRecord(
        instance=instance,
        seat=0,
        actions=(0,),
        reward=reward,
        outcome=outcome,
        length=1,
        invalid=invalid,
        forfeit=forfeit,
        reflection=None,
    )


def record(number: int = 0, *episodes: EpisodeRecord, agent: str = "random", **more: Any) -> Record:
    values: dict[str, Any] = {
        "agent": agent,
        "interface": "array",
        "scenario": "test/kuhn",
        "number": number,
        "opponent": "conservative",
        "described": "conservative: bets with the King",
        "seat": number % 2,
        "seed": number // 2,
        "status": "ok",
        "episodes": episodes,
    }
    return Record(**(values | more))


def ignore_progress(done: int, total: int, errors: int = 0) -> None:
    """Says nothing."""
