"""Connect Four on boards of other sizes: drawn, named and counted right, against rules written anew here."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator

import gymnasium as gym
import pytest

import mage_envs  # noqa: F401 -- registers the environments
from mage_envs.errors import SpecError
from mage_envs.games import Position, PositionGraph, load_game_spec
from mage_envs.games.positions import TERMINAL
from mage_envs.opponents import make_opponent
from mage_envs.tabular.compiled import compiled_game
from tests.games.walk import play

Board = tuple[str, ...]  # Columns from the left, each a string of discs from the bottom.


def after(board: Board, column: int) -> Board:
    mark = "XO"[sum(map(len, board)) % 2]
    return (*board[:column], board[column] + mark, *board[column + 1 :])


def winner(board: Board, length: int) -> str | None:
    cells = {(x, y): mark for x, column in enumerate(board) for y, mark in enumerate(column)}
    for (x, y), mark in cells.items():
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
            if all(cells.get((x + dx * step, y + dy * step)) == mark for step in range(length)):
                return mark
    return None


def plies(rows: int, columns: int, length: int) -> Iterator[tuple[int, int, int, int]]:
    """Boards after 0, 1, 2 … discs: all, won by X, won by O, drawn."""
    level: set[Board] = {("",) * columns}
    while level:
        won = {board: winner(board, length) for board in level}
        full = [board for board in level if won[board] is None and all(len(column) == rows for column in board)]
        marks = list(won.values())
        yield len(level), marks.count("X"), marks.count("O"), len(full)
        open_ = [board for board in level if won[board] is None]
        level = {after(board, x) for board in open_ for x in range(columns) if len(board[x]) < rows}


@pytest.mark.parametrize(("rows", "columns", "length"), [(2, 3, 2), (2, 5, 3), (4, 3, 3), (3, 3, 3), (2, 4, 4)])
def test_boards_are_those_of_an_independent_walk(rows: int, columns: int, length: int) -> None:
    game = compiled_game(f"connect_four(rows={rows}, columns={columns}, x_in_row={length})")
    found = []
    for start, end in zip(game.levels[:-1], game.levels[1:], strict=True):
        ends = game.returns[start:end, 0][game.actor[start:end] == TERMINAL].tolist()
        found.append((end - start, ends.count(1.0), ends.count(-1.0), ends.count(0.0)))
    assert found == list(plies(rows, columns, length))


def test_default_board_is_one_object_without_parameters() -> None:
    spec = load_game_spec("connect_four")
    for same in ("connect_four()", "connect_four(rows=6)", "connect_four(6, 7, 4)", "connect_four(x_in_row=4, rows=6)"):
        assert load_game_spec(same) is spec
    assert (spec.name, spec.openspiel, len(spec.examples)) == ("connect_four", "connect_four", 3)
    assert spec.rules.startswith("Connect Four, two players on an upright board of 7 columns and 6 rows. Seat 0 plays")


def test_names_are_canonical_and_pickle() -> None:
    spec = load_game_spec("connect_four(columns=4,x_in_row=3,rows=4)")
    assert spec.name == "connect_four(rows=4, columns=4, x_in_row=3)"
    assert load_game_spec(spec.name) is spec
    assert pickle.loads(pickle.dumps(spec)) is spec
    assert load_game_spec("connect_four(rows=5)").name == "connect_four(rows=5)"


def test_words_follow_the_size() -> None:
    spec = load_game_spec("connect_four(rows=3, columns=4, x_in_row=3)")
    assert spec.rules == (
        "Connect Three, two players on an upright board of 4 columns and 3 rows. Seat 0 plays X and moves first, "
        "seat 1 plays O.\nIn turn, a player drops a disc into a column that is not full; it falls to the lowest free "
        "cell.\n"
        'Columns are named "column 1" to "column 4", counted from the left.\nThe first to have three discs in a line, '
        "across, up or diagonally, wins. A full board without that is a draw.\n"
        "The result of a game is +1 for a win, 0 for a draw, -1 for a loss."
    )
    end = play(PositionGraph(spec), [0, 3, 0, 3, 0])
    board = "       1 2 3 4\nrow 3  X . . .\nrow 2  X . . O\nrow 1  X . . O"
    assert end.view(0).text == f"You play X.\n{board}\nYou have three in a line: you win."
    assert end.view(1).text == f"You play O.\n{board}\nThe opponent has three in a line: you lose."
    assert spec.vocabulary == {name for c in "1234" for name in (f"column {c}", c, f"col {c}", f"c{c}")}


def test_a_two_digit_column_has_its_names() -> None:
    view = PositionGraph(load_game_spec("connect_four(rows=10, columns=10, x_in_row=10)")).root.view(0)
    assert view.names[-1] == "column 10"
    assert {view.spellings[name] for name in ("column 10", "10", "col 10", "c10")} == {9}
    assert view.text.splitlines()[1] == "         1  2  3  4  5  6  7  8  9 10"
    assert "ten discs in a line" in view.spec.rules


@pytest.mark.parametrize(("rows", "columns", "length"), [(4, 4, 4), (3, 5, 3), (7, 9, 5), (10, 10, 4)])
def test_a_play_is_printed_and_encoded_right(rows: int, columns: int, length: int) -> None:
    """The board of the view, its tensor (planes X, O, empty; the lowest row first) and the end, disc by disc."""
    spec = load_game_spec(f"connect_four({rows}, {columns}, {length})")
    assert spec.tensor_size == 3 * rows * columns
    for seed in range(5):
        rng, board, position = random.Random(seed), ("",) * columns, PositionGraph(spec).root
        while position.player != TERMINAL:
            check_position(position, board, rows, length)
            column = rng.choice(position.view(position.player).legal)
            board, position = after(board, column), position.child(column)
        check_position(position, board, rows, length)


def check_position(position: Position, board: Board, rows: int, length: int) -> None:
    drawn = ["".join(column[y] if y < len(column) else "." for column in board) for y in range(rows)]
    won, free = winner(board, length), tuple(x for x, column in enumerate(board) if len(column) < rows)
    facts = position.view(0).facts
    assert facts["rows"] == tuple(drawn[::-1])
    planes = position.view(0).tensor.reshape(3, rows, len(board))
    for plane, mark in zip(planes, "XO.", strict=True):
        assert plane.tolist() == [[float(cell == mark) for cell in row] for row in drawn]
    assert facts["winner"] == {"X": 0, "O": 1, None: None}[won]
    assert position.returns == {"X": (1.0, -1.0), "O": (-1.0, 1.0), None: (0.0, 0.0)}[won]
    assert facts["over"] == (position.player == TERMINAL) == (won is not None or not free)
    if position.player != TERMINAL:
        assert facts["mover"] == position.player == sum(map(len, board)) % 2
        assert position.view(position.player).legal == free


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("connect_four(rows=0)", r"rows must be an integer in 2\.\.10, got 0"),
        ("connect_four(rows=1)", r"rows must be an integer in 2\.\.10, got 1"),
        ("connect_four(columns=11)", r"columns must be an integer in 2\.\.10, got 11"),
        ("connect_four(columns=-1)", r"columns must be an integer"),
        ("connect_four(rows=4.0)", r"rows must be an integer in 2\.\.10, got 4\.0"),
        ("connect_four(rows=true)", r"rows must be an integer"),
        ("connect_four(rows=four)", r"rows must be an integer"),
        ("connect_four(x_in_row=1)", r"x_in_row must be an integer in 2\.\.7, got 1"),
        ("connect_four(rows=3, columns=4, x_in_row=5)", r"x_in_row must be an integer in 2\.\.4, got 5"),
        ("connect_four(columns=3, rows=3)", r"x_in_row must be an integer in 2\.\.3, got 4"),
    ],
)
def test_bad_sizes(name: str, message: str) -> None:
    """OpenSpiel takes any of these, and ends the process at some."""
    with pytest.raises(SpecError, match=message):
        load_game_spec(name)


def test_openspiels_other_parameter_is_another_game() -> None:
    assert load_game_spec("connect_four(egocentric_obs_tensor=true)").title == "OpenSpiel"


def test_opponents_and_environments_play_it() -> None:
    game = "connect_four(rows=4, columns=3, x_in_row=3)"
    spec = load_game_spec(game)
    for opponent in ("mcts(simulations=20)", "win_or_block", "minimax", "random"):
        assert make_opponent(opponent, spec)
    env = gym.make("mage/OpenSpiel-meta-v0", game=game, interface="text", episodes=2)
    text, info = env.reset(seed=1)
    assert "row 4  " in text
    assert len(info["legal_actions"]) == 3
    env.close()
