"""Preferred positions, biased random play, and one move of look-ahead."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mage_envs.errors import SpecError, UnsupportedGameError
from mage_envs.games import PositionGraph, View, load_game_spec
from mage_envs.opponents import Distribution, make_opponent
from mage_envs.opponents.tic_tac_toe import ORDERS
from tests.opponents.play import decision_views

GAME = load_game_spec("tic_tac_toe")


def view(*cells: int) -> View:
    """The view of the mover after marks on these cells, in turn."""
    position = PositionGraph(GAME).root
    for cell in cells:
        position = position.child(cell)
    return position.view(position.player)


def wanted(spec: str, where: View) -> dict[int, float]:
    distribution: Distribution = make_opponent(spec, GAME).policy(where, None, np.random.default_rng(0))[0]
    return {action: p for action, p in zip(where.legal, distribution, strict=True) if p > 0.0}


@pytest.mark.parametrize("name", ORDERS)
def test_named_orders_list_every_cell_once(name: str) -> None:
    assert sorted(ORDERS[name]) == list(range(9))
    assert len(set(ORDERS.values())) == len(ORDERS)


@pytest.mark.parametrize("name", ORDERS)
def test_a_pattern_takes_the_first_free_cell(name: str) -> None:
    for where in decision_views("tic_tac_toe")[::5]:
        first = next(cell for cell in ORDERS[name] if cell in where.legal)
        assert wanted(f"pattern(order={name})", where) == {first: 1.0}


def test_a_list_of_cells_ends_in_random_play() -> None:
    assert wanted('pattern(order="4 0,8")', view()) == {4: 1.0}
    assert wanted('pattern(order="408")', view(4)) == {0: 1.0}
    assert wanted("pattern(order='4 0 8')", view(4, 0, 8)) == dict.fromkeys((1, 2, 3, 5, 6, 7), 1 / 6)


def test_biased_play_follows_the_distance() -> None:
    centre = wanted("biased(toward=centre, bias=2)", view())
    weights = {0: (1 + math.sqrt(2)) ** -2, 1: 2.0**-2, 4: 1.0}
    total = 4 * weights[0] + 4 * weights[1] + weights[4]
    assert {cell: centre[cell] for cell in weights} == pytest.approx({c: w / total for c, w in weights.items()})
    corners = wanted("biased(toward=corners, bias=2)", view())
    assert corners[0] == corners[8] > corners[1] == corners[7] > corners[4]
    edges = wanted("biased(toward=edges)", view())
    assert edges[1] == max(edges.values())
    assert wanted("biased(bias=0)", view()) == pytest.approx(dict.fromkeys(range(9), 1 / 9))


def test_win_or_block() -> None:
    assert wanted("win_or_block", view(0, 3, 1, 4)) == {2: 1.0}, "X wins rather than blocks"
    assert wanted("win_or_block", view(0, 3, 1)) == {2: 1.0}, "O blocks"
    assert wanted("win_or_block", view(0, 4, 8, 2)) == {6: 1.0}, "X blocks the diagonal"
    assert wanted("win_or_block", view()) == dict.fromkeys(range(9), pytest.approx(1 / 9))
    assert wanted("win_or_block", view(0, 4, 1, 8, 3)) == {2: 0.5, 6: 0.5}, "of two threats O blocks either"


def test_win_or_block_takes_every_win_and_never_overlooks_a_threat() -> None:
    for where in decision_views("tic_tac_toe"):
        state = where.sample_state(np.random.default_rng(0))
        wins = {a for a in where.legal if state.child(a).returns()[where.seat] > 0}
        moves = set(wanted("win_or_block", where))
        if wins:
            assert moves == wins, where.key
        else:
            # What the other would win with if it were its turn: its mark in the free cell makes a line.
            rows = "".join(where.facts["rows"])
            threats = {cell for cell in where.legal if makes_line(rows, cell, "OX"[where.seat])}
            assert not threats or moves <= threats, where.key


def makes_line(board: str, cell: int, mark: str) -> bool:
    filled = board[:cell] + mark + board[cell + 1 :]
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    return any(all(filled[index] == mark for index in line) for line in lines if cell in line)


def test_win_or_block_plays_connect_four() -> None:
    game = load_game_spec("connect_four")
    position = PositionGraph(game).root
    for column in (3, 0, 3, 0, 3):
        position = position.child(column)
    distribution, _ = make_opponent("win_or_block", game).policy(position.view(1), None, np.random.default_rng(0))
    assert distribution.index(1.0) == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pattern", "missing a required argument: 'order'"),
        ("pattern(order=cornres)", "or a name, got 'cornres'"),
        ("pattern(order=048)", "quoted list of cells"),
        ('pattern(order="0 9")', "cells 0 to 8"),
        ('pattern(order="")', "cells 0 to 8"),
        ('pattern(order="0 0")', "twice"),
        ("biased(toward=center)", "toward has no value 'center'.*'centre'"),
        ("biased(bias=-1)", r"bias must be a number in 0\.\.100, got -1"),
        ("biased(bias=101)", r"in 0\.\.100"),
    ],
)
def test_bad_parameters(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make_opponent(spec, GAME)


@pytest.mark.parametrize(
    ("spec", "game"),
    [
        ("pattern(order=rows)", "connect_four"),
        ("biased", "kuhn_poker"),
        ("win_or_block", "kuhn_poker"),
        ("win_or_block", "rock_paper_scissors"),
    ],
)
def test_other_games_are_refused(spec: str, game: str) -> None:
    with pytest.raises(UnsupportedGameError, match=game):
        make_opponent(spec, load_game_spec(game))
