"""The rules, on made households and small ones written out here; no data needed."""

from __future__ import annotations

import copy
import pickle
import random
import re
from itertools import product
from pathlib import Path

import pytest

from mage_envs.errors import LevelError
from mage_envs.worlds.alfworld import Game, Layout, State, household
from mage_envs.worlds.alfworld.commands import read, write
from mage_envs.worlds.alfworld.layout import parse_expression, parse_layout
from mage_envs.worlds.alfworld.naming import named
from mage_envs.worlds.alfworld.rules import RULES
from mage_envs.worlds.alfworld.words import NOTHING_HAPPENS

PROBLEM = """(define (problem p) (:domain alfred) (:objects agent1 - agent
Apple_bar_1 - object Knife_bar_1 - object Mug_bar_1 - object Egg_bar_1 - object DeskLamp_bar_1 - object
Bread - object Ghost_bar_1 - object
Fridge_bar_1 - receptacle Microwave_bar_1 - receptacle Sink_bar_1_bar_SinkBasin - receptacle
CounterTop_bar_1 - receptacle Shelf_bar_1 - receptacle
loc_bar_0 - location loc_bar_1 - location loc_bar_2 - location loc_bar_3 - location)
(:init (atLocation agent1 loc_bar_0)
(objectType Apple_bar_1 AppleType) (objectType Knife_bar_1 KnifeType) (objectType Mug_bar_1 MugType)
(objectType Egg_bar_1 EggType) (objectType DeskLamp_bar_1 DeskLampType)
(receptacleType Fridge_bar_1 FridgeType) (receptacleType Microwave_bar_1 MicrowaveType)
(receptacleType Sink_bar_1_bar_SinkBasin SinkBasinType) (receptacleType CounterTop_bar_1 CounterTopType)
(receptacleType Shelf_bar_1 ShelfType)
(canContain FridgeType AppleType) (canContain CounterTopType AppleType) (canContain ShelfType AppleType)
(canContain CounterTopType KnifeType) (canContain CounterTopType MugType) (canContain MicrowaveType AppleType)
(pickupable Apple_bar_1) (pickupable Knife_bar_1) (pickupable Mug_bar_1) (pickupable Egg_bar_1)
(cleanable Apple_bar_1) (heatable Apple_bar_1) (coolable Apple_bar_1) (sliceable Apple_bar_1)
(toggleable DeskLamp_bar_1) (isReceptacleObject Mug_bar_1) (inReceptacleObject Egg_bar_1 Mug_bar_1)
(openable Fridge_bar_1) (openable Microwave_bar_1)
(inReceptacle Apple_bar_1 CounterTop_bar_1) (inReceptacle Apple_bar_1 Shelf_bar_1)
(inReceptacle Knife_bar_1 CounterTop_bar_1) (inReceptacle Mug_bar_1 CounterTop_bar_1)
(inReceptacle DeskLamp_bar_1 Fridge_bar_1)
(receptacleAtLocation CounterTop_bar_1 loc_bar_1) (receptacleAtLocation Shelf_bar_1 loc_bar_1)
(receptacleAtLocation Fridge_bar_1 loc_bar_2) (receptacleAtLocation Microwave_bar_1 loc_bar_3)
(receptacleAtLocation Sink_bar_1_bar_SinkBasin loc_bar_3)
(objectAtLocation Apple_bar_1 loc_bar_1) (objectAtLocation Knife_bar_1 loc_bar_1)
(objectAtLocation Mug_bar_1 loc_bar_1))
(:goal (and (exists (?r - receptacle) (exists (?o - object)
(and (isHot ?o) (isSliced ?o) (receptacleType ?r FridgeType) (objectType ?o AppleType) (inReceptacle ?o ?r)))))))"""
LAYOUT = parse_layout(PROBLEM, '"Your task is to: do it."')


def start(dialect: str = "0.4", quirks: str = "faithful") -> State:
    return Game.from_layout(LAYOUT, dialect, quirks).start()


def say(state: State, *commands: str) -> list[str]:
    return [state.step(command) for command in commands]


def test_a_whole_game_is_told_to_the_letter() -> None:
    state = start()
    assert state.text.splitlines()[2] == (
        "You are in the middle of a room. Looking quickly around you, you see a countertop 1, a fridge 1, "
        "a microwave 1, a shelf 1, and a sinkbasin 1."
    )
    assert state.text.endswith("\n\nYour task is to: do it.")
    assert say(
        state, "look", "go to countertop 1", "take knife 1 from countertop 1", "inventory",
        "slice apple 1 with knife 1", "move knife 1 to countertop 1", "take apple 1 from countertop 1",
        "examine apple 1", "go to sinkbasin 1", "look", "heat apple 1 with microwave 1",
        "clean apple 1 with sinkbasin 1", "examine apple 1", "go to fridge 1", "cool apple 1 with fridge 1",
        "examine apple 1", "open fridge 1", "use desklamp 1",
    ) == [
        "You are in the middle of a room. Looking quickly around you, you see nothing.",
        "You arrive at countertop 1. On the countertop 1, you see a apple 1, a knife 1, and a mug 1.",
        "You pick up the knife 1 from the countertop 1.",
        "You are carrying: a knife 1.",
        "You sliced the apple 1 with the knife 1.",
        "You move the knife 1 to the countertop 1.",
        "You pick up the apple 1 from the countertop 1.",
        "This is a sliced apple 1.",
        "You arrive at sinkbasin 1. On the sinkbasin 1, you see nothing.",
        "You are facing the microwave 1, and sinkbasin 1. Next to it, you see nothing.",
        "You heat the apple 1 using the microwave 1.",
        "You clean the apple 1 using the sinkbasin 1.",
        "This is a hot and clean sliced apple 1.",
        "You arrive at fridge 1. The fridge 1 is closed.",
        "You cool the apple 1 using the fridge 1.",
        "This is a cool and clean sliced apple 1.",
        "You open the fridge 1. The fridge 1 is open. In it, you see a desklamp 1.",
        "You turn on the desklamp 1.",
    ]  # fmt: skip
    assert not state.won
    say(state, "go to microwave 1", "heat apple 1 with microwave 1", "go to fridge 1", "move apple 1 to fridge 1")
    assert state.won
    assert state.text == "You move the apple 1 to the fridge 1."
    say(state, "take apple 1 from fridge 1")
    assert not state.won


def test_the_dialects_differ_in_put_go_and_help() -> None:
    old, new = start("0.3"), start("0.4")
    assert say(old, "go to shelf 1", "take apple 1 from shelf 1", "put apple 1 in/on shelf 1", "help") == [
        "You arrive at loc 3. On the shelf 1, you see a apple 1.",
        "You pick up the apple 1 from the shelf 1.",
        "You put the apple 1 in/on the shelf 1.",
        NOTHING_HAPPENS,
    ]
    assert say(new, "put apple 1 in/on shelf 1", " help ")[0] == NOTHING_HAPPENS
    assert new.text.startswith("Available commands:\n  look:     ")
    assert "help" in new.admissible()
    assert "help" not in old.admissible()


def test_a_thing_that_was_moved_lies_beside_what_it_was_taken_from() -> None:
    state = start()
    say(state, "go to shelf 1", "take apple 1 from shelf 1", "move apple 1 to countertop 1")
    facing = "You are facing the countertop 1, and shelf 1. Next to it, you see "
    assert say(state, "look") == [facing + "a apple 1."]
    say(state, "take apple 1 from countertop 1")
    assert say(state, "look") == [facing + "nothing."]
    say(state, "move apple 1 to shelf 1")
    assert say(state, "look") == [facing + "a apple 1."]  # It is not back on the countertop.


def test_what_was_taken_from_two_receptacles_here_is_told_twice() -> None:
    """As recorded from TextWorld on published games in which three receptacles stand at one place."""
    more = "(receptacleType Desk_bar_1 ShelfType) (receptacleAtLocation Desk_bar_1 loc_bar_1)"
    more += "(canContain ShelfType MugType)"
    problem = PROBLEM.replace("(:init", f"(:init {more}").replace("(:objects", "(:objects Desk_bar_1 - receptacle")
    state = Game.from_layout(parse_layout(problem, '"Your task is to: do it."')).start()
    say(state, "go to desk 1", "take apple 1 from shelf 1", "move apple 1 to countertop 1")
    say(state, "take apple 1 from countertop 1", "move apple 1 to desk 1", "take mug 1 from countertop 1")
    say(state, "move mug 1 to desk 1")
    assert say(state, "look")[0].endswith("Next to it, you see a apple 1, a apple 1, and a mug 1.")


def test_examine_says_what_is_held_in_a_thing_and_that_others_are_plain() -> None:
    state = start()
    assert say(state, "examine mug 1") == [NOTHING_HAPPENS]
    say(state, "go to countertop 1", "take mug 1 from countertop 1")
    assert say(state, "examine mug 1") == ["This is a normal mug 1. In it, you see a egg 1."]
    say(state, "move mug 1 to countertop 1", "take knife 1 from countertop 1")
    assert say(state, "examine knife 1") == ["There's nothing special about knife 1."]


def test_clean_quirks_separate_places_and_keep_a_thing_in_one_receptacle() -> None:
    state = start(quirks="clean")
    assert len(state.game.places) == 6
    assert say(state, "go to countertop 1", "go to shelf 1") == [
        "You arrive at countertop 1. On the countertop 1, you see a knife 1, and a mug 1.",
        "You arrive at shelf 1. On the shelf 1, you see a apple 1.",
    ]
    say(state, "take apple 1 from shelf 1")
    assert not any(state.inside[each] >> state.game.thing["apple 1"] & 1 for each in range(5))
    assert say(start(), "go to countertop 1", "go to shelf 1")[1] == NOTHING_HAPPENS


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
@pytest.mark.parametrize("layout", [LAYOUT, household(3), household(11)], ids=["small", "3", "11"])
def test_admissible_is_exactly_what_does_something(layout: Layout, dialect: str) -> None:
    game = Game.from_layout(layout, dialect)
    things, receptacles = range(len(game.things)), range(len(game.receptacles))
    every = [write(game, rule) for rule in ("look", "inventory", "help")]
    for rule in ("go", "open", "close", "examine receptacle"):
        every += [write(game, rule, receptacle) for receptacle in receptacles]
    for rule in ("use", "examine thing"):
        every += [write(game, rule, thing) for thing in things]
    for rule in ("take", "put", "clean", "heat", "cool"):
        every += [write(game, rule, *pair) for pair in product(things, receptacles)]
    every += [write(game, "slice", *pair) for pair in product(things, things)]
    rng, state = random.Random(5), game.start()
    for _ in range(40):
        works = sorted(command for command in every if state.copy().step(command) != NOTHING_HAPPENS)
        assert works == state.admissible()
        weights = [1 if command.startswith("go") else 4 for command in works]
        state.step(rng.choices(works, weights)[0])


def test_commands_are_read_as_they_are_written() -> None:
    game = Game.from_layout(LAYOUT)
    for rule in RULES:
        for named_ in product(range(3), repeat=2):
            for count in range(3):
                try:
                    written = write(game, rule, *named_[:count])
                except ValueError:
                    continue  # The rule names another number of things.
                act = read(game, written)
                assert act is not None
                assert (act.rule, act.named) == (rule, named_[:count])


@pytest.mark.parametrize("command", ["", " ", "go", "go to", "take apple 1", "dance", "open apple 1", "x" * 10_000])
def test_any_other_string_changes_nothing(command: str) -> None:
    state = start()
    before = state.copy()
    assert state.step(command) == NOTHING_HAPPENS
    before.text = NOTHING_HAPPENS
    assert state == before


def test_states_are_values() -> None:
    state = start()
    say(state, "go to countertop 1", "take apple 1 from countertop 1")
    for twin in (state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert (twin.text, twin.admissible(), twin.won) == (state.text, state.admissible(), state.won)
        twin.step("go to fridge 1")
        assert twin.here != state.here
    assert copy.deepcopy(state).game is state.game


def test_numbers_go_down_and_are_shared_by_all_kinds() -> None:
    assert named(["TVStand_bar_1", "ToiletPaper_bar_2", "ToiletPaper_bar_1", "Toilet_bar_1", "TowelHolder_bar_1"]) == {
        "Toilet_bar_1": "toilet 1", "ToiletPaper_bar_1": "toiletpaper 2", "ToiletPaper_bar_2": "toiletpaper 1",
        "TowelHolder_bar_1": "towelholder 1", "TVStand_bar_1": "tvstand 1",
    }  # fmt: skip
    assert list(named(["ToiletPaperHanger_bar_1", "Toilet_bar_1"])) == ["Toilet_bar_1", "ToiletPaperHanger_bar_1"]
    assert "ghost 1" not in start().game.things


def test_goals_are_logic() -> None:
    said = {
        "(and)": True,
        "(or)": False,
        "(not (inReceptacle Mug_bar_1 CounterTop_bar_1))": False,
        "(imply (holds agent1 Mug_bar_1) (opened Fridge_bar_1))": True,
        "(forall (?o - object) (not (isHot ?o)))": True,
        "(exists (?a ?b - object) (and (not (= ?a ?b)) (objectType ?a AppleType) (objectType ?b AppleType)))": False,
        "(exists (?r - receptacle ?l - location) (and (receptacleAtLocation ?r ?l) (atLocation agent1 ?l)))": False,
    }
    for text, truth in said.items():
        goal = parse_expression(text)
        assert Game.from_layout(LAYOUT._replace(goal=goal)).start().won is truth, text


def test_damaged_games_are_errors_of_one_kind_or_play() -> None:
    facts = re.findall(r"\([a-zA-Z]+ [\w ]+\)", PROBLEM.partition("(:init")[2].partition("(:goal")[0])
    assert len(facts) > 40
    refused = 0
    for fact in facts:
        for instead in ("", fact.replace("bar_1", "bar_9"), f"({fact.split()[0][1:]})"):
            try:
                state = Game.from_layout(
                    parse_layout(PROBLEM.replace(fact, instead, 1), '"Your task is to: x"')
                ).start()
            except LevelError:
                refused += 1
                continue
            for _ in range(3):
                state.step(state.admissible()[0])
    assert 10 < refused < 100


def test_costs_of_the_planner_are_no_facts() -> None:
    costs = "(= (distance loc_bar_0 loc_bar_7) 3) (= (total-cost) 0)"
    again = parse_layout(PROBLEM.replace("(:init", f"(:init {costs}"), '"Your task is to: do it."')
    assert again.facts == LAYOUT.facts


def test_files_that_are_no_games_are_refused(tmp_path: Path) -> None:
    folder = tmp_path
    damaged = (b"", b"{}", b'{"pddl_problem": "", "grammar": ""}', b"[1]", b"\xff\xfe\x00", b"[" * 200_000)
    for data in (*damaged, b'{"pddl_problem": 1, "grammar": ""}'):
        (folder / "game.tw-pddl").write_bytes(data)
        with pytest.raises(LevelError, match="no ALFWorld game"):
            Game.from_file(folder / "game.tw-pddl")
    with pytest.raises(LevelError, match="cannot read"):
        Game.from_file(folder / "none")
    with pytest.raises(ValueError, match="dialect must be one of"):
        Game.from_layout(LAYOUT, "0.5")
    with pytest.raises(ValueError, match="quirks must be one of"):
        Game.from_layout(LAYOUT, "0.4", "some")
