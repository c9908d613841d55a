"""Rooms of Sokoban: always there, never solved, of proven length, the same with and without numba."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from mage_envs.worlds.sokoban import Level, Optimum, RoomKind, carving, make_room, parse_level, rooms, solve, split_of
from mage_envs.worlds.sokoban.levels import make_level

DEFAULT = RoomKind(6, 6, 2, 21)
SIDES = range(rooms.MIN_SIDE, rooms.MAX_SIDE + 1)


def replayed(level: Level, moves: tuple[int, ...]) -> bool:
    """Plays moves by the rules as a person would, on the picture. Returns whether they solve the level."""
    grid = [list(row) for row in level.rows]
    row, column = next((i, j) for i, line in enumerate(grid) for j, symbol in enumerate(line) if symbol in "@+")
    for heading in moves:
        down, right = ((-1, 0), (1, 0), (0, -1), (0, 1))[heading]
        assert grid[row + down][column + right] != "#"
        if grid[row + down][column + right] in "$*":
            beyond = grid[row + 2 * down][column + 2 * right]
            assert beyond in " .@+", "a box is pushed into a wall or another box"
            grid[row + 2 * down][column + 2 * right] = "*" if beyond in ".+" else "$"
            grid[row + down][column + right] = "." if grid[row + down][column + right] == "*" else " "
        row, column = row + down, column + right
    return not any("$" in line for line in grid)


def test_default_rooms_are_within_the_papers_limits_and_their_lengths_are_proven() -> None:
    for instance in range(150):
        level = make_room(instance, DEFAULT)
        assert (len(level.rows), level.columns, len(level.boxes)) == (6, 6, 2)
        assert level.boxes != level.targets
        fewest, pushes = solve(level), solve(level, "pushes")
        assert fewest is not None
        assert pushes is not None
        assert level.optimum == (len(fewest.moves), pushes.pushes)
        assert 1 <= len(fewest.moves) <= 21
        assert fewest.pushes >= pushes.pushes
        assert len(pushes.moves) >= len(fewest.moves)
        assert replayed(level, fewest.moves)
        assert replayed(level, pushes.moves)
        assert make_level(level.rows) == level


@pytest.mark.parametrize(("rows", "columns"), [(5, 5), (5, 12), (7, 6), (8, 8), (10, 10), (12, 12)])
@pytest.mark.parametrize("boxes", range(1, 6))
def test_every_documented_size_has_rooms(rows: int, columns: int, boxes: int) -> None:
    kind = RoomKind(rows, columns, boxes, 21)
    for instance in (0, 1, 2**53 - 1):
        level = make_room(instance, kind)
        found, pushes = solve(level), solve(level, "pushes")
        assert found is not None
        assert pushes is not None
        assert level.optimum == (len(found.moves), pushes.pushes)
        assert 1 <= len(found.moves) <= 21
        assert len(level.boxes) == boxes


def test_the_room_of_last_resort_is_one_push_in_every_size() -> None:
    for rows, columns, boxes in product(SIDES, SIDES, range(1, 6)):
        kind = RoomKind(rows, columns, boxes, 1)
        level = rooms._level(kind, rooms._plain(kind), Optimum(1, 1))
        found = solve(level)
        assert found is not None
        assert level.optimum == (len(found.moves), found.pushes) == (1, 1)


def test_a_limit_of_one_move_is_kept() -> None:
    for kind in (RoomKind(6, 6, 2, 1), RoomKind(12, 12, 5, 1)):
        for instance in range(5):
            assert make_room(instance, kind).optimum == (1, 1)


def test_rooms_differ_and_depend_on_the_instance_only() -> None:
    made = [make_room(instance, DEFAULT) for instance in range(512)]
    assert len({level.id for level in made}) >= 508
    assert make_room(3, DEFAULT) == made[3]
    moves = [level.optimum.moves for level in made if level.optimum is not None]
    assert np.percentile(moves, 10) >= 9
    assert np.median(moves) >= 11


def test_backward_play_and_search_agree_on_every_state() -> None:
    """Two methods that have nothing in common but the rules: one visits all states, the other looks ahead."""
    for instance in range(12):
        level = make_room(instance, DEFAULT)
        floor = level.floor
        n, targets = len(floor.cells), floor.numbers(level.targets)
        far = {walk: np.empty(n**3, dtype=np.int16) for walk in (0, 1)}
        for walk in (0, 1):
            carving.sweep(floor.near, targets, walk, 1_000, -1, far[walk])
        at = np.empty(2, dtype=np.int64)
        for state in np.random.default_rng(instance).choice(n**3, 60, replace=False):
            player = carving.unpack(int(state), n, at)
            if at[0] >= at[1] or player in at:
                continue
            boxes = frozenset(int(floor.cells[cell]) for cell in at)
            fewest = solve(level, player=int(floor.cells[player]), boxes=boxes)
            pushes = solve(level, "pushes", player=int(floor.cells[player]), boxes=boxes)
            assert (-1 if fewest is None else len(fewest.moves)) == far[1][state]
            assert (-1 if pushes is None else pushes.pushes) == far[0][state]


def test_without_numba_everything_is_the_same() -> None:
    kinds = [DEFAULT, RoomKind(10, 10, 4, 12)]
    code = f"""
import sys
sys.modules["numba"] = None
from mage_envs.worlds.sokoban import RoomKind, carving, make_room, solve
for kind in {kinds!r}:
    level = make_room(5, kind)
    print(level.id, level.optimum, solve(level).moves, solve(level, "pushes").moves)
assert not hasattr(carving.sweep, "py_func")
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    expected = []
    for kind in kinds:
        level = make_room(5, kind)
        fewest, pushes = solve(level), solve(level, "pushes")
        assert fewest is not None
        assert pushes is not None
        expected.append(f"{level.id} {level.optimum} {fewest.moves} {pushes.moves}")
    assert found.splitlines() == expected


def test_splits_keep_mirrored_and_turned_rooms_together() -> None:
    made = [make_room(instance, DEFAULT) for instance in range(300)]
    shares = [split_of(level) for level in made]
    assert set(shares) == {"train", "validation", "test"}
    assert 200 < shares.count("train") < 275
    for level, split in zip(made[:30], shares, strict=False):
        mirrored = make_level([row[::-1] for row in level.rows])
        turned = make_level(["".join(column) for column in zip(*level.rows, strict=True)])
        assert split_of(mirrored) == split_of(turned) == split


def test_published_levels_have_their_published_lengths() -> None:
    """The first level of David Skinner's Microban (2000): 33 moves with 8 pushes is what solvers report."""
    level = parse_level("####/# .#/#  ###/#*@  #/#  $ #/#  ###/####")
    found, pushes = solve(level), solve(level, "pushes")
    assert found is not None
    assert pushes is not None
    assert (len(found.moves), pushes.pushes) == (33, 8)
