"""100,000 states of worlds by random play: every answer that an agent is told of comes back as the same action."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mage_envs.worlds import WorldView, load_world
from mage_envs.worlds.minesweeper import MineSweeper
from tests.text.world_states import check, check_world, sampled, specs

STATES = 100_000
"""In all; ``python -m tests.text.world_states`` plays more."""


@pytest.mark.parametrize("spec", specs())
def test_every_answer_of_sampled_states_survives(spec: str) -> None:
    assert check_world(spec, -(-STATES // len(specs()))) >= 1


def test_all_worlds_are_sampled() -> None:
    assert {"sokoban", "minesweeper", "alfworld", "webshop"} <= {spec.partition("(")[0] for spec in specs()}


class Confusing(MineSweeper):
    """Tells of a flag that is there as if it were none."""

    def words(self, state: Any, action: int) -> tuple[str, ...]:
        return (self._names[action % self.grid.cells],)


def test_two_actions_of_one_name_would_be_found() -> None:
    world = Confusing()
    view = WorldView(world, world.start(1), 0, 10)
    view.names = tuple(world.words(None, action)[0] for action in view.legal)  # type: ignore[misc]
    with pytest.raises(AssertionError):
        check(view, np.random.default_rng(0), set())


def test_sampled_states_are_of_many_episodes() -> None:
    views = list(sampled(load_world("minesweeper"), 500, 3))
    assert len(views) == 500
    assert sum(view.turn == 0 for view in views) > 20
    assert any(name.startswith("unflag") for view in views for name in view.names)
