"""One action for ever, by name or id."""

from __future__ import annotations

import numpy as np
import pytest

from mage_envs.errors import SpecError
from mage_envs.games import load_game_spec
from mage_envs.opponents import make_opponent
from tests.opponents.play import decision_views


@pytest.mark.parametrize(
    ("game", "spec", "action"),
    [
        ("rock_paper_scissors", "constant(action=paper)", 1),
        ("rock_paper_scissors", "constant(2)", 2),
        ("kuhn_poker", "constant(action=bet)", 1),
        ("kuhn_poker", "constant(action=0)", 0),
        ("leduc_poker", "constant(action=raise)", 2),
        ("tic_tac_toe", "constant(action=centre)", 4),
        ("matrix_pd", "constant(action=Defect)", 1),
    ],
)
def test_it_plays_the_action_where_it_is_legal(game: str, spec: str, action: int) -> None:
    opponent, rng, legal = make_opponent(spec, load_game_spec(game)), np.random.default_rng(0), 0
    for view in decision_views(game):
        distribution, _ = opponent.policy(view, None, rng)
        if action in view.legal:
            legal += 1
            assert distribution[view.legal.index(action)] == 1.0
        else:
            assert distribution == view.uniform
    assert legal


@pytest.mark.parametrize(
    ("game", "spec", "message"),
    [
        ("rock_paper_scissors", "constant(action=lizard)", "got 'lizard'"),
        ("rock_paper_scissors", "constant(action=papr)", "Did you mean 'paper'"),
        ("rock_paper_scissors", "constant(action=3)", r"action must be an integer in 0\.\.2, got 3"),
        ("rock_paper_scissors", "constant(action=-1)", r"in 0\.\.2"),
        ("kuhn_poker", "constant", "missing a required argument: 'action'"),
    ],
)
def test_bad_actions(game: str, spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make_opponent(spec, load_game_spec(game))
