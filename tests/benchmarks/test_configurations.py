"""What makes two runs different: the model and how it is asked, and not where it is or what nobody knew of it."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.configurations import differences


def config(**more: Any) -> dict[str, Any]:
    sampling = {"max_tokens": 9, "base_url": "http://a/v1", "context": 4096, "counter": "server"}
    sampling |= more.pop("sampling", {})
    card = {"name": "react", "model": "m", "revision": "1", "sampling": sampling} | more
    return {"seed": 0, "plays": {}, "agents": [card]}


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (config(), ""),
        (config(sampling={"base_url": "http://b/v1"}), ""),
        (config(revision=""), ""),
        (config(sampling={"context": None, "counter": None}), ""),
        (config(revision="2"), "revision of react ('1' there, '2' now)"),
        (config(model="n"), "model of react ('m' there, 'n' now)"),
        (config(sampling={"context": 2048}), "context of react (4096 there, 2048 now)"),
        (config(sampling={"context": None}), "context of react (4096 there, None now)"),
        (config(sampling={"chat_template": "no system role"}), ""),
        (config(sampling={"system_role": False}), "system_role of react (None there, False now)"),
        (config(sampling={"tokenizer": "t"}), "tokenizer of react (None there, 't' now)"),
        (config(sampling={"temperature": 0.5}), "temperature of react (None there, 0.5 now)"),
        (config(name="zero_shot"), "agents ('react' there, 'zero_shot' now)"),
        ({**config(), "seed": 1, "plays": {"x": ()}}, "seed (0 there, 1 now), plays"),
        ({**config(), "legal_actions_in_prompt": False}, "legal_actions_in_prompt (None there, False now)"),
    ],
)
def test_what_differs_is_named(now: dict[str, Any], said: str) -> None:
    assert differences(config(), now) == said
