"""Made households: all can be won, none is won at its start, splits are disjoint, files hold them whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mage_envs.worlds.alfworld import Game, household, read_layout, solve, write_game
from mage_envs.worlds.alfworld.households import HELD_ROOM, HELD_TASKS, SPLITS, errand_of, split_of
from mage_envs.worlds.alfworld.tables import ABLE, APPLIANCE, CONTAINS, ROOMS, TASKS
from tests.worlds.alfworld.pack import needs_pack

COUNT = 1_500


def test_every_household_is_won_by_the_solver_and_by_nobody_at_its_start() -> None:
    lengths: Counter[int] = Counter()
    for number in range(COUNT):
        state = Game.from_layout(household(number), ("0.3", "0.4")[number % 2]).start()
        assert not state.won
        plan = solve(state)
        assert plan is not None, errand_of(number)
        for command in plan:
            assert command in state.admissible()
            assert not state.won
            state.step(command)
        assert state.won
        lengths[len(plan)] += 1
    assert min(lengths) == 3
    assert max(lengths) <= 10


def test_the_solver_goes_on_from_anywhere() -> None:
    for number in range(40):
        state = Game.from_layout(household(number)).start()
        for receptacle in state.game.receptacles[number % 3 :: 3]:
            state.step(f"go to {receptacle}")
            state.step(f"open {receptacle}")
            takes = [command for command in state.admissible() if command.startswith("take")]
            if takes:
                state.step(takes[-1])
        plan = solve(state)
        assert plan is not None
        for command in plan:
            state.step(command)
        assert state.won


def test_the_same_number_makes_the_same_household() -> None:
    assert household(5) == household(5)
    assert len({Game.from_layout(household(number)).start().text for number in range(50)}) == 50
    text = Game.from_layout(household(2**53 - 1)).start().text
    assert text.splitlines()[-1] == "Your task is to: " + household(2**53 - 1).task


def test_errands_cover_all_tasks_and_rooms() -> None:
    errands = [errand_of(number) for number in range(COUNT)]
    assert {errand.task for errand in errands} == set(TASKS)
    assert {errand.room for errand in errands} == set(ROOMS)
    tasks = Counter(errand.task for errand in errands)
    assert min(tasks.values()) > COUNT / len(TASKS) * 0.7


def test_splits_hold_out_one_axis_each() -> None:
    found: dict[str | None, set[tuple[str, ...]]] = {}
    counted: Counter[str | None] = Counter()
    for number in range(4 * COUNT):
        split = split_of(number)
        found.setdefault(split, set()).add(tuple(errand_of(number)))
        counted[split] += 1
    assert set(found) == {None, *SPLITS} - {"all"}
    alike = [counted[name] for name in ("validation", "test")]
    assert all(abs(count / (sum(alike) + counted["train"]) - 0.1) < 0.02 for count in alike)
    train = found["train"] | found["validation"] | found["test"]
    tasks, rooms, pairs = (found[name] for name in ("task_types", "rooms", "pairs"))
    assert {each[0] for each in train}.isdisjoint(HELD_TASKS)
    assert {each[0] for each in tasks} == HELD_TASKS
    assert HELD_ROOM not in {each[1] for each in train}
    assert {each[1] for each in rooms} == {HELD_ROOM}
    trained_pairs = {each[2:] for each in train}
    assert trained_pairs.isdisjoint({each[2:] for each in pairs})
    assert {each[0] for each in (*rooms, *pairs)}.isdisjoint(HELD_TASKS)


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
def test_a_written_file_is_the_household(dialect: str, tmp_path: Path) -> None:
    for number in range(12):
        layout = household(number)
        write_game(layout, tmp_path / "game.tw-pddl", dialect)
        again = read_layout(tmp_path / "game.tw-pddl")
        assert again == layout
        assert Game.from_file(tmp_path / "game.tw-pddl", dialect).start().text in (
            Game.from_layout(layout, dialect).start().text
        )


def test_tables_agree_with_one_another() -> None:
    things = {thing for room in ROOMS.values() for thing in (*room.things, *room.fixtures)}
    kinds = {kind for room in ROOMS.values() for kind in room.receptacles}
    assert set(CONTAINS) <= kinds
    assert set(APPLIANCE) <= set(ABLE)
    for room in ROOMS.values():
        for thing in room.things:
            assert any(thing in CONTAINS.get(kind, ()) for kind in room.receptacles), thing
        for thing, stands in room.fixtures.items():
            assert set(stands) <= set(room.receptacles), thing
    assert things >= ABLE["cleanable"] | ABLE["heatable"] | ABLE["coolable"]


@needs_pack
@pytest.mark.parametrize("quirks", ["faithful", "clean"])
def test_every_published_game_is_won_in_3_to_9_steps(quirks: str, alfworld_data: Path) -> None:
    lengths: Counter[int] = Counter()
    for file in sorted(alfworld_data.rglob("game.tw-pddl")):
        state = Game.from_file(file, quirks=quirks).start()
        plan = solve(state)
        assert plan is not None, file
        for command in plan:
            assert not state.won
            state.step(command)
        assert state.won
        lengths[len(plan)] += 1
    assert (sum(lengths.values()), min(lengths), max(lengths)) == (474, 3, 9)


def test_every_thing_that_can_be_taken_can_be_put_back() -> None:
    for number in range(300):
        game = Game.from_layout(household(number))
        fits = 0
        for each in game.fits:
            fits |= each
        assert not game.portable & ~fits


@needs_pack
def test_as_many_quirks_as_were_counted(alfworld_data: Path) -> None:
    shared = doubled = 0
    for file in alfworld_data.rglob("game.tw-pddl"):
        game = Game.from_file(file)
        shared += any(len(receptacles) > 1 for receptacles in game.at)
        inside = game.first.inside
        doubled += any(inside[i] & inside[j] for i in range(len(inside)) for j in range(i))
        clean = Game.from_file(file, quirks="clean")
        assert all(len(receptacles) <= 1 for receptacles in clean.at)
        assert sum(each.bit_count() for each in clean.first.inside) <= sum(each.bit_count() for each in inside)
    assert (shared, doubled) == (369, 230)
