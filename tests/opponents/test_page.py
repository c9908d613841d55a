"""docs/opponents.md is in step with the registries, and what it says can be run."""

from __future__ import annotations

import re
from typing import cast

import numpy as np
import pytest

from mage_envs.games import load_game_spec
from mage_envs.opponents import OPPONENTS, Opponent, make_opponent
from mage_envs.opponents.pages import PAGE, renewed
from mage_envs.opponents.populations import POPULATIONS
from tests.opponents.play import EXAMPLES, NEED_A_FILE, SMALL_GAMES, decision_views

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_tables_are_up_to_date() -> None:
    assert renewed(TEXT) == TEXT, "run python -m mage_envs.opponents.pages"


def test_every_opponent_and_population_is_on_the_page() -> None:
    for name in (*OPPONENTS, *POPULATIONS):
        assert re.search(rf"`{re.escape(name)}[`(]", TEXT), name


@pytest.mark.parametrize("name", [n for n in OPPONENTS if cast(type[Opponent], OPPONENTS.get(n)).plays == "any game"])
def test_what_plays_any_game_does(name: str) -> None:
    for game in SMALL_GAMES:
        if name not in NEED_A_FILE:
            make_opponent(EXAMPLES.get(name, name), load_game_spec(game))


def test_the_example_of_a_new_opponent_works(monkeypatch: pytest.MonkeyPatch) -> None:
    code = next(block for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "LastLegal" in block)
    monkeypatch.setattr(OPPONENTS, "_items", dict(OPPONENTS._items))
    exec(compile(code, str(PAGE), "exec"), {"__name__": "page"})
    opponent = make_opponent("last_legal", load_game_spec("kuhn_poker"))
    for view in decision_views("kuhn_poker"):
        assert opponent.policy(view, None, np.random.default_rng(0))[0] == (0.0, 1.0)
