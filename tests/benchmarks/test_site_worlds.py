"""Replays of worlds on the page: moves by name, several moves as they were answered, answers that could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.panels import make_panel
from benchmarks.referee import play
from benchmarks.site.film import Camera, film
from mage_agent.agents import make_agent
from mage_agent.base import Briefing
from mage_envs.scenarios import SCENARIOS
from tests.benchmarks.fakes import suite


class Script:
    """Answers from a list, over and over."""

    name, oracle, interface = "script", False, "text"

    def __init__(self, *answers: str) -> None:
        self.answers = answers

    def begin(self, briefing: Briefing) -> None:
        self.at = 0

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        self.at += 1
        return self.answers[(self.at - 1) % len(self.answers)]

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> str:
        return "next time"


def filmed(scenario: str, agent: Any) -> list[list[dict[str, Any]]]:
    """Plays a meta-episode and films its record; returns the frames after the first, by episode."""
    found = suite(1, scenario=SCENARIOS.get(scenario))
    env = found.make_env(SCENARIOS.get(scenario), agent.interface)
    record = play(env, agent, make_panel(found).entries[0])
    assert record.status in ("ok", "forfeit")
    shown = film(Camera(found.make_env(SCENARIOS.get(scenario), agent.interface)), record)
    return [each["frames"][1:] for each in shown["episodes"]]


@pytest.mark.parametrize(
    ("scenario", "agent", "first"),
    [
        ("sokoban/test", "sokoban_solver", ("up", "down", "left", "right")),
        ("minesweeper/test", "minesweeper_logic", ("reveal r1c1",)),
    ],
)
def test_moves_by_number_are_shown_by_name(scenario: str, agent: str, first: tuple[str, ...]) -> None:
    for frames in filmed(scenario, make_agent(agent)):
        assert frames[0]["move"] in first
        assert not any("refused" in frame or "said" in frame for frame in frames)


def test_several_moves_are_shown_as_they_were_answered() -> None:
    frames = filmed("sokoban/test", Script("I go. <action>up, Up, left</action>", "down", "<action>fly</action>"))[0]
    assert [frame["move"] for frame in frames[:3]] == ["up, Up, left", "down", "<action>fly</action>"]
    assert ["refused" in frame for frame in frames[:3]] == [False, False, True]
    assert ["said" in frame for frame in frames[:3]] == [True, False, False]


def test_commands_of_a_world_that_is_text_are_moves() -> None:
    frames = filmed("alfworld/train", Script("<action>look</action>", "inventory"))[0]
    assert [frame["move"] for frame in frames[:2]] == ["look", "inventory"]
    assert not any("refused" in frame for frame in frames)
