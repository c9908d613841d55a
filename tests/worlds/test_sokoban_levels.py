"""Levels in text: what is read, what is refused and why, and what is reported of a lost one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mage_envs.errors import LevelError
from mage_envs.worlds import load_world
from mage_envs.worlds.sokoban import RoomKind, load_levels, make_room, parse_level, solve
from mage_envs.worlds.sokoban.deadlocks import deadlocks

GOOD = "#####/#@$.#/#####"
BOXOBAN = """\
; 0
##########
#        #
# @  $ . #
##########

; 1
##########
#@$ .-_  #
##########
"""


def test_a_boxoban_file(tmp_path: Path) -> None:
    path = tmp_path / "000.txt"
    path.write_text(BOXOBAN)
    first, second = load_levels(path)
    assert (first.line, second.line) == (2, 8)
    assert second.level.id == "##########/#@$ .    #/##########"
    assert first.deadlocks == second.deadlocks == ()
    world = load_world(f'sokoban(levels="{path}")')
    assert {world.draw(u) for u in (0.1, 0.9)} == {first.level.id, second.level.id}
    assert (world.kind.rows, world.kind.columns) == (4, 10)
    assert world.start(world.draw(0.9)).level == second.level


def test_a_collection_with_titles_and_rooms_of_any_shape(tmp_path: Path) -> None:
    path = tmp_path / "my.xsb"
    path.write_text("My levels\n\n  ####\n###  #\n#@$. #\n######\nTitle: first\n; and a note\n#####\n#@$.#\n#####\n")
    first, second = load_levels(path)
    assert first.level.id == "######/###  #/#@$. #/######"
    assert second.level.id == GOOD


@pytest.mark.parametrize("text", [f"\ufeff{BOXOBAN[4:]}", BOXOBAN.replace("\n", "\r\n")], ids=["mark", "lines"])
def test_a_file_that_windows_wrote(text: str, tmp_path: Path) -> None:
    path = tmp_path / "000.txt"
    path.write_bytes(text.encode())
    assert [each.level.columns for each in load_levels(path)] == [10, 10]


def test_a_level_keeps_what_it_says() -> None:
    level = parse_level("######/#+$ *#/######")
    assert level.id == "######/#+$ *#/######"
    assert (level.player, level.boxes, level.targets) == (7, {8, 10}, {7, 10})
    assert level.show(level.player, level.boxes) == level.rows
    assert parse_level("\n".join(level.rows)) == level


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("#####/# $.#/#####", "one player"),
        ("#####/#@@.#/#####", "one player"),
        ("#####/#@$ #/#####", "as many targets"),
        ("#####/#@  #/#####", "as many targets"),
        ("#####/#@* #/#####", "nothing to solve"),
        ("#####/ @$.#/#####", "gap at row 2, column 1"),
        ("#####/#@$.#/## ##", "gap at row 3, column 3"),
        ("#####/#@$x#/#####", "'x'"),
        ("##/##", "rows"),
        ("", "rows"),
        ("#" * 100 + "/#@$.#/#####", "columns"),
    ],
)
def test_what_is_no_level_is_refused(text: str, why: str) -> None:
    with pytest.raises(LevelError, match=why):
        parse_level(text)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(LevelError, match="cannot read"):
        load_levels(tmp_path / "missing.txt")
    empty = tmp_path / "empty.txt"
    empty.write_text("no level here\n")
    with pytest.raises(LevelError, match="holds no level"):
        load_levels(empty)
    broken = tmp_path / "broken.txt"
    broken.write_text("; 0\n#####\n#@$ #\n#####\n")
    with pytest.raises(LevelError, match=r"line 2: .*as many targets"):
        load_levels(broken)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("######/#$@ .#/######", "row 2, column 2 can be pushed to no target"),
        ("#######/#   . #/# $$  #/# $$ @#/#  ...#/#     #/#######", "row 3, column 3 can never move again"),
        ("#######/#@    #/#   . #/# $.$ #/#######", "several can only be pushed to the same one"),
    ],
)
def test_deadlocks_are_reported_and_certain(text: str, why: str) -> None:
    level = parse_level(text)
    assert any(why in sentence for sentence in deadlocks(level))
    assert solve(level) is None


def test_made_rooms_start_without_deadlocks() -> None:
    for instance in range(50):
        assert deadlocks(make_room(instance, RoomKind(8, 8, 4, 30))) == ()


def test_a_file_with_a_lost_level_is_refused_by_the_world(tmp_path: Path) -> None:
    path = tmp_path / "lost.txt"
    path.write_text(BOXOBAN + "\n; 2\n######\n#$@ .#\n######\n")
    assert load_levels(path)[2].deadlocks
    with pytest.raises(LevelError, match=r"1 of 3 levels .* line 13: the box at row 2, column 2"):
        load_world(f'sokoban(levels="{path}")')


def test_the_solver_says_what_it_cannot_do() -> None:
    level = parse_level("####################/#@$" + " " * 15 + ".#/" + ("#" + " " * 18 + "#/") * 8 + "#" * 20)
    with pytest.raises(LevelError, match="128 cells"):
        solve(level)
    with pytest.raises(LevelError, match="max_nodes"):
        solve(parse_level("#########/#       #/# $ $ $ #/#  @    #/#   . . #/#   .   #/#########"), max_nodes=10)
