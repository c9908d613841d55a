"""``benchmark play`` in a world, where there is no opponent."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from benchmarks.human import draw_session, play_in_terminal
from mage_envs.scenarios import SCENARIOS


@pytest.mark.parametrize("name", ["minesweeper/5x5", "sokoban/test"])
def test_a_world_is_played_to_its_end(name: str) -> None:
    said: list[str] = []
    session = draw_session(SCENARIOS.get(name), 1, 3, None, None)
    move = {"minesweeper/5x5": "reveal r1c1", "sokoban/test": "up"}[name]
    answers = iter([move] + [f"reveal r{r}c{c}" for r in range(1, 6) for c in range(1, 6)] + ["left"] * 9)
    assert session.opponent is None

    def ask(prompt: str) -> str:
        return next(answers)

    assert play_in_terminal(session, said.append, ask)
    assert "episode 1: +" in said[-1]
    assert "opponent" not in said[-1]


def test_a_person_shops() -> None:
    said: list[str] = []
    session = draw_session(SCENARIOS.get("webshop/test"), 1, 3, None, None)

    def answers() -> Iterator[str]:
        yield "search[men's shorts for polyester lining]"
        yield "buy it"
        yield next(found[0] for text in reversed(said) if (found := re.search(r"click\[b0\w{8}\]", text)))
        yield "click[buy now]"

    answer = answers()
    assert play_in_terminal(session, said.append, lambda prompt: next(answer))
    assert any("\nPage 1 (Total results: " in text for text in said)
    assert any(text.startswith("Your answer is no action.") for text in said)
    assert "episode 1: +0." in said[-1]
