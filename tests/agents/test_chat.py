"""``mage-agent chat``: a meta-episode as a person sees it."""

from __future__ import annotations

import asyncio
import io
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from mage_agent import cli
from mage_agent.agents import make_agent
from mage_agent.backends.base import Completion
from mage_agent.backends.fake import FakeBackend
from mage_agent.chat import Shown, chat
from mage_agent.language import LanguageAgent
from mage_envs.scenarios import SCENARIOS

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def mage_agent(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def go(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["mage-agent", *arguments])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        return int(caught.value.code or 0), *capsys.readouterr()

    return go


def shown(script: Any, *, terminal: bool = False, spec: str = "react", **more: Any) -> str:
    told = io.StringIO()
    agent = make_agent(spec, FakeBackend(script))
    assert isinstance(agent, LanguageAgent)
    how: dict[str, Any] = {"episodes": 1, "seed": 1, "options": {"opponent": "aggressive", "seat": 0}, **more}
    console = Console(file=told, width=80, force_terminal=terminal, highlight=False)
    asyncio.run(chat(SCENARIOS.get("kuhn/train"), agent, Shown(console), **how))
    return told.getvalue()


def test_prompts_replies_reflections_and_tokens_are_shown(mage_agent: Run) -> None:
    code, out, err = mage_agent(
        *("chat", "--agent", "reflective", "--backend", "fake", "--model", "any", "--seed", "3", "--episodes", "2")
    )
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert out.count("Kuhn poker, two players") == 2  # For actions, for reflections.
    assert "[system] as in call 1" in out
    for text in ("Episode 1 of 2, call 1 ──", "Kept as its reflection.", "What you wrote after episode 1:"):
        assert text in out
    assert "Read as: ok" in out
    assert "The episode is over: " in out
    scored = r"Score against \w+: [+-]\d, [+-]\d \(chips per hand\)\. Seed 3\."
    assert re.search(scored + r"\n\d calls, [\d,]+ tokens read, \d+ written\.\n$", out)
    same = ("chat", "--backend", "fake", "--model", "any", "--seed", "3")
    assert mage_agent(*same) == mage_agent(*same)


def test_how_a_reply_was_read_is_shown() -> None:
    replies = ["<action>fold</action>", "bet or pass", Completion("so <action>be", finish="length"), "…"]
    out = shown(replies)
    assert re.findall("Read as: (.*)", out) == ["illegal", "unparsable", "truncated"]
    assert "The reply was cut at the limit of tokens." in out
    assert "The episode is over: loss by forfeit" in out


def test_thoughts_are_dimmed_and_an_empty_reply_is_named() -> None:
    replies = [
        Completion("<think>hm</think><action>bet</action>", reasoning="let me see"),
        Completion("", completion_tokens=None),
    ]
    out = shown(replies, terminal=True, options={"opponent": "conservative", "seat": 1}, episodes=1)
    assert "\x1b[2mlet me see" in out
    assert "\x1b[2m<think>hm</think>" in out
    assert "\x1b[36m<action>bet</action>" in out
    assert "(nothing)" in shown([""] * 3)


def test_no_reply_commands_the_terminal() -> None:
    out = shown([Completion("\x1b[2J<action>bet</action>\r", reasoning="\x9b2J")] * 3)
    assert not set(out) & {"\x1b", "\x9b", "\r"}
    assert "\ufffd[2J<action>bet</action>" in out


def test_the_list_of_legal_actions_can_be_hidden() -> None:
    assert "Your legal actions" in shown(["<action>pass</action>"] * 3)
    assert "Your legal actions" not in shown(["<action>pass</action>"] * 3, legal_actions=False)


def test_the_backend_is_closed_also_after_an_error(mage_agent: Run) -> None:
    backend = FakeBackend([])
    agent = make_agent("react", backend)
    assert isinstance(agent, LanguageAgent)
    closed = []

    async def close() -> None:
        closed.append(True)

    agent.close = close  # type: ignore[method-assign]
    how: dict[str, Any] = {"episodes": 1, "seed": 1, "options": {}}
    with pytest.raises(Exception, match="at its end"):
        asyncio.run(chat(SCENARIOS.get("kuhn/train"), agent, Shown(Console(file=io.StringIO())), **how))
    assert closed == [True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "a language agent needs a model: name it with --backend and --model"),
        (("--agent", "thompson", "--backend", "fake", "--model", "any"), "thompson asks no model"),
        (("--backend", "fike", "--model", "any"), "unknown backend 'fike'. Did you mean 'fake'?"),
        (("--backend", "fake"), "--backend says how a model is asked, and no --model says which"),
        (("--scenario", "kuhn/trian", "--backend", "fake", "--model", "any"), "Did you mean 'kuhn/train'"),
        (("--backend", "fake", "--model", "any", "--memory", "histroy"), "history"),
        (("--backend", "fake", "--model", "any", "--opponent", "agressive"), "Did you mean 'aggressive'"),
        (("--backend", "fake", "--model", "any", "--seat", "7"), "seat"),
    ],
)
def test_mistakes_are_one_clear_line(mage_agent: Run, arguments: tuple[str, ...], message: str) -> None:
    code, _, err = mage_agent("chat", *arguments)
    assert code == 2
    assert err.startswith("mage-agent: ")
    assert message in err
    assert err.count("\n") == 1


def test_the_list_names_language_agents_what_they_see_and_backends(mage_agent: Run) -> None:
    code, out, _ = mage_agent("list")
    words = " ".join(out.split())
    assert code == 0
    assert "own reflections." in words
    assert "fake a model that is a script." in words
    assert max(map(len, out.splitlines())) <= 100
