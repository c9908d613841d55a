"""Boards as a player reads them."""

from __future__ import annotations

from mage_envs.games import PositionGraph, load_game_spec
from tests.games.walk import play


def test_tic_tac_toe_text() -> None:
    position = play(PositionGraph(load_game_spec("tic_tac_toe")), [4, 0, 5])
    board = "    c1 c2 c3\nr1   O  .  .\nr2   .  X  X\nr3   .  .  ."
    assert position.view(0).text == f"You play X.\n{board}\nIt is the opponent's turn."
    assert position.view(1).text == f"You play O.\n{board}\nIt is your turn."


def test_tic_tac_toe_names_match_the_drawing() -> None:
    view = PositionGraph(load_game_spec("tic_tac_toe")).root.view(0)
    assert view.names == ("r1c1", "r1c2", "r1c3", "r2c1", "r2c2", "r2c3", "r3c1", "r3c2", "r3c3")
    for spelling in ("(2,3)", "2,3", "2, 3", "row 2, column 3", "right", "middle-right"):
        assert view.spellings[spelling] == 5
    assert view.spellings["top left"] == view.spellings["top-left"] == 0
    assert view.spellings["center"] == view.spellings["centre"] == 4


def test_connect_four_text_and_names() -> None:
    graph = PositionGraph(load_game_spec("connect_four"))
    lines = play(graph, [0, 0, 6]).view(1).text.splitlines()
    assert lines[0] == "You play O."
    assert lines[1].split() == ["1", "2", "3", "4", "5", "6", "7"]
    assert lines[6].split() == ["row", "2", "O", ".", ".", ".", ".", ".", "."]
    assert lines[7].split() == ["row", "1", "X", ".", ".", ".", ".", ".", "X"]
    assert lines[8] == "It is your turn."
    assert graph.root.view(0).names[0] == "column 1"
    assert graph.root.view(0).spellings["7"] == 6


def test_full_column_is_not_offered() -> None:
    view = play(PositionGraph(load_game_spec("connect_four")), [0] * 6).view(0)
    assert view.legal == (1, 2, 3, 4, 5, 6)
    assert view.mask.tolist() == [0, 1, 1, 1, 1, 1, 1]
    assert "column 1" not in view.spellings
