"""Rock-Paper-Scissors: parameters, results, and what the arrays of a match hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mage_envs.errors import SpecError
from mage_envs.games import PositionGraph, load_game_spec
from mage_envs.games.positions import SIMULTANEOUS, TERMINAL
from tests.games.walk import play


@pytest.mark.parametrize("throws", ["0", "1001", "-3", "2.0", "true", '"2"', "rock"])
def test_throws_out_of_range(throws: str) -> None:
    with pytest.raises(SpecError, match=r"throws must be an integer in 1\.\.1000"):
        load_game_spec(f"rock_paper_scissors(throws={throws})")


def test_unknown_parameter() -> None:
    with pytest.raises(SpecError, match=r"no parameter 'throw'. Did you mean 'throws'\?"):
        load_game_spec("rock_paper_scissors(throw=3)")


@pytest.mark.parametrize("same", ["rock_paper_scissors()", "rock_paper_scissors(throws=1)", "rock_paper_scissors(1)"])
def test_name_is_canonical(same: str) -> None:
    assert load_game_spec(same) is load_game_spec("rock_paper_scissors")
    assert load_game_spec("rock_paper_scissors( 7 )").name == "rock_paper_scissors(throws=7)"


@pytest.mark.parametrize("own", range(3))
@pytest.mark.parametrize("other", range(3))
def test_result_of_a_throw(own: int, other: int) -> None:
    beats = {(0, 2), (1, 0), (2, 1)}
    end = PositionGraph(load_game_spec("rock_paper_scissors")).root.child((own, other))
    sign = ((own, other) in beats) - ((other, own) in beats)
    assert end.returns == (sign, -sign)
    assert end.view(0).text.endswith(f"a {('draw', 'win', 'loss')[sign]} for you.")
    assert end.view(0).reveal_array.tolist() == np.eye(3)[other].tolist()
    assert end.view(1).reveal_array.tolist() == np.eye(3)[own].tolist()


def test_nothing_of_the_other_throw_is_seen_before() -> None:
    root = PositionGraph(load_game_spec("rock_paper_scissors")).root
    assert root.player == SIMULTANEOUS
    assert not root.view(0).revealed
    assert not root.view(0).tensor.any()


def test_tensor_of_a_match_holds_every_throw_latest_first() -> None:
    throws: list[Any] = [(0, 1), (2, 2), (1, 0), (0, 0)]
    position = PositionGraph(load_game_spec("rock_paper_scissors(throws=5)")).root
    for joint in throws:
        position = position.child(joint)
    slots = position.view(1).tensor.reshape(5, 2, 3)
    assert [tuple(slot.argmax(axis=1)) for slot in slots[:4]] == throws[::-1]
    assert not slots[4].any()
    assert position.view(0).text == (
        "Throw 5 of 5.\nThrows so far, your letter first (R rock, P paper, S scissors): RP SS PR RR.\n"
        "You won 1, lost 1, drew 2."
    )


def test_longest_match() -> None:
    spec = load_game_spec("rock_paper_scissors(throws=1000)")
    end = play(PositionGraph(spec, limit=100), [0, 1] * 1000)
    assert end.player == TERMINAL
    assert end.returns == (-1000.0, 1000.0)
    assert len(end.view(0).text) < 8192
    assert spec.worst_return == -1000.0
