"""Unknown opponents and parameters: an error with near matches, never a random player (PAINS B8)."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from mage_envs.errors import SpecError, UnknownNameError
from mage_envs.games import load_game_spec
from mage_envs.opponents import make_opponent
from mage_envs.spec_strings import parse_spec

GAME = load_game_spec("tic_tac_toe")


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("mtcs", UnknownNameError, "unknown opponent 'mtcs'. Did you mean 'mcts'"),
        ("min_max", UnknownNameError, "Did you mean 'minimax'"),
        ("mcts_100", UnknownNameError, "Did you mean 'mcts'"),
        ("", SpecError, "bad spec"),
        ("mcts(simulations=100", SpecError, "bad spec"),
        ("mcts(simulations=100) twice", SpecError, "bad spec"),
        ("__import__('os')", UnknownNameError, "unknown opponent '__import__'"),
        ("random(1)", SpecError, "too many positional arguments"),
        (["mcts", {"simulations": 100}], SpecError, "an opponent is a spec such as .*, not list"),
        (None, SpecError, "not NoneType"),
        (3, SpecError, "not int"),
    ],
)
def test_bad_specs(spec: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_opponent(spec, GAME)


def test_parsed_specs_work_too() -> None:
    assert make_opponent(parse_spec("mcts(100)"), GAME) is make_opponent(" mcts( simulations = 100 ) ", GAME)


def test_errors_cross_process_boundaries() -> None:
    with pytest.raises(UnknownNameError) as caught:
        make_opponent("mtcs", GAME)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
