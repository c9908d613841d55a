"""The agent that is a person: asked in a terminal only, asked again after typing errors."""

from __future__ import annotations

import io
import sys

import pytest

from mage_agent.agents import make_agent
from mage_envs.errors import MageError
from tests.agents.loop import make, play


class Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_person_is_asked_and_typing_errors_cost_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Keyboard("bett\nBET\nit folds\nbet\nbet\nbet\n"))
    scores = play(make_agent("human"), make(interface="text", episodes=2, population="conservative", seat=0), seed=1)
    said = capsys.readouterr().out
    assert len(scores) == 2
    assert said.count("Kuhn poker, two players.") == 1
    assert "You can: pass, bet" in said
    assert "not the name of an action" in said
    assert "A note if you like" in said


def test_nobody_is_asked_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("bet\n"))
    with pytest.raises(MageError, match=r"standard input is none here.*benchmark play"):
        play(make_agent("human"), make(interface="text"), seed=1)
