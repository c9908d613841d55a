"""Agents that wait, and their twins that answer at once: same name, same seed, same answers."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from typing import Any, ClassVar

from mage_agent.base import Agent, Briefing, agent_generator
from mage_agent.errors import Overloaded
from tests.benchmarks.fakes import Fake, make_fake


class Drawing(Fake):
    """Answers at once: draws a legal action, and reflects by a number."""

    def begin(self, briefing: Briefing) -> Any:
        self.rng = agent_generator(briefing.seed)

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return int(self.rng.choice(info["view"].legal))

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return int(self.rng.integers(100))


class Waiting(Drawing):
    """The same, after a delay that nobody can foresee. Counts how many meta-episodes are in flight."""

    seconds = 0.002
    in_flight: ClassVar[set[object]] = set()
    most: ClassVar[int] = 0
    busy = False

    async def begin(self, briefing: Briefing) -> None:
        await self.wait()
        super().begin(briefing)

    async def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        self.in_flight.add(self)
        Waiting.most = max(Waiting.most, len(self.in_flight))
        await self.wait()
        if info["episode"] == info["episodes"] - 1:
            self.in_flight.discard(self)
        return super().act(observation, info)

    async def reflect(self, observation: Any, info: Mapping[str, Any]) -> Any:
        await self.wait()
        return super().reflect(observation, info)

    async def wait(self) -> None:
        assert not self.busy, "one object plays one meta-episode at a time"
        self.busy = True
        await asyncio.sleep(random.random() * self.seconds)
        self.busy = False


class Hanging(Drawing):
    """Does not answer in the second episode from seat 1."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        if info["seat"] == 1 and info["episode"] == 1:
            self.hang()
        return super().act(observation, info)

    def hang(self) -> None:
        time.sleep(60)


class Spinning(Hanging):
    def hang(self) -> None:
        while True:
            pass


class Stubborn(Hanging):
    """Takes every error for one of its server, and tries again."""

    def hang(self) -> None:
        while True:
            try:
                time.sleep(60)
            except Exception:  # noqa: BLE001
                continue


class AwaitedHanging(Drawing):
    async def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        if info["seat"] == 1 and info["episode"] == 1:
            await asyncio.sleep(60)
        return super().act(observation, info)


class AwaitedRaising(Drawing):
    """Raises what an event loop could take for its own."""

    errors: ClassVar[dict[str, BaseException]] = {
        "cancelled": asyncio.CancelledError(),
        "timeout": TimeoutError("the server is slow"),
        "exits": SystemExit(3),
        "lost": ConnectionError("the server is gone"),
    }

    async def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        await asyncio.sleep(0)
        raise self.errors[self.name.removeprefix("awaited_")]


class Busy(Drawing):
    """Its server has too much to do: for ever, or for the first two times that each decision is asked for."""

    retry_after: float | None = 0.0

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.tries = 0

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        self.tries += 1
        if self.name == "always_busy" or self.tries % 3:
            raise Overloaded(self.retry_after, "503 from the server")
        return super().act(observation, info)


class AwaitedBusy(Busy):
    async def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        await asyncio.sleep(0)
        return super().act(observation, info)


class Recording(Drawing):
    def begin(self, briefing: Briefing) -> None:
        super().begin(briefing)
        self.record_call = briefing.record_call

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        answer = super().act(observation, info)
        if self.record_call is not None:
            self.record_call({"prompt": ["…", info["episode"]], "reply": answer})
        return answer


def make_at_once(name: str) -> Agent:
    kinds = {"hanging": Hanging, "spinning": Spinning, "stubborn": Stubborn, "busy": Busy, "always_busy": Busy,
             "drawing": Drawing, "recording": Recording}  # fmt: skip
    return kinds[name](name) if name in kinds else make_fake(name)


def make_awaited(name: str) -> Agent:
    kinds = {"hanging": AwaitedHanging, "busy": AwaitedBusy, "always_busy": AwaitedBusy, "drawing": Waiting}
    if name.removeprefix("awaited_") in AwaitedRaising.errors:
        return AwaitedRaising(name)
    return kinds[name](name) if name in kinds else make_at_once(name)
