"""The agent that is a person: asked in a terminal only, asked again after typing errors."""

from __future__ import annotations

import io
import sys

import pytest

from benchmarks.panels import make_panel
from benchmarks.referee import play as referee
from mage_agent.agents import make_agent
from mage_agent.person import in_short
from mage_envs.errors import MageError
from tests.agents.loop import make, play
from tests.benchmarks.fakes import suite


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


def test_a_person_sees_how_the_last_episode_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = suite(1, episodes=2)
    (entry,) = make_panel(found).entries
    monkeypatch.setattr(sys, "stdin", Keyboard("pass\n" * 9))
    record = referee(found.make_env(found.parts[0].scenario, "text"), make_agent("human"), entry)
    said = capsys.readouterr().out
    assert (record.status, len(record.episodes)) == ("ok", 2)
    assert said.count("The episode is over") == 2
    assert "Episode 2 of 2." in said[: said.rindex("The episode is over")].split("\n\n")[-1]


def test_many_actions_are_listed_in_short_and_all_of_them_if_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Keyboard("?\n"))
    with pytest.raises(EOFError):
        play(make_agent("human"), make("MineSweeper", interface="text", episodes=1), seed=1)
    first, again = capsys.readouterr().out.split("You can: ")[1:]
    assert first.startswith("reveal r1c1 … reveal r6c6 (36), flag r1c1 … flag r6c6 (36); ? lists all 72\n")
    assert "flag r6c5, flag r6c6\n" in first
    assert "reveal r1c1, reveal r1c2, " in first
    assert again.startswith("reveal r1c1 … ")


def test_names_without_a_common_verb_are_cut() -> None:
    names = [f"move{n}" for n in range(100)]
    assert in_short(names) == ", ".join([*names[:20], "…; ? lists all 100"])
    assert in_short(names[:20]) == ", ".join(names[:20])
