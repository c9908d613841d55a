"""vLLM, its own server and its engine in this process, with the tiny model. ``make test-vllm`` runs this."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

pytest.importorskip("vllm", reason="needs vLLM: make test-vllm")

from mage_agent.backends.base import BACKENDS, Backend, BackendError, Completion, Message, Request
from mage_agent.model_settings import ModelSettings, Sampling
from mage_agent.tiny.build import build_model
from tests.agents.real_server import free_port, played, serving

DRAWN = Sampling(temperature=1.0, max_tokens=32)
GREEDY = Sampling(temperature=0.0, max_tokens=32)
ENGINE = (("dtype", "float32"), ("enforce_eager", True))
REQUESTS = [Request((Message("system", "Rules: é ≥ 3."), Message("user", f"view {n}")), f"7/{n}") for n in range(6)]
TOO_LONG = Request((Message("user", "x" * 3000),), "7/0")


@pytest.fixture(scope="module", autouse=True)
def little_memory() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        yield


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("models"), context=3000)


@pytest.fixture(scope="class")
def url(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(tiny)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--max-num-seqs", "16", "--dtype", "float32"]
    with serving([*command, "--enforce-eager"], port, tmp_path_factory.mktemp("log") / "server.log", 300) as base_url:
        yield base_url


async def replies(backend: Backend, requests: Sequence[Request]) -> list[Completion]:
    return list(await asyncio.gather(*map(backend.complete, requests)))


def greedy_by_transformers(tiny: Path) -> list[str]:
    async def main() -> list[str]:
        backend = BACKENDS.get("transformers")(ModelSettings("transformers", str(tiny), device="cpu", sampling=GREEDY))
        try:
            return [reply.text for reply in await replies(backend, REQUESTS)]
        finally:
            await backend.close()

    return asyncio.run(main())


class TestServer:
    def test_chats_counts_and_limits(self, url: str, tiny: Path) -> None:
        async def main() -> None:
            backend = BACKENDS.get("openai")(ModelSettings("openai", str(tiny), base_url=url, sampling=DRAWN))
            await backend.open()
            try:
                assert (backend.context, backend.counter) == (3000, "server")
                for request, reply in zip(REQUESTS, await replies(backend, REQUESTS), strict=True):
                    assert reply.prompt_tokens == await backend.count_tokens(request.messages)
                    assert 0 < (reply.completion_tokens or 0) <= 32
                    assert reply.finish in ("length", "stop")
                with pytest.raises(BackendError, match="400"):
                    await backend.complete(TOO_LONG)
            finally:
                await backend.close()

        asyncio.run(main())

    def test_the_harness_plays_it(self, url: str, tiny: Path, tmp_path: Path) -> None:
        records = played(
            ModelSettings("openai", str(tiny), base_url=url, sampling=DRAWN), tmp_path / "run", ["zero_shot"], 2
        )
        assert {record.status for record in records} <= {"ok", "forfeit"}, [record.error for record in records]
        assert len(records) == 2


class TestInProcess:
    def test_replies_are_those_of_transformers_if_nothing_is_drawn(self, tiny: Path) -> None:
        sampling = Sampling(temperature=0.0, max_tokens=32, extra=ENGINE)

        async def main() -> list[Completion]:
            backend = BACKENDS.get("vllm")(ModelSettings("vllm", str(tiny), sampling=sampling, batch=16))
            await backend.open()
            try:
                assert backend.context == 3000
                with pytest.raises(BackendError, match="3003 tokens, and with 32 for the reply"):
                    await backend.complete(TOO_LONG)
                found = await replies(backend, REQUESTS)
                assert found[0].prompt_tokens == await backend.count_tokens(REQUESTS[0].messages)
                return found
            finally:
                await backend.close()

        found = asyncio.run(main())
        assert [reply.text for reply in found] == greedy_by_transformers(tiny)
        assert {reply.finish for reply in found} <= {"length", "stop"}

    def test_the_harness_plays_it(self, tiny: Path, tmp_path: Path) -> None:
        sampling = Sampling(temperature=1.0, max_tokens=16, extra=ENGINE)
        records = played(ModelSettings("vllm", str(tiny), sampling=sampling), tmp_path / "run", ["zero_shot"], 2)
        assert {record.status for record in records} <= {"ok", "forfeit"}, [record.error for record in records]
        assert len(records) == 2
