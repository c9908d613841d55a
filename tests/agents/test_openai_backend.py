"""The backend ``openai`` against a server that fails in every way: never a move, the right error, no secret shown."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import pytest

from mage_agent.backends.base import BackendError, Completion, Message, Request
from mage_agent.backends.fault_server import FaultServer
from mage_agent.backends.injected_faults import FAULTS, TRANSIENT, in_order
from mage_agent.backends.openai import OpenAIBackend
from mage_agent.backends.retrying import LONGEST_TOLD, PERSISTENT
from mage_agent.errors import Overloaded
from mage_agent.model_settings import ModelSettings, Sampling
from tests.agents.asking import PROMPT, REPLY, REQUEST, Pauses, backend, chats, raw, refusal, using

pytest.importorskip("openai", reason="the extra openai is not installed")

BUSY = ("429", "429-seconds", "429-date", "429-ms", "503")
LATE = ("slow", "hang")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True, scope="module")
def warm() -> None:
    """Sends a request, so that no deadline is spent on what the client imports at its first one."""
    with FaultServer() as server:
        using(server, one, timeout=30.0)


async def one(made: OpenAIBackend) -> Completion:
    return await made.complete(REQUEST)


@pytest.mark.parametrize("kind", TRANSIENT)
def test_a_fault_that_passes_costs_one_more_request(kind: str) -> None:
    pauses = Pauses()
    with FaultServer(faults=in_order(kind), retry_after=2.0) as server:
        reply = using(server, one, pauses, timeout=0.5 if kind in LATE else 30.0)
        assert reply.text == REPLY
        assert chats(server) == 2
        assert server.seen[0].body == server.seen[1].body
    asked = {"429-seconds": 2.0, "429-ms": 2.0, "503": 2.0, "429-date": 0.9}.get(kind, 0.05)
    assert len(pauses) == 1
    assert asked <= pauses[0] <= max(0.15, asked + 1.2)


@pytest.mark.parametrize("kind", TRANSIENT)
def test_a_fault_that_stays_is_an_error_and_no_reply(kind: str) -> None:
    with FaultServer(faults=lambda body, before: kind) as server:
        error = Overloaded if kind in BUSY else BackendError
        with pytest.raises(error) as raised:
            using(server, one, timeout=0.1 if kind in LATE else 30.0, retries=2 if kind == "503" else 4)
        assert chats(server) == (3 if kind == "503" else PERSISTENT if kind in BUSY else 5)
    assert server.url in str(raised.value)
    if isinstance(raised.value, Overloaded) and kind in ("429-seconds", "429-ms", "503"):
        assert raised.value.retry_after == 1.0


@pytest.mark.parametrize("kind", sorted(set(FAULTS) - set(TRANSIENT)))
def test_an_odd_reply_is_a_reply_without_text(kind: str) -> None:
    with FaultServer(faults=in_order(kind)) as server:
        reply = using(server, one)
        assert chats(server) == 1
    assert (reply.text, reply.finish) == ("", "stop")
    assert reply.reasoning == ("I think and think." if kind == "null-reasoning" else "")


def test_a_long_pause_is_left_to_the_harness_and_bounded() -> None:
    pauses = Pauses()
    with (
        FaultServer(faults=in_order("429-seconds"), retry_after=86_400.0) as server,
        pytest.raises(Overloaded) as raised,
    ):
        using(server, one, pauses)
    assert (raised.value.retry_after, pauses, chats(server)) == (LONGEST_TOLD, [], 1)


def test_refusals_that_are_not_in_a_row_are_no_overload() -> None:
    with FaultServer(faults=in_order("429", "429", "429", "500", "429", "429")) as server:
        assert using(server, one, retries=8).text == REPLY


def test_pauses_grow_from_a_small_one_and_are_jittered() -> None:
    pauses = Pauses()
    with FaultServer(faults=in_order(*["500"] * 9)) as server:
        using(server, one, pauses, retries=9)
    factors = [pause / min(10.0, 0.1 * 2**number) for number, pause in enumerate(pauses)]
    assert all(0.5 <= factor <= 1.5 for factor in factors)
    assert len({round(factor, 3) for factor in factors}) == 9


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 422])
def test_what_is_wrong_is_not_sent_again(status: int) -> None:
    with FaultServer(lambda messages: refusal(status, "something is wrong")) as server:
        with pytest.raises(BackendError, match=f"answered {status}: something is wrong"):
            using(server, one)
        assert chats(server) == 1


@pytest.mark.parametrize(("key", "state"), [("sk-secret-word", "is not accepted"), ("", "is not set")])
def test_a_wrong_key_names_the_variable(monkeypatch: pytest.MonkeyPatch, key: str, state: str) -> None:
    monkeypatch.setenv("MY_KEY", key)
    with (
        FaultServer(lambda messages: refusal(401, f"bad key {key}")) as server,
        pytest.raises(BackendError, match=f"MY_KEY {state}") as raised,
    ):
        using(server, one, api_key_env="MY_KEY")
    assert server.seen[0].authorization == f"Bearer {key or 'no-key'}"
    assert not key or key not in str(raised.value)


def test_an_unknown_model_lists_near_matches() -> None:
    models = [{"id": "qwen3-4b"}, {"id": "llama"}]
    with FaultServer(lambda messages: refusal(404, "no such model"), models=models) as server:
        with pytest.raises(BackendError, match=r"has no model 'qwen-4b'\. Did you mean 'qwen3-4b'\?"):
            using(server, one, model="qwen-4b")
        server.models = None
        with pytest.raises(BackendError, match="Does the base URL end"):
            using(server, one, model="qwen-4b")


def test_a_prompt_that_does_not_fit_says_the_numbers() -> None:
    said = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"
    with (
        FaultServer(lambda messages: refusal(400, said, code="context_length_exceeded")) as server,
        pytest.raises(BackendError, match=r"4096 tokens.*5000 tokens.*and 64 tokens of reply do not fit"),
    ):
        using(server, one, sampling=Sampling(max_tokens=64))


@pytest.mark.parametrize(
    "said",
    ["System role not supported", "Developer instruction is not enabled for models/gemma-3-27b-it",
     "Only user and assistant roles are supported!", "Conversation roles must alternate user/assistant/user/assistant"],
)  # fmt: skip
def test_a_server_whose_model_knows_no_system_role_names_the_remedy(said: str) -> None:
    with (
        FaultServer(lambda messages: refusal(400, said)) as server,
        pytest.raises(BackendError, match=r"without a system message: --no-system-role"),
    ):
        using(server, one)


def test_an_empty_account_is_no_overload() -> None:
    with FaultServer(lambda messages: refusal(429, "You exceeded your quota", code="insufficient_quota")) as server:
        with pytest.raises(BackendError, match="no money left"):
            using(server, one)
        assert chats(server) == 1


def test_the_other_name_of_the_limit_is_found_once() -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

    with FaultServer() as server:
        server.script = lambda messages: (
            refusal(400, said, param="max_tokens") if "max_tokens" in server.seen[-1].body else REPLY
        )

        async def several(made: OpenAIBackend) -> list[str]:
            first = [await made.complete(REQUEST), await made.complete(REQUEST)]
            return [reply.text for reply in first]

        assert using(server, several) == [REPLY, REPLY]
    assert [seen.body.get("max_completion_tokens") for seen in server.seen] == [None, 1024, 1024]
    assert "max_tokens" not in server.seen[-1].body


def test_a_limit_that_is_too_large_is_not_sent_under_another_name() -> None:
    said = "'max_tokens' or 'max_completion_tokens' is too large: 9000. The maximum context length is 4096 tokens"
    with FaultServer(lambda messages: refusal(400, said)) as server:
        with pytest.raises(BackendError, match="do not fit"):
            using(server, one)
        assert chats(server) == 1


def test_slow_bytes_and_hangs_end_at_the_deadline() -> None:
    """Each read of a slow answer is quick; only all of them together are not."""
    for kind in ("slow", "hang"):
        with FaultServer(faults=lambda body, before, kind=kind: kind) as server:  # type: ignore[misc]
            begun = time.monotonic()
            with pytest.raises(BackendError, match=r"no whole answer within 0\.2 s"):
                using(server, one, timeout=0.2, retries=0)
            assert time.monotonic() - begun < 2.0


def test_cancelling_closes_the_connection() -> None:
    async def cancelled(made: OpenAIBackend) -> None:
        task = asyncio.create_task(made.complete(REQUEST))
        while not server.seen:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(100):
            if server.seen[0].left:
                return
            await asyncio.sleep(0.01)

    with FaultServer(faults=in_order("hang")) as server:
        using(server, cancelled)
        assert server.seen[0].left
        assert chats(server) == 1


def test_what_is_sent() -> None:
    sampling = Sampling(0.5, 0.9, 20, 100, (("reasoning_effort", "low"), ("min_p", 0.1)))
    with FaultServer() as server:
        using(server, one)
        using(server, one, sampling=sampling)
    bare, full = (seen.body for seen in server.seen)
    messages = [message._asdict() for message in PROMPT]
    assert bare == {"model": "scripted", "messages": messages, "max_tokens": 1024}
    assert full == {"model": "scripted", "messages": messages, "max_tokens": 100, "temperature": 0.5, "top_p": 0.9,
                    "top_k": 20, "reasoning_effort": "low", "min_p": 0.1}  # fmt: skip


@pytest.mark.parametrize("name", ["stop", "stream", "messages", "n"])
def test_extra_fields_that_would_break_replies_are_refused(name: str) -> None:
    with pytest.raises(BackendError, match=f"cannot set '{name}'"):
        OpenAIBackend(ModelSettings("openai", "m", sampling=Sampling(extra=((name, 1),))))


def test_errors_inside_a_good_status() -> None:
    with FaultServer(lambda messages: raw(200, {"error": {"code": 503, "message": "later"}})) as server:
        with pytest.raises(Overloaded, match="later"):
            using(server, one)
        server.script = lambda messages: raw(200, {"error": {"code": 401, "message": "who are you"}})
        with pytest.raises(BackendError, match="who are you"):
            using(server, one)
        for body in (b"<html>", b"", b'{"choices": "\xff\xfe"}', b"[" * 100_000):
            server.script = lambda messages, body=body: raw(200, body)  # type: ignore[misc]
            with pytest.raises(BackendError, match=r"not JSON \(tried 2 times\)"):
                using(server, one, retries=1)
        server.script = lambda messages: raw(200, b"<html>", **{"Content-Type": "text/html"})
        with pytest.raises(BackendError, match="not a JSON object"):
            using(server, one, retries=0)


def test_many_requests_at_once_get_their_own_replies() -> None:
    def script(messages: list[dict[str, Any]]) -> str:
        return f"seen {messages[0]['content']}"

    async def all_of_them(made: OpenAIBackend) -> list[Completion]:
        requests = [Request((Message("user", str(number)),), f"{number}/0") for number in range(200)]
        return await asyncio.gather(*map(made.complete, requests))

    with FaultServer(script, latency=0.2) as server:
        begun = time.monotonic()
        replies = using(server, all_of_them, timeout=30.0)
        assert time.monotonic() - begun < 30.0  # One after the other takes 40 s.
    assert [reply.text for reply in replies] == [f"seen {number}" for number in range(200)]


def test_it_can_be_closed_and_used_in_another_loop() -> None:
    async def use(made: OpenAIBackend) -> int | None:
        await asyncio.gather(made.open(), made.open())
        assert (await made.complete(REQUEST)).text == REPLY
        await made.close()
        await made.close()
        return made.context

    with FaultServer() as server:
        made = backend(server)
        assert [asyncio.run(use(made)) for _ in range(2)] == [8192, 8192]
        assert sum(seen.path == "/v1/models" for seen in server.seen) == 1


def test_a_loop_that_only_opens_leaves_no_connection() -> None:
    """The harness lets agents begin before a run, in loops of their own; an open socket would be warned about."""
    with FaultServer(tokenize=True) as server:
        for _ in range(2):
            asyncio.run(backend(server).open())


@pytest.mark.parametrize(
    ("entry", "context"),
    [
        ({"max_model_len": 4096}, 4096),
        ({"meta": {"n_ctx_train": 2048}}, 2048),
        ({"meta": {"n_ctx_train": 32768, "n_ctx": 2048}}, 2048),
        ({"context_length": 1000}, 1000),
        ({"max_model_len": None}, None),
        ({"max_model_len": "long"}, None),
    ],
)
def test_the_context_is_what_the_server_says(entry: dict[str, Any], context: int | None) -> None:
    async def found(made: OpenAIBackend) -> int | None:
        await made.open()
        return made.context

    with FaultServer(models=[{"id": "other", "max_model_len": 7}, {"id": "scripted", **entry}]) as server:
        assert using(server, found) == context
        assert using(server, found, context=99) == 99


def test_servers_need_no_list_of_models() -> None:
    with FaultServer(models=None) as server:

        async def found(made: OpenAIBackend) -> tuple[int | None, str, str]:
            await made.open()
            return made.context, made.counter, (await made.complete(REQUEST)).text

        assert using(server, found) == (None, "bytes", REPLY)


def test_a_server_that_is_not_there_is_told_at_once() -> None:
    with FaultServer() as server:
        pass
    pauses = Pauses()
    with pytest.raises(BackendError, match="Does the server run"):
        using(server, lambda made: made.open(), pauses)
    assert len(pauses) == 2


def test_the_hosted_default_wants_a_key() -> None:
    made = OpenAIBackend(ModelSettings("openai", "gpt"))
    assert made.base_url == "https://api.openai.com/v1"
    with pytest.raises(BackendError, match="set the environment variable OPENAI_API_KEY"):
        asyncio.run(made.open())


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert using(server, one, base_url=None).text == REPLY


def test_a_bad_base_url_is_refused() -> None:
    with pytest.raises(BackendError, match="reads like http://localhost:8000/v1"):
        OpenAIBackend(ModelSettings("openai", "m", base_url="localhost:8000"))


def test_without_the_client_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with FaultServer() as server, pytest.raises(BackendError, match=r"pip install 'mage-envs\[openai\]'"):
        using(server, one)
