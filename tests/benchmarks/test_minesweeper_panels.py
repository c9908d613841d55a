"""Panels of MineSweeper: every board once, of its split, and each can be won."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.panels import scenario_entries
from benchmarks.suites import Part
from mage_envs.scenarios import SCENARIOS
from mage_envs.worlds.minesweeper import bits, split_of

NAMES = [name for name in SCENARIOS if name.startswith("minesweeper/")]


@pytest.mark.parametrize("name", NAMES)
def test_every_board_of_a_panel_is_new_and_can_be_won(name: str) -> None:
    count = 40 if name == "minesweeper/no_guess" else 300 if name == "minesweeper/5x5" else 512
    scenario = SCENARIOS.get(name)
    entries = scenario_entries(Part(scenario, count, ("random",)), ((None, 1.0),), count, ("test",))
    env: Any = scenario.make().unwrapped
    boards = set()
    for entry in entries:
        instance = env.reset(seed=entry.seed)[1]["privileged"]["instance"]
        state = env.world.start(instance)
        boards.add(env.world.content(state))
        assert split_of(state.play) == dict(scenario.arguments)["split"]
        for cell in bits(state.play.board.safe):
            if state.play.hidden >> cell & 1:
                state = env.world.step(state, cell).state
        assert env.world.outcome(state) == "win"
    assert len(boards) == count
