"""One backend for all who ask the same model in one event loop, opened once, closed by the last."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from mage_agent.agents import make_agent
from mage_agent.backends import shared
from mage_agent.backends.base import BACKENDS, BackendError, Message, Request
from mage_agent.backends.fake import FakeBackend
from mage_agent.backends.shared import shared_backend
from mage_agent.model_settings import ModelSettings, Sampling
from mage_envs.errors import UnknownNameError

ONE = ModelSettings("fake", "first", sampling=Sampling(extra=(("stop", ["a"]),)))  # A list has no hash.
TWO = ModelSettings("fake", "any")


def test_equal_settings_share_and_the_last_user_closes() -> None:
    async def use() -> None:
        first, second, other = shared_backend(ONE), shared_backend(ONE), shared_backend(TWO)
        a, b, c = await asyncio.gather(first.open(), second.open(), other.open())
        assert a is b
        assert a is not c
        assert isinstance(a, FakeBackend)
        assert a.opened == 1
        await first.close()
        await first.close()
        assert a.closed == 0
        await second.close()
        assert a.closed == 1
        again = shared_backend(ONE)
        assert await again.open() is not a
        await again.close()
        await other.close()

    asyncio.run(use())
    assert not shared._shared


def test_each_event_loop_has_its_own_and_closed_loops_are_forgotten() -> None:
    async def left_open() -> Any:
        return await shared_backend(ONE).open()

    first, second = asyncio.run(left_open()), asyncio.run(left_open())
    assert first is not second
    asyncio.run(use_and_close())
    assert not shared._shared


async def use_and_close() -> None:
    lease = shared_backend(ONE)
    await lease.open()
    await lease.close()


def test_a_user_that_is_forgotten_does_not_keep_it_open() -> None:
    async def use() -> None:
        kept, forgotten = shared_backend(ONE), shared_backend(ONE)
        backend: Any = await forgotten.open()
        del forgotten
        gc.collect()
        await kept.close()
        assert backend.closed == 1

    asyncio.run(use())


def test_a_backend_that_could_not_be_opened_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shy(FakeBackend):
        async def open(self) -> None:
            await super().open()
            if self.opened == 1:
                raise BackendError("not yet")

    monkeypatch.setattr(BACKENDS, "_items", {name: BACKENDS.get(name) for name in BACKENDS})
    BACKENDS.register("shy", lambda settings: Shy([]))

    async def use() -> list[Any]:
        leases = [shared_backend(ModelSettings("shy", "")) for _ in range(2)]
        found = await asyncio.gather(*(lease.open() for lease in leases), return_exceptions=True)
        for lease in leases:
            await lease.close()
        return found

    failed, opened = asyncio.run(use())
    assert isinstance(failed, BackendError)
    assert isinstance(opened, Shy)


def test_an_unknown_backend_is_named() -> None:
    async def use() -> None:
        shared_backend(ModelSettings("fak", ""))

    with pytest.raises(UnknownNameError, match=r"unknown backend 'fak'\. Did you mean 'fake'"):
        asyncio.run(use())
    assert not shared._shared


def test_an_agent_takes_its_share_when_it_first_asks_and_gives_it_back() -> None:
    agent: Any = make_agent("zero_shot", ONE)

    async def ask() -> Any:
        backend = await agent.calls.backend()
        assert await agent.calls.backend() is backend
        await agent.close()
        await agent.close()
        return backend

    first, second = asyncio.run(ask()), asyncio.run(ask())  # Another loop: another backend.
    assert (first.closed, second.closed) == (1, 1)
    assert first is not second


def test_the_fake_models_of_the_command_line() -> None:
    listing = (Message("system", "- no"), Message("user", "- no\n\nYour legal actions:\n- pass\n- bet"))

    async def ask(model: str, draw: str, messages: tuple[Message, ...] = listing) -> str:
        lease = shared_backend(ModelSettings("fake", model))
        completion = await (await lease.open()).complete(Request(messages, draw))
        await lease.close()
        return completion.text

    assert asyncio.run(ask("first", "0/0")) == "<action>pass</action>"
    drawn = {asyncio.run(ask("any", f"0/{number}")) for number in range(20)}
    assert drawn == {"<action>pass</action>", "<action>bet</action>"}
    assert asyncio.run(ask("any", "0/1")) == asyncio.run(ask("any", "0/1"))
    assert asyncio.run(ask("<action>bet</action>", "0/0")) == "<action>bet</action>"
    for model in ("first", "any"):
        assert "action" not in asyncio.run(ask(model, "0/0", listing[:1]))


def test_a_script_that_is_at_its_end_is_an_error() -> None:
    async def ask() -> None:
        backend = FakeBackend(["a"])
        assert (await backend.complete(Request((), "0"))).text == "a"
        await backend.complete(Request((), "1"))

    with pytest.raises(BackendError, match="at its end"):
        asyncio.run(ask())
