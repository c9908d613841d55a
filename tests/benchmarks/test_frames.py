"""Frames hold what records and boards hold."""

from __future__ import annotations

from pathlib import Path

from benchmarks.frames import board_frame, episodes_frame
from benchmarks.leaderboard import board_path, read_board
from tests.benchmarks.fakes import episode, record


def test_one_row_an_episode() -> None:
    frame = episodes_frame([record(3, episode(1.0), episode(-2.0)), record(4, episode(0.0))])
    assert frame[["meta_episode", "episode", "score"]].to_numpy().tolist() == [[3, 1, 1.0], [3, 2, -2.0], [4, 1, 0.0]]
    assert frame["forfeit"].dtype == bool


def test_errors_are_no_scores() -> None:
    failed = record(5, episode(1.0), status="error", error="KeyError")
    assert len(episodes_frame([failed])) == 0


def test_a_board_is_what_stands_in_its_file() -> None:
    board, rows = board_frame("quick"), read_board(board_path("quick", None))
    assert board["agent"].tolist() == [row["agent"] for row in rows]
    assert board["score_3"].tolist() == [float(row["score_3"]) for row in rows]
    assert board["ceiling"].isna().tolist() == [not row["ceiling"] for row in rows]
    assert board["commit"].tolist() == [row["commit"] for row in rows]


def test_a_board_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert board_frame("quick", tmp_path).empty
