"""Counting the tokens of a prompt before it is sent: by a tokenizer, by the server, or by an upper bound (PAINS C1)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from mage_agent.backends import token_counts
from mage_agent.backends.base import BackendError, Message
from mage_agent.backends.fault_server import FaultServer
from mage_agent.backends.injected_faults import in_order
from mage_agent.backends.openai import OpenAIBackend
from mage_agent.backends.token_counts import Remembered, byte_bound, load_tokenizer
from tests.agents.asking import PROMPT, using

needs_client = pytest.mark.skipif(find_spec("openai") is None, reason="the extra openai is not installed")


async def counted(made: OpenAIBackend) -> tuple[str, list[int]]:
    counts = [await made.count_tokens(PROMPT), await made.count_tokens(PROMPT), await made.count_tokens(PROMPT[:1])]
    return made.counter, counts


@needs_client
def test_a_server_that_counts_is_asked_once_for_each_prompt() -> None:
    with FaultServer(tokenize=True, models=None) as server:
        assert using(server, counted) == ("server", [11, 11, 2])
        assert [seen.path for seen in server.seen] == ["/v1/models", *["/tokenize"] * 3]
        assert server.seen[2].body == {"model": "scripted", "messages": [message._asdict() for message in PROMPT]}


@needs_client
def test_the_server_that_counts_says_its_context() -> None:
    async def context(made: OpenAIBackend) -> int | None:
        await made.open()
        return made.context

    with FaultServer(tokenize=True, models=None) as server:
        assert using(server, context) == 8192


@needs_client
def test_a_fault_is_no_sign_that_the_server_cannot_count() -> None:
    with FaultServer(tokenize=True, faults=in_order("500", "429", None, "reset", "half")) as server:
        assert using(server, counted) == ("server", [11, 11, 2])


@needs_client
def test_other_servers_get_an_upper_bound() -> None:
    with FaultServer() as server:
        counter, counts = using(server, counted)
    assert counter == "bytes"
    assert counts == [byte_bound(PROMPT), byte_bound(PROMPT), byte_bound(PROMPT[:1])]


@needs_client
def test_a_tokenizer_counts_with_its_chat_template(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the extra agent is not installed")
    from mage_agent.tiny.tokenizer import build_tokenizer

    folder = str(tmp_path / "tiny")
    build_tokenizer(8192).save_pretrained(folder)
    with FaultServer(tokenize=True) as server:
        counter, counts = using(server, counted, tokenizer=folder)
        assert [seen.path for seen in server.seen] == ["/v1/models"]
        with pytest.raises(BackendError, match="cannot load the tokenizer"):
            using(server, counted, tokenizer=str(tmp_path / "none"))
    tokenizer = load_tokenizer(folder)
    chat = [message._asdict() for message in PROMPT]
    whole = tokenizer.apply_chat_template(chat, tokenize=True, add_generation_prompt=True, return_dict=True)
    assert (counter, counts[0]) == ("tokenizer", len(whole["input_ids"]))
    assert counts[0] <= byte_bound(PROMPT)


@needs_client
def test_a_tokenizer_that_refuses_a_system_message_counts_its_words_all_the_same(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the extra agent is not installed")
    from mage_agent.tiny.tokenizer import build_tokenizer

    tokenizer = build_tokenizer(8192)
    tokenizer.chat_template = "{{ raise_exception('no') if messages[0].role == 'system' else messages[0].content }}"
    tokenizer.save_pretrained(tmp_path)
    with FaultServer() as server:
        _, counts = using(server, counted, tokenizer=str(tmp_path))
    assert counts[0] == len(tokenizer("\n\n".join(message.content for message in PROMPT))["input_ids"])


def test_without_transformers_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(BackendError, match="pip install"):
        load_tokenizer("any")


def test_counts_are_remembered_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_counts, "MOST_KEPT", 2)
    asked: list[Sequence[Message]] = []

    async def count(messages: Sequence[Message]) -> int:
        asked.append(messages)
        return len(asked)

    async def go() -> list[int]:
        remembered = Remembered(count)
        prompts = [(Message("user", text),) for text in ("a", "b", "a", "c", "a", "b")]
        return [await remembered(prompt) for prompt in (*prompts, (Message("system", "a"),))]

    assert asyncio.run(go()) == [1, 2, 1, 3, 1, 4, 5]
