"""Mine probabilities and win probabilities, against counting every placement; and figures that were worked out once."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mage_envs.worlds.minesweeper import (
    Knowledge,
    Play,
    Setting,
    SolverLimitError,
    bits,
    grid,
    mine_odds,
    move_values,
    needs_no_guess,
    win_probability,
)
from mage_envs.worlds.minesweeper.board import Board
from mage_envs.worlds.minesweeper.winning import placements
from tests.worlds import minesweeper_by_hand as by_hand


@st.composite
def situations(draw: st.DrawFn, most: int = 20) -> Play:
    """Boards of up to 20 cells with some safe cells open."""
    rows = draw(st.integers(2, min(5, most // 2)))
    board = grid(rows, draw(st.integers(2, most // rows)))
    cells = st.integers(0, board.cells - 1)
    mines = draw(st.sets(cells, min_size=1, max_size=min(6, board.cells - 1)))
    play = Play(Board.of(board, sum(1 << cell for cell in mines)))
    for cell in draw(st.lists(cells, max_size=4)):
        if cell not in mines and not play.opened >> cell & 1:
            play = play.reveal(cell)
    return play


def known(play: Play) -> Knowledge:
    return Knowledge(play.board.grid, play.board.mines.bit_count(), play.shown())


def shape(play: Play) -> tuple[int, int]:
    return play.board.grid.rows, play.board.grid.columns


@given(situations())
def test_odds_equal_counting_every_placement(play: Play) -> None:
    knowledge = known(play)
    every = list(by_hand.fitting(knowledge.shown, knowledge.mines, *shape(play)))
    odds = mine_odds(knowledge)
    assert odds.ways == len(every)
    assert odds.mined == tuple(sum(cell in placed for placed in every) for cell in range(play.board.grid.cells))
    assert set(bits(odds.safe)) == {cell for cell in bits(play.hidden) if not any(cell in placed for placed in every)}
    assert sorted(placements(knowledge)) == sorted(sum(1 << cell for cell in placed) for placed in every)
    if odds.hidden:
        assert sum(map(odds.probability, bits(odds.hidden))) == knowledge.mines


@given(situations(12), st.data())
def test_what_is_known_of_cells_is_used(play: Play, data: st.DataObject) -> None:
    told = data.draw(st.sets(st.sampled_from(range(play.board.grid.cells)), max_size=3))
    mined = sum(1 << cell for cell in told) & play.board.mines
    free = sum(1 << cell for cell in told) & play.board.safe
    odds = mine_odds(known(play)._replace(mined=mined, free=free))
    every = by_hand.fitting(known(play).shown, known(play).mines, *shape(play))
    fitting = [sum(1 << cell for cell in placed) for placed in every]
    assert odds.ways == sum(placed & mined == mined and not placed & free for placed in fitting)


def test_numbers_that_no_placement_fits() -> None:
    with pytest.raises(ValueError, match="no placement"):
        mine_odds(Knowledge(grid(2, 2), 1, (0, -1, -1, -1)))
    with pytest.raises(ValueError, match="no placement"):
        mine_odds(Knowledge(grid(2, 3), 1, (1, 1, -1, -1, -1, 1), mined=1 << 2, free=1 << 4 | 1 << 2))


@pytest.mark.parametrize(
    ("rows", "columns", "mines"), [(2, 2, 1), (2, 2, 2), (2, 3, 2), (3, 3, 1), (3, 3, 2), (3, 3, 4), (3, 4, 2)]
)
def test_optimal_play_equals_trying_everything(rows: int, columns: int, mines: int) -> None:
    assert win_probability(Setting(rows, columns, mines)) == by_hand.win_probability(rows, columns, mines)


@pytest.mark.parametrize(("first_click", "around"), [("safe", False), ("zero", True)])
def test_optimal_play_after_a_safe_first_cell(first_click: str, around: bool) -> None:
    """The first cell is known to be free: the best of all cells that could be it, each with its own placements."""
    rows, columns, mines = 2, 5, 2
    free = {c: {c, *by_hand.near(c, rows, columns)} if around else {c} for c in range(rows * columns)}
    best = max(
        by_hand.win_probability(rows, columns, mines, lambda placed, barred=barred: not placed & barred)
        for barred in free.values()
    )
    assert win_probability(Setting(rows, columns, mines, first_click)) == best  # type: ignore[arg-type]


@given(situations(9))
def test_move_values_are_what_the_best_play_wins(play: Play) -> None:
    knowledge = known(play)
    if play.won:
        return
    values = move_values(knowledge)
    assert set(values) == set(bits(play.hidden))
    odds = mine_odds(knowledge)
    assert all(0 <= value <= 1 - odds.probability(cell) for cell, value in values.items())
    if odds.safe:  # What is safe costs nothing.
        assert max(values.values()) == values[next(bits(odds.safe))]
    boards = [Board.of(play.board.grid, mines) for mines in placements(knowledge)]
    sure = sum(needs_no_guess(play._replace(board=board)) for board in boards)
    assert Fraction(sure, odds.ways) <= max(values.values())


def test_figures() -> None:
    """Worked out by this package, small ones by hand as well."""
    assert win_probability(Setting(2, 2, 1)) == Fraction(1, 4)
    assert win_probability(Setting(3, 3, 1)) == Fraction(8, 9)
    assert win_probability(Setting(4, 4, 2)) == Fraction(102, 120)
    assert win_probability(Setting(4, 4, 3)) == Fraction(400, 560)
    assert win_probability(Setting(5, 5, 2)) == Fraction(266, 300)
    assert win_probability(Setting(6, 6, 3)) == Fraction(6427, 7140)
    assert win_probability(Setting(6, 6, 3, "zero")) == Fraction(2921, 2925)
    assert win_probability(Setting(6, 6, 3, "given", no_guess=True)) == 1


def test_the_given_cell_counts_boards_as_they_are_drawn() -> None:
    """3×4 with 2 mines: every start, every placement beside it, but those that the start opens whole."""
    rows, columns, mines = 3, 4, 2
    won = weight = Fraction(0)
    for start in range(rows * columns):
        barred = {start, *by_hand.near(start, rows, columns)}
        fitting = [p for p in by_hand.fitting((-1,) * 12, mines, rows, columns) if not p & barred]
        for placed in fitting:
            opened = by_hand.flooded(start, placed, rows, columns)
            if len(opened) == rows * columns - mines:
                continue
            shown = tuple(by_hand.number(c, placed, rows, columns) if c in opened else -1 for c in range(12))
            won += max(move_values(Knowledge(grid(rows, columns), mines, shown)).values()) / len(fitting)
            weight += Fraction(1, len(fitting))
    assert win_probability(Setting(rows, columns, mines, "given")) == won / weight


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(SolverLimitError, match="8×8 with 5 mines has 7624512 placements"):
        win_probability(Setting(8, 8, 5))
    with pytest.raises(SolverLimitError, match="open more cells"):
        move_values(Knowledge(grid(8, 8), 5, (-1,) * 64))
    with pytest.raises(SolverLimitError, match="cells"):
        win_probability(Setting(30, 30, 1))


def test_large_boards_have_exact_odds() -> None:
    """16×30 with 99 mines: the counts agree with the number of mines, far beyond what can be enumerated."""
    board = grid(16, 30)
    odds = mine_odds(Knowledge(board, 99, (-1,) * 480))
    assert odds.probability(7) == Fraction(99, 480)
    shown = [-1] * 480
    for cell in (100, 103, 106, 200):
        shown[cell] = 2
    odds = mine_odds(Knowledge(board, 99, tuple(shown)))
    assert sum(map(odds.probability, bits(odds.hidden))) == 99
    assert odds.probability(101) == Fraction(odds.mined[132], odds.ways)
