"""A real server, a real model: the tiny one behind ``transformers serve``, and in this process through the harness."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra agent")
pytest.importorskip("transformers", reason="needs the extra agent")

from mage_agent.backends.base import BACKENDS, BackendError, Completion, Message, Request
from mage_agent.model_settings import ModelSettings, Sampling
from mage_agent.tiny.build import build_model
from tests.agents.real_server import free_port, played, serving

SAMPLING = Sampling(temperature=1.0, max_tokens=32)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def url(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if missing := [name for name in ("uvicorn", "fastapi", "openai") if find_spec(name) is None]:
        pytest.skip(f"needs {', '.join(missing)}: pip install 'transformers[serving]'")
    port, code = free_port(), "from transformers.cli.transformers import main; main()"
    command = [sys.executable, "-c", code, "serve", str(tiny), "--host", "127.0.0.1", "--port", str(port)]
    command += ["--device", "cpu", "--default-seed", "1"]
    with serving(command, port, tmp_path_factory.mktemp("log") / "server.log", seconds=120) as base_url:
        yield base_url


def served(url: str, tiny: Path, model: str | None = None) -> ModelSettings:
    return ModelSettings(
        "openai", model or str(tiny), base_url=url, tokenizer=str(tiny), context=8192, sampling=SAMPLING, timeout=60.0
    )


def ask(settings: ModelSettings, requests: list[Request]) -> tuple[list[Completion], list[int]]:
    """Returns replies to requests that are all in flight at once, and the counts of their prompts."""

    async def main() -> tuple[list[Completion], list[int]]:
        backend = BACKENDS.get(settings.backend)(settings)
        await backend.open()
        try:
            counts = [await backend.count_tokens(request.messages) for request in requests]
            return list(await asyncio.gather(*map(backend.complete, requests))), counts
        finally:
            await backend.close()

    return asyncio.run(main())


def requests(number: int) -> list[Request]:
    return [
        Request((Message("system", "Rules: é ≥ 3."), Message("user", f"view {index}")), f"7/{index}")
        for index in range(number)
    ]


def test_concurrent_chats_with_a_real_server(url: str, tiny: Path) -> None:
    replies, counts = ask(served(url, tiny), requests(6))
    assert len({reply.text for reply in replies}) == 6
    for reply, count in zip(replies, counts, strict=True):
        assert reply.prompt_tokens == count
        assert reply.completion_tokens is not None
        assert 0 < reply.completion_tokens <= 32
        assert reply.finish == ("length" if reply.completion_tokens == 32 else "stop")


def test_a_model_that_the_server_has_not_is_an_error(url: str, tiny: Path) -> None:
    with pytest.raises(BackendError, match=r"answered 400.*pinned to"):
        ask(served(url, tiny, model="another"), requests(1))


def test_the_harness_plays_a_real_server(url: str, tiny: Path, tmp_path: Path) -> None:
    records = played(served(url, tiny), tmp_path / "run", ["zero_shot"], 2)
    assert len(records) == 2
    for record in records:
        assert record.status in ("ok", "forfeit"), record.error
        assert record.usage is not None
        assert record.usage.calls >= 1
        assert (record.usage.prompt_tokens or 0) > 1000
        assert (record.usage.completion_tokens or 0) >= record.usage.calls


def test_the_harness_plays_the_model_in_process_twice_the_same_in_other_batches(tmp_path: Path) -> None:
    """In float64 not even the last digits tell in which batch a prompt was."""
    folder = build_model(tmp_path / "model", hidden=32, layers=1, heads=2, dtype="float64")
    first, second = (
        played(
            ModelSettings("transformers", str(folder), device="cpu", sampling=SAMPLING, batch=batch),
            tmp_path / f"batch{batch}",
            ["zero_shot", "reflective"],
            2,
        )
        for batch in (8, 3)
    )
    assert len(first) == 4
    assert {record.status for record in first} <= {"ok", "forfeit"}, [record.error for record in first]
    assert [record.line() for record in first] == [record.line() for record in second]
    for record in first:
        assert record.usage is not None
        assert record.usage.calls >= (5 if "reflective" in record.agent else 3)  # A forfeit takes several.
        assert record.usage.prompts
