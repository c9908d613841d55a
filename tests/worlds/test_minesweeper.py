"""MineSweeper's own rules, boards, words and arrays; what all worlds have in common is in tests/conformance."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from mage_envs.worlds import load_world
from mage_envs.worlds.minesweeper import (
    Board,
    LayoutError,
    MineSweeper,
    Play,
    Setting,
    bits,
    grid,
    lay_out,
    least_reveals,
    mine_odds,
    needs_no_guess,
    split_of,
)  # fmt: skip
from mage_envs.worlds.minesweeper.grid import Grid
from mage_envs.worlds.minesweeper.knowledge import Knowledge
from mage_envs.worlds.minesweeper.layout import forbidden, moved
from mage_envs.worlds.minesweeper.picture import CELL, paint
from mage_envs.worlds.minesweeper.words import symbols
from tests.worlds import minesweeper_by_hand as by_hand

SMALL = Setting(3, 4, 2)
TINY = Setting(2, 4, 2)


def board_of(rows: int, columns: int, *mines: int) -> Board:
    return Board.of(grid(rows, columns), sum(1 << cell for cell in mines))


def made(where: tuple[int, ...], **arguments: Any) -> tuple[MineSweeper, Any]:
    """Returns a world and a start of it with the mines as given."""
    world = load_world("minesweeper(" + ", ".join(f"{key}={value}" for key, value in arguments.items()) + ")")
    assert isinstance(world, MineSweeper)
    start = world.start(0)
    return world, start._replace(play=Play(board_of(world.grid.rows, world.grid.columns, *where)))


# Rules.


@given(st.integers(2, 6), st.integers(2, 6), st.data())
def test_numbers_and_floods_equal_the_plain_ones(rows: int, columns: int, data: st.DataObject) -> None:
    cells = st.integers(0, rows * columns - 1)
    mines = data.draw(st.frozensets(cells, max_size=6))
    cell = data.draw(cells)
    board = board_of(rows, columns, *mines)
    assert board.numbers == tuple(by_hand.number(each, mines, rows, columns) for each in range(rows * columns))
    assert frozenset(bits(board.flood(cell))) == by_hand.flooded(cell, mines, rows, columns)
    assert board.grid.neighbours[cell] == tuple(sorted(by_hand.near(cell, rows, columns)))


def test_a_board_is_won_lost_and_flagged() -> None:
    play = Play(board_of(3, 3, 0))
    assert not play.over
    flagged = play.flag(4).flag(8)
    assert (flagged.flags, flagged.flag(4).flags) == (1 << 4 | 1 << 8, 1 << 8)
    won = flagged.reveal(2)  # The flood runs over flags and takes them away.
    assert (won.won, won.lost, won.flags) == (True, False, 0)
    lost = play.reveal(0)
    assert (lost.won, lost.lost, lost.opened) == (False, True, 1)
    assert lost.shown() == (-1,) * 9


def test_the_score_is_one_for_a_won_board() -> None:
    world, start = made((0,), rows=3, columns=3, mines=1)
    after, reward, *_ = world.step(start, 2)
    assert (reward, world.outcome(after), world.facts(after)["mined"]) == (1.0, "win", (0,))
    after, reward, *_ = world.step(start, 0)
    assert (reward, world.outcome(after), world.facts(after)["hit"]) == (0.0, "loss", 0)
    after, reward, *_ = world.step(start, 9)
    assert (reward, world.outcome(after), world.facts(after)["flags"]) == (0.0, None, (0,))
    assert world.legal(after) == (*range(1, 9), *range(9, 18))


# Boards.


@pytest.mark.parametrize("first_click", ["risky", "safe", "zero"])
def test_every_placement_is_equally_likely(first_click: str) -> None:
    setting = Setting(3, 4, 2, first_click)  # type: ignore[arg-type]
    first = 4
    barred = set(bits(forbidden(setting, grid(3, 4), first)))
    counts = Counter(moved(setting, lay_out(setting, instance), first).mines for instance in range(6_000))
    every = [sum(1 << c for c in chosen) for chosen in combinations(sorted(set(range(12)) - barred), 2)]
    assert set(counts) == set(every)
    assert chisquare([counts[mines] for mines in every]).pvalue > 0.001


@given(st.integers(0, 2**53 - 1), st.sampled_from(["safe", "zero"]), st.integers(0, 35), st.integers(1, 27))
def test_only_mines_under_the_first_cell_move(instance: int, first_click: Any, first: int, mines: int) -> None:
    setting = Setting(6, 6, mines, first_click)
    layout = lay_out(setting, instance)
    barred = forbidden(setting, grid(6, 6), first)
    before, after = layout.play.board.mines, moved(setting, layout, first).mines
    assert after.bit_count() == mines
    assert not after & barred
    assert before & ~barred == before & after
    assert moved(setting, lay_out(setting, instance), first).mines == after
    assert lay_out(Setting(6, 6, mines), instance).play.board.mines == before


def test_flags_before_the_first_reveal_do_not_count_as_it() -> None:
    world = load_world("minesweeper(rows=3, columns=3, mines=8, first_click=safe)")
    for cell in range(9):
        state = world.step(world.start(5), 9 + (cell + 1) % 9).state
        state = world.step(state, cell).state
        assert world.outcome(state) == "win"


def test_a_given_cell_is_open_and_does_not_solve_the_board() -> None:
    setting = Setting(5, 5, 2, "given")
    for instance in range(300):
        play = lay_out(setting, instance).play
        assert play.opened
        assert not play.over
        assert any(play.board.zeros >> cell & 1 for cell in bits(play.opened))


@pytest.mark.parametrize("setting", [Setting(4, 5, 4, "given", True), Setting(6, 6, 7, "given", True)])
def test_boards_without_guesses_are_solved_by_logic(setting: Setting) -> None:
    """Checked by hand: at every step some cell is a mine in no placement that fits."""
    for instance in range(12 if setting.rows == 6 else 25):
        play = lay_out(setting, instance).play
        assert needs_no_guess(play)
        while setting.rows < 6 and not play.won:
            every = list(by_hand.fitting(play.shown(), setting.mines, setting.rows, setting.columns))
            safe = [cell for cell in bits(play.hidden) if not any(cell in placed for placed in every)]
            play = play.reveal(safe[0])
    guesses = [lay_out(Setting(4, 5, 4, "given"), instance).play for instance in range(50)]
    assert not all(map(needs_no_guess, guesses))


def test_a_setting_without_such_boards_says_what_to_do() -> None:
    with pytest.raises(LayoutError, match=r"fewer mines"):
        lay_out(Setting(8, 8, 45, "given", True), 1)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"rows": 1}, "rows must be an integer in 2..30"),
        ({"columns": 31}, "columns must be an integer in 2..30"),
        ({"mines": 0}, r"mines must be an integer in 1..35"),
        ({"mines": 28, "first_click": "zero"}, r"1..27"),
        ({"rows": 3, "columns": 3, "mines": 1, "first_click": "zero"}, "more rows or columns"),
        ({"first_click": "sure"}, "first_click must be one of"),
        ({"no_guess": True}, "first_click='given'"),
        ({"split": "tset"}, "Did you mean 'test'"),
        ({"mine": 3}, "Did you mean 'mines'"),
    ],
)
def test_bad_settings_are_refused(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        gym.make("mage/MineSweeper-v0", **arguments)


def test_boards_are_the_same_on_any_machine() -> None:
    assert tuple(bits(lay_out(Setting(), 12345).play.board.mines)) == FIRST_MINES
    assert lay_out(Setting(8, 8, 10, "given", True), 12345).play.board.mines == NO_GUESS_MINES


FIRST_MINES = (4, 6, 8)
NO_GUESS_MINES = 9512189561074483200


def test_every_board_that_the_opening_leaves_needs_as_many_reveals_as_it_says() -> None:
    """By trying all orders on small boards."""
    for instance in range(40):
        play = lay_out(TINY, instance).play

        def fewest(play: Play) -> int:
            if play.won:
                return 0
            return 1 + min(fewest(play.reveal(cell)) for cell in bits(play.hidden & play.board.safe))

        assert least_reveals(play) == fewest(play)


# Splits.


def test_splits_keep_turned_and_mirrored_boards_together() -> None:
    for instance in range(60):
        play = lay_out(Setting(), instance).play
        squares = np.array([play.board.mines >> cell & 1 for cell in range(36)]).reshape(6, 6)
        ways = [np.rot90(each, turns).ravel() for each in (squares, squares.T) for turns in range(4)]
        boards = [board_of(6, 6, *np.flatnonzero(way).tolist()) for way in ways]
        assert len({split_of(Play(board)) for board in boards}) == 1
    assert len(Grid(3, 4).symmetries) == 4


def test_each_split_draws_its_own_boards() -> None:
    whole = Counter(split_of(lay_out(Setting(), instance).play) for instance in range(3_000))
    shares = np.array([whole[name] for name in ("train", "validation", "test")]) / 3_000
    assert np.abs(shares - [0.6, 0.2, 0.2]).max() < 0.06  # 7,140 boards, eight alike: the shares are not exact.
    boards = {}
    for split in ("train", "validation", "test"):
        world = load_world(f"minesweeper(split={split})")
        plays = [world.start(world.draw(u)).play for u in np.random.default_rng(0).random(200)]
        assert {split_of(play) for play in plays} == {split}
        boards[split] = {play.board.grid.canonical(play.board.mines) for play in plays}
    assert not boards["train"] & boards["test"]
    assert not boards["train"] & boards["validation"]


# Words and arrays.


def test_the_text_of_a_board() -> None:
    world, start = made((0, 5), rows=3, columns=4, mines=2)
    state = world.step(world.step(start, 11).state, 12).state
    assert world.describe(world.facts(state)) == (
        "Mines: 2. Flags: 1. Safe cells revealed: 6 of 10.\n"
        "   c1 c2 c3 c4\n"
        "r1  F  ?  1  .\n"
        "r2  ?  ?  1  .\n"
        "r3  ?  ?  1  .\n"
        "? hidden, . no mine around, 1-8 mines around, F flag"
    )
    lost = world.facts(world.step(state, 5).state)
    assert world.describe(lost) == (
        "Mines: 2. Flags: 1. Safe cells revealed: 6 of 10.\n"
        "   c1 c2 c3 c4\n"
        "r1  F  ?  1  .\n"
        "r2  ?  X  1  .\n"
        "r3  ?  ?  1  .\n"
        "? hidden, . no mine around, 1-8 mines around, F flag, * mine, X mine that was revealed\n"
        "You revealed a mine at r2c2."
    )


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("reveal r2c3", "reveal r2c3"), ("r2c3", "reveal r2c3"), ("Open (2, 3).", "reveal r2c3"),
        ("2,3", "reveal r2c3"), ("2 3", "reveal r2c3"), ("click row 2, column 3", "reveal r2c3"),
        ("reveal cell [2, 3]", "reveal r2c3"),
        ("FLAG R2C3", "flag r2c3"), ("mark (2,3)", "flag r2c3"), ("unflag r1c1", "unflag r1c1"),
        ("remove flag r1c1", "unflag r1c1"), ("Unmark row 1 col 1", "unflag r1c1"),
    ],
)  # fmt: skip
def test_usual_spellings_are_read(answer: str, name: str) -> None:
    world, start = made((0, 5), rows=3, columns=4, mines=2)
    state = world.step(start, 12).state
    command = world.read(state, answer)
    assert world.words(state, command)[0] == name


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("reveal r1c1", "illegal"), ("flag r1c1", "illegal"), ("unflag r2c2", "illegal"), ("(3, 4)", "illegal"),
        ("reveal r4c1", "unparsable"), ("reveal r1c2 r1c3", "unparsable"), ("reveal", "unparsable"),
        ("23", "unparsable"), ("defuse r1c2", "unparsable"), ("reveal r0c1", "unparsable"),
        ("<action>r2c2</action><action>r2c3</action>", "ambiguous"),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_said(answer: str, reason: str) -> None:
    env = gym.make("mage/MineSweeper-v0", rows=3, columns=4, mines=2, interface="text")
    env.reset(options={"instance": corner()})
    env.step("flag r1c1")
    env.step("r3c4")
    assert env.step(answer)[4]["invalid_reason"] == reason


def corner() -> int:
    """Returns an instance of 3×4 cells with the mines of the other tests."""
    wanted = board_of(3, 4, 0, 5).mines
    return next(instance for instance in range(10_000) if lay_out(SMALL, instance).play.board.mines == wanted)


def test_planes_are_one_hot_and_agree_with_the_text() -> None:
    world, start = made((0, 5), rows=3, columns=4, mines=2)
    state = world.step(world.step(start, 11).state, 12).state
    planes = world.tensor(state)
    assert (planes.shape, planes.dtype) == ((12, 3, 4), np.float32)
    assert (planes.sum(0) == 1).all()
    told = np.array(list("?F.12345678*"))[planes.argmax(0)]
    assert "".join(told.ravel()) == symbols(world.facts(state)) == "F?1.??1.??1."
    lost = world.tensor(world.step(state, 5).state)
    assert lost[11].sum() == 1  # The flag on the other mine is right, and stays.
    assert world.key(state) != world.key(start)


def test_nothing_hidden_is_shown() -> None:
    """Placements that fit what is shown give the same view, whichever it is."""
    world, start = made((0, 5), rows=3, columns=4, mines=2)
    state = world.step(start, 11).state
    shown = world.facts(state)["shown"]
    others = [made(tuple(placed), rows=3, columns=4, mines=2)[1] for placed in by_hand.fitting(shown, 2, 3, 4)]
    assert len(others) > 1
    seen = [world.step(other, 11).state for other in others]
    assert {str(world.facts(each)) for each in seen} == {str(world.facts(state))}
    assert {world.tensor(each).tobytes() for each in seen} == {world.tensor(state).tobytes()}


def test_a_picture_has_a_tile_a_cell() -> None:
    picture = paint("?F.12345678*X???", 4)
    assert (picture.shape, picture.dtype) == ((4 * CELL, 4 * CELL, 3), np.uint8)
    tiles = {
        symbol: picture[n // 4 * CELL :][:CELL, n % 4 * CELL :][:, :CELL] for n, symbol in enumerate("?F.12345678*X")
    }
    assert len({tile.tobytes() for tile in tiles.values()}) == len(tiles)


# Meta-episodes.


def test_a_replayed_board_is_the_same_for_who_begins_in_the_same_way() -> None:
    env = gym.make("mage/MineSweeper-meta-v0", first_click="zero", mines=6, interface="text")
    for seed in range(20):
        env.reset(seed=seed)
        seen = [env.step("reveal r3c3")[0]]
        for _ in range(2):
            while env.step("nonsense")[4]["phase"] == "play":
                pass
            env.step("")
            seen.append(env.step("reveal r3c3")[0])
        assert len({text.split("\n", 1)[1] for text in seen}) == 1


def test_the_turn_limit() -> None:
    env = gym.make("mage/MineSweeper-v0", turns=2, interface="text")
    env.reset(seed=1)
    env.step("flag r1c1")
    observation, reward, terminated, truncated, info = env.step("unflag r1c1")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["episode_result"]["outcome"] == "loss"
    assert "*" not in observation.split("?")[-1]


def test_odds_speak_of_views() -> None:
    """An agent that has only the view's facts can ask for them."""
    env = gym.make("mage/MineSweeper-v0", first_click="given")
    _, info = env.reset(seed=3)
    facts = info["view"].facts
    odds = mine_odds(Knowledge(grid(facts["rows"], facts["columns"]), facts["mines"], facts["shown"]))
    assert odds.ways >= 1
