"""Bodies of chat completions, as servers write them; and the headers and bodies of those that refuse (PAINS T1, T4)."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_agent.backends.base import Completion
from mage_agent.backends.chat_reply import NotAReplyError, read_reply
from mage_agent.backends.endpoint import Endpoint, shown_url
from mage_agent.backends.http_faults import MAX_WORDS, http_fault, retry_after, server_words
from mage_agent.model_settings import ModelSettings

NAMES = st.sampled_from(["choices", "message", "content", "type", "text", "thinking", "usage"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("thinking"),
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
)


def body(message: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "bet"}, "bet", ""),
        ({"content": "hm</think>bet"}, "hm</think>bet", ""),
        ({"content": None}, "", ""),
        ({}, "", ""),
        ({"content": None, "reasoning_content": "bet"}, "", "bet"),
        ({"content": "", "reasoning": "bet"}, "", "bet"),
        ({"content": "bet", "reasoning_content": None, "reasoning": "hm"}, "bet", "hm"),
        ({"content": "bet", "reasoning_content": ["hm"]}, "bet", ""),
        ({"content": None, "refusal": "<action>bet</action>"}, "", "<action>bet</action>"),
        ({"content": [{"type": "text", "text": "b"}, {"type": "text", "text": "et"}]}, "bet", ""),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"text": "bet"}]},
            "bet",
            "hm",
        ),
        ({"content": [{"type": "thinking", "thinking": "hm"}, "bet", 3, {"type": "image"}]}, "bet", "hm"),
        ({"content": [{"type": "reasoning", "text": "hm"}, {"type": "output_text", "text": "bet"}]}, "bet", "hm"),
        ({"content": [{"type": "reasoning", "summary": [{"text": "hm"}]}, {"text": "bet"}]}, "bet", ""),
        ({"content": [{"type": "image_url", "text": "<action>bet</action>"}]}, "", "<action>bet</action>"),
        ({"content": [{"type": "refusal", "refusal": "<action>bet</action>"}]}, "", ""),
        ({"content": 3}, "", ""),
        ({"content": "half \ud800"}, "half ?", ""),
    ],
)
def test_what_a_message_says(message: dict[str, Any], text: str, reasoning: str) -> None:
    assert read_reply(body(message)) == Completion(text, reasoning)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("eos", "stop"), ("length", "length"), ("model_length", "length"), ("content_filter", "cut"),
     ("SAFETY", "cut"), ("abort", "cut"), ("error", "cut"), ("tool_calls", "other"),
     (None, "other"), (3, "other"), (["stop"], "other")],
)  # fmt: skip
def test_why_a_reply_ended(reason: Any, finish: str) -> None:
    assert read_reply(body({"content": "x"}, reason)).finish == finish


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 0}, (3, 0)),
        ({"prompt_tokens": 3}, (3, None)),
        ({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}, (3, 2)),
        ({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 105}, (3, 102)),
        ({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 0}, (3, 2)),
        ({"prompt_tokens": 3, "total_tokens": 9}, (3, 6)),
        ({"completion_tokens": 2, "total_tokens": 9}, (None, 2)),
        ({"prompt_tokens": -1, "completion_tokens": True}, (None, None)),
        (None, (None, None)),
        ([], (None, None)),
    ],
)
def test_what_it_cost(usage: Any, counts: tuple[int | None, int | None]) -> None:
    reply = read_reply(body({"content": "x"}, usage=usage))
    assert (reply.prompt_tokens, reply.completion_tokens) == counts


def test_the_first_of_several_choices_counts() -> None:
    several = body({"content": "one"})
    several["choices"].append({"index": 1, "message": {"content": "two"}})
    assert read_reply(several).text == "one"


@pytest.mark.parametrize(
    "found",
    [None, "x", [], {}, {"choices": []}, {"choices": None}, {"choices": [None]}, {"choices": [{"text": "bet"}]}],
)
def test_what_is_no_reply(found: Any) -> None:
    with pytest.raises(NotAReplyError):
        read_reply(found)


@given(JSON)
def test_anything_is_a_reply_or_said_to_be_none(found: Any) -> None:
    for value in (found, body(found), body({"content": found})):
        try:
            read_reply(value).text.encode()
        except NotAReplyError:
            continue


NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2"}, 2.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"Retry-After-Ms": "1500", "Retry-After": "9"}, 1.5),
        ({"retry-after-ms": "soon", "Retry-After": "9"}, 9.0),
        ({"Retry-After": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"Retry-After": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"Retry-After": formatdate(NOW + 930, usegmt=True), "Date": formatdate(NOW + 900, usegmt=True)}, 30.0),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "Mon, 99 Foo 2026"}, None),
        ({}, None),
    ],
)
def test_when_to_come_back(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, lambda: NOW) == seconds


@pytest.mark.parametrize(
    ("content", "words", "code"),
    [
        ('{"error": {"message": "no\\n such", "code": "x"}}', "no such", "x"),
        ('{"error": {"message": "no", "type": "t", "code": null}}', "no", "t"),
        ('{"error": "no"}', "no", ""),
        ('{"object": "error", "message": "no", "code": 40301}', "no", "40301"),
        ('{"detail": [{"loc": ["body"], "msg": "missing"}]}', '[{"loc": ["body"], "msg": "missing"}]', ""),
        ("<html>\n Bad  Gateway", "<html> Bad Gateway", ""),
        ("", "", ""),
        ("x" * 10_000, "x" * MAX_WORDS + " …", ""),
    ],
)
def test_what_a_refusal_says(content: str, words: str, code: str) -> None:
    assert server_words(content) == (words, code)


def test_a_secret_that_is_shortened_is_blotted_out_before() -> None:
    """A server that quotes the key where its words are cut off would show the first half of it."""
    endpoint = Endpoint(ModelSettings("openai", "m", api_key_env="K"), {"K": "sk-0123456789abcdef"})
    for content in ("x" * (MAX_WORDS - 9) + endpoint.key, '{"error": "' + "x" * (MAX_WORDS - 9) + endpoint.key + '"}'):
        fault = http_fault(400, {}, content, endpoint, model="m", limits="9")
        assert "x***" in str(fault)
        assert "sk-0" not in str(fault)


def test_an_address_shows_no_secret() -> None:
    settings = ModelSettings("openai", "m", base_url="https://me:pass%40word@host:1/v1/?key=1#x", api_key_env="K")
    found = Endpoint(settings, {"K": "sk-secret", "OPENAI_BASE_URL": "http://other"})
    assert (found.url, found.root) == ("https://host:1/v1", "https://host:1")
    assert repr(found) == "Endpoint('https://host:1/v1')"
    assert found.scrubbed("sk-secret pass@word pass%40word secret") == "*** *** *** secret"
    assert Endpoint(settings, {"K": "EMPTY"}).scrubbed("EMPTY") == "EMPTY"
    for bad in ("host/v1", "ftp://host", "http://", ""):
        with pytest.raises(ValueError, match="reads like"):
            shown_url(bad)
