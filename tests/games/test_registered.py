"""What every registered game promises. A new game file is covered unasked."""

from __future__ import annotations

import pickle
import re

import pytest

from mage_envs.games import GAMES, GameSpec, PositionGraph, WorkedExample, fold, load_game_spec
from mage_envs.games.positions import TERMINAL
from tests.games.walk import play, random_walk

NAMES = (*GAMES, "rock_paper_scissors(throws=3)")
EXAMPLES = [(name, example) for name in NAMES for example in load_game_spec(name).examples]


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_worked_example_plays_to_its_returns(name: str, example: WorkedExample) -> None:
    end = play(PositionGraph(load_game_spec(name)), example.actions)
    assert end.player == TERMINAL
    assert end.returns == example.returns
    assert example.story.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_facts(name: str) -> None:
    spec = load_game_spec(name)
    assert load_game_spec(spec.name) is spec
    assert spec.name == name
    assert re.fullmatch(r"([A-Z][a-z]+)+", spec.title)
    assert len({example.story for example in spec.examples}) == len(spec.examples) >= 2
    assert spec.rules.isascii()
    assert spec.rules == spec.rules.strip()
    assert all(len(line) <= 120 for line in spec.rules.splitlines())
    assert all(word == fold(word) for word in spec.vocabulary)
    assert spec.reveal_size == 0 or spec.reveal_array is not GameSpec.reveal_array


def test_titles_are_unique() -> None:
    assert len({load_game_spec(name).title for name in GAMES}) == len(list(GAMES))


@pytest.mark.parametrize("name", NAMES)
def test_random_play(name: str) -> None:
    spec = load_game_spec(name)
    graph = PositionGraph(spec)
    for seed in range(20):
        for position in random_walk(graph, seed):
            for seat in range(spec.seats):
                view = position.view(seat)
                assert set(view.spellings) <= spec.vocabulary
                assert view.text == view.text.strip()
                assert view.tensor.shape == (spec.tensor_size,)
                assert view.reveal_array.shape == (spec.reveal_size,)
                assert bool(view.reveal_array.any()) == (bool(view.revealed) and spec.reveal_size > 0)
                assert not view.revealed or view.terminal
        assert min(position.returns) >= spec.worst_return


@pytest.mark.parametrize("name", NAMES)
def test_spec_and_view_pickle(name: str) -> None:
    spec = load_game_spec(name)
    assert pickle.loads(pickle.dumps(spec)) is spec
    for position in random_walk(PositionGraph(spec), seed=1):
        copy = pickle.loads(pickle.dumps(position.view(1)))
        assert copy == position.view(1)
        assert (copy.text, copy.legal) == (position.view(1).text, position.view(1).legal)
