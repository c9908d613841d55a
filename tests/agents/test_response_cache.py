"""The response cache: what is the same request, what is never kept, several processes, kills, damage (PAINS R10)."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import random
import re
import signal
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mage_agent.backends.base import BackendError, Completion, Message, Request
from mage_agent.backends.fake import FakeBackend, Reply
from mage_agent.backends.response_cache import CachedBackend, cached
from mage_agent.backends.response_store import NAME, ResponseStore
from mage_agent.backends.shared import shared_backend
from mage_agent.errors import Overloaded
from mage_agent.model_settings import ModelSettings, Sampling

PROMPT = (Message("system", "rules"), Message("user", "view"))
REQUEST = Request(PROMPT, "1/0")
SETTINGS = ModelSettings("fake", "m")
COMPLETION = Completion("so \ud800 be it ✓", "thought", "length", 3, None)


class Placed(FakeBackend):
    base_url = "http://one/v1"


def ask(folder: Path, *requests: Request, settings: ModelSettings = SETTINGS, **backend: Any) -> list[Any]:
    """Asks a new backend whose replies tell which call they are. Returns replies, or what was raised."""
    made = Placed(backend.pop("script", lambda request: f"call {len(made.requests)}"), model=settings.model)
    for name, value in backend.items():
        setattr(made, name, value)

    async def go() -> list[Any]:
        wrapped = CachedBackend(made, settings, folder)
        await wrapped.open()
        found = [(await asyncio.gather(wrapped.complete(request), return_exceptions=True))[0] for request in requests]
        await wrapped.close()
        return found

    return asyncio.run(go())


def test_the_same_draw_is_not_sent_again(tmp_path: Path) -> None:
    first, second = ask(tmp_path, REQUEST, REQUEST)
    assert (first.text, first.cached) == ("call 1", False)
    assert second == first._replace(cached=True)
    (third,) = ask(tmp_path, REQUEST)
    assert third == second


def test_a_completion_comes_back_as_it_was(tmp_path: Path) -> None:
    ask(tmp_path, REQUEST, script=lambda request: COMPLETION)
    assert ask(tmp_path, REQUEST) == [COMPLETION._replace(cached=True)]


CHANGES: dict[str, Callable[[], tuple[Request, ModelSettings, dict[str, Any]]]] = {
    "draw": lambda: (REQUEST._replace(draw="2/0"), SETTINGS, {}),
    "prompt": lambda: (REQUEST._replace(messages=PROMPT[::-1]), SETTINGS, {}),
    "role": lambda: (REQUEST._replace(messages=(Message("user", "rules"), PROMPT[1])), SETTINGS, {}),
    "cut": lambda: (REQUEST._replace(messages=(Message("system", "rulesview"),)), SETTINGS, {}),
    "model": lambda: (REQUEST, replace(SETTINGS, model="n"), {}),
    "backend": lambda: (REQUEST, replace(SETTINGS, backend="openai"), {}),
    "revision": lambda: (REQUEST, SETTINGS, {"revision": "2"}),
    "base_url": lambda: (REQUEST, SETTINGS, {"base_url": "http://two/v1"}),
    "temperature": lambda: (REQUEST, replace(SETTINGS, sampling=Sampling(temperature=0.0)), {}),
    "top_p": lambda: (REQUEST, replace(SETTINGS, sampling=Sampling(top_p=0.5)), {}),
    "top_k": lambda: (REQUEST, replace(SETTINGS, sampling=Sampling(top_k=5)), {}),
    "max_tokens": lambda: (REQUEST, replace(SETTINGS, sampling=Sampling(max_tokens=5)), {}),
    "extra": lambda: (REQUEST, replace(SETTINGS, sampling=Sampling(extra=(("a", {"b": 1}),))), {}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_decides_a_reply_is_in_the_key(tmp_path: Path, change: str) -> None:
    ask(tmp_path, REQUEST)
    request, settings, backend = CHANGES[change]()
    for cached_now in (False, True):
        (found,) = ask(tmp_path, request, settings=settings, **backend)
        assert found.cached == cached_now


def test_the_tokenizer_of_a_local_model_decides_its_replies(tmp_path: Path) -> None:
    for tokenizer in (None, "t", "u"):
        (found,) = ask(tmp_path, REQUEST, settings=replace(SETTINGS, tokenizer=tokenizer), base_url="")
        assert not found.cached


def test_what_decides_no_reply_is_not_in_the_key(tmp_path: Path) -> None:
    settings = replace(SETTINGS, sampling=Sampling(extra=(("a", 1), ("b", 2))))
    ask(tmp_path, REQUEST, settings=settings)
    other = replace(
        settings,
        retries=1,
        timeout=3.0,
        tokenizer="t",
        sampling=Sampling(extra=(("b", 2), ("a", 1))),
        api_key_env="KEY",
    )
    (found,) = ask(tmp_path, REQUEST, settings=other)
    assert found.cached


@pytest.mark.parametrize("fault", [BackendError("no"), Overloaded(1.0), RuntimeError("a bug")])
def test_failures_are_not_kept(tmp_path: Path, fault: Exception) -> None:
    replies: list[Reply] = [fault, "good"]
    found = ask(tmp_path, REQUEST, REQUEST, REQUEST, script=lambda request: replies.pop(0))
    assert found == [fault, Completion("good", prompt_tokens=4, completion_tokens=1), found[1]._replace(cached=True)]


def test_agents_get_it_when_the_settings_name_a_folder(tmp_path: Path) -> None:
    async def reply() -> Completion:
        lease = shared_backend(replace(SETTINGS, cache=tmp_path / "new" / "folder"))
        found = await (await lease.open()).complete(REQUEST)
        await lease.close()
        return found

    assert [asyncio.run(reply()).cached for _ in range(2)] == [False, True]
    backend = FakeBackend([])
    assert cached(backend, SETTINGS) is backend


def test_it_says_what_the_backend_says_and_is_closed_with_it(tmp_path: Path) -> None:
    async def go() -> None:
        inner = FakeBackend(["a"], model="m", context=9)
        wrapped = CachedBackend(inner, SETTINGS, tmp_path)
        await wrapped.complete(REQUEST)  # Opens it.
        assert (wrapped.model, wrapped.revision, wrapped.context, wrapped.counter) == ("m", "1", 9, "words")
        assert await wrapped.count_tokens(PROMPT) == 4
        await wrapped.close()
        await wrapped.close()
        assert (inner.opened, inner.closed) == (1, 2)

    asyncio.run(go())


def test_an_unknown_revision_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        ask(tmp_path, REQUEST, revision="")
    assert "may be an older model's" in caplog.text


def damaged_file(path: Path) -> None:
    path.write_bytes(b"no data base" * 1000)


def damaged_pages(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:] = b"\xff" * (len(content) - 100)
    path.write_bytes(bytes(content))


def changed_reply(path: Path) -> None:
    base = sqlite3.connect(path)
    with base:
        base.execute("UPDATE replies SET reply = replace(reply, 'call', 'move')")
    base.close()


@pytest.mark.parametrize("damage", [damaged_file, damaged_pages, changed_reply])
def test_damage_is_an_error_with_a_remedy_and_never_a_reply(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    ask(tmp_path, REQUEST)
    damage(tmp_path / NAME)
    try:
        (found,) = ask(tmp_path, REQUEST)
    except BackendError as error:
        found = error
    assert isinstance(found, BackendError)
    assert re.search(rf"{NAME} cannot be used.*delete it", str(found))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BackendError, match="cannot open the response cache"):
        ask(tmp_path / "file", REQUEST)


def test_a_reply_that_cannot_be_kept_is_still_a_reply(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ResponseStore(tmp_path)
    store.close()
    store.put("key", COMPLETION)
    assert "is not kept" in caplog.text


def _write(folder: Path, writer: int, kill_after: float | None) -> None:
    store = ResponseStore(folder)
    if kill_after is not None:
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, kill_after)
    for number in range(10**6 if kill_after else 200):
        key = f"{writer}/{number}"
        store.put(key, Completion(key * 100))
        assert store.get(key) == Completion(key * 100, cached=True)
    store.close()


def test_several_processes_and_kills_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    rng = random.Random(0)
    waits = [None, None, rng.uniform(0.02, 0.1), rng.uniform(0.02, 0.1)]
    processes = [context.Process(target=_write, args=(tmp_path, *place)) for place in enumerate(waits)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, -signal.SIGKILL, -signal.SIGKILL]
    store = ResponseStore(tmp_path)
    for writer in (0, 1):
        assert all(store.get(f"{writer}/{number}") for number in range(200))
    store.close()
    base = sqlite3.connect(tmp_path / NAME)
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    base.close()
