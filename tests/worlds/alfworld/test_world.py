"""The world: what is told, what answers are read, how episodes end, which instances are drawn."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

import mage_envs
from mage_envs.worlds import load_world
from mage_envs.worlds.alfworld import Game, household, solve
from mage_envs.worlds.alfworld.households import HELD_TASKS, errand_of, split_of

assert mage_envs


def make(**kwargs: Any) -> Any:
    return gym.make("mage/ALFWorld-meta-v0", **kwargs).unwrapped


def plan_of(number: int, dialect: str = "0.4") -> tuple[str, ...]:
    plan = solve(Game.from_layout(household(number), dialect).start())
    assert plan is not None
    return plan


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
def test_the_solvers_plan_wins_an_episode(dialect: str) -> None:
    for number in range(30):
        if len(plan_of(number)) > 10:
            continue
        env = make(dialect=dialect, episodes=2)
        env.reset(seed=1, options={"instance": number})
        for command in plan_of(number, dialect):
            _, reward, terminated, _, info = env.step(f"<action>{command}</action>")
        assert (reward, terminated, info["phase"]) == (1.0, False, "reflect")
        assert info["episode_result"]["outcome"] == "win"
        env.step("noted")
        for command in plan_of(number, dialect):
            _, reward, terminated, truncated, info = env.step(command)
        assert (reward, terminated, truncated) == (1.0, True, False)


def test_the_limit_truncates_and_a_win_in_the_last_turn_counts() -> None:
    env = gym.make("mage/ALFWorld-v0").unwrapped
    env.reset(seed=1, options={"instance": 1})
    for turn in range(10):
        _, reward, terminated, truncated, info = env.step("look")
        assert (reward, terminated, truncated) == (0.0, False, turn == 9)
    assert info["episode_result"]["outcome"] == "loss"
    plan = plan_of(1)
    env = gym.make("mage/ALFWorld-v0", turns=len(plan)).unwrapped
    env.reset(seed=1, options={"instance": 1})
    for command in plan:
        _, reward, terminated, truncated, _ = env.step(command)
    assert (reward, terminated, truncated) == (1.0, True, False)


def test_observations_begin_with_the_intro_and_repeat_the_task() -> None:
    env = make()
    observation, info = env.reset(seed=3)
    intro = Game.from_layout(household(info["privileged"]["instance"])).start().text
    assert observation == f"Episode 1 of 3.\n{intro}\nTurn 1 of 10."
    observation = env.step(info["legal_actions"][0])[0]
    task = household(info["privileged"]["instance"]).task
    assert observation.splitlines()[-2:] == [f"Your task is to: {task}", "Turn 2 of 10."]
    assert info["privileged"]["known"][0] == ("task_type", errand_of(info["privileged"]["instance"]).task)


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("0.4", "put {o} in/on {r}"),
        ("0.4", "Move  {o} INTO {r}"),
        ("0.4", "put {o} on {r}"),
        ("0.3", "move {o} to {r}"),
        ("0.3", "put {o} in {r}"),
    ],
)
def test_put_and_move_are_understood_in_both_dialects_and_recorded(dialect: str, answer: str) -> None:
    number = next(n for n in range(100) if errand_of(n).task == "pick_and_place_simple")
    world = load_world(f'alfworld(dialect="{dialect}")')
    state = world.start(number)
    *before, last = plan_of(number, dialect)
    for command in before:
        state = world.step(state, world.read(state, command)).state
    verb, between = {"0.3": ("put ", " in/on "), "0.4": ("move ", " to ")}[dialect]
    thing, receptacle = last.removeprefix(verb).split(between)
    said = answer.format(o=thing, r=receptacle)
    step = world.step(state, world.read(state, said))
    assert (step.reward, world.outcome(step.state)) == (1.0, "win")
    facts = world.facts(step.state)
    assert (facts["command"], facts["answer"], facts["possible"]) == (last, said, True)
    assert world.facts(state)["answer"] == ""


def test_what_begins_with_no_verb_is_asked_again_and_what_is_impossible_costs_a_turn() -> None:
    env = make(feedback="explain")
    env.reset(seed=1)
    _, _, _, _, info = env.step("I think I should look around.")
    assert info["invalid_reason"] == "unparsable"
    observation, reward, _, _, info = env.step("open nothing 7")
    assert "invalid_reason" not in info
    assert reward == 0.0
    assert "Nothing happens.\nThis is no command, or it names something that is not here.\n" in observation
    assert "Turn 2 of 10." in observation
    assert info["view"].facts["possible"] is False


def test_answers_to_the_letter_are_as_in_alfworld() -> None:
    env = make(answers="alfworld")
    _, info = env.reset(seed=1)
    place = info["legal_actions"][0]
    for answer in ("I think I should look around.", place.upper(), "put x in y"):
        observation, _, _, _, info = env.step(answer)
        assert observation.splitlines()[1] == "Nothing happens."
        assert "invalid_reason" not in info
    assert env.step(place)[0].splitlines()[1].startswith("You arrive at ")


def test_reasons_say_what_is_wrong_and_nothing_that_is_hidden() -> None:
    number = next(n for n in range(200) if errand_of(n).room == "kitchen" and "mug 1" in _things(n))
    world = load_world("alfworld(feedback=explain)")
    state = world.start(number)

    def why(command: str) -> str:
        nonlocal state
        state = world.step(state, world.read(state, command)).state
        return str(world.facts(state)["why"])

    assert why("go to cabinet 1") == ""
    assert why("go to cabinet 1") == "You are already at the cabinet 1."
    assert why("take mug 1 from cabinet 1") == "The cabinet 1 is closed."
    assert why("open fridge 1") == "You are not at the fridge 1."
    assert why("close cabinet 1") == "The cabinet 1 is already closed."
    assert why("open cabinet 1") == ""
    assert why("open cabinet 1") == "The cabinet 1 is already open."
    assert why("examine mug 1") == "You are not carrying a mug 1."
    assert why("heat mug 1 with microwave 1") == "You are not carrying a mug 1."
    assert why("use mug 1") == "There is no mug 1 here that can be used."
    assert why("move mug 1 to cabinet 1") == "You are not carrying a mug 1."


def test_reasons_do_not_tell_what_exists() -> None:
    number = next(n for n in range(200) if errand_of(n).room == "kitchen" and "mug 1" in _things(n))
    world = load_world("alfworld(feedback=explain)")
    assert "mug 99" not in _things(number)
    start = world.start(number)
    for before in ("look", "go to fridge 1", "go to cabinet 1"):
        state = world.step(start, world.read(start, before)).state
        for command in (
            "take {} from fridge 1", "move {} to fridge 1", "put {} in fridge 1", "put {} in/on cabinet 1", "use {}",
            "examine {}", "heat {} with microwave 1", "clean {} with sinkbasin 1", "slice {} with {}", "open {}",
            "take {}", "go to {}",
        ):  # fmt: skip
            told = []
            for thing in ("mug 1", "mug 99", "zebra 1"):
                facts = world.facts(world.step(state, world.read(state, command.format(thing, thing))).state)
                assert not facts["possible"]
                told.append([str(facts[key]).replace(thing, "it") for key in ("why", "command")])
            assert told[0] == told[1] == told[2]


def _things(number: int) -> tuple[str, ...]:
    return Game.from_layout(household(number)).things


def test_possible_commands_stand_in_the_text_if_asked_for() -> None:
    env = make(admissible="text")
    observation, info = env.reset(seed=2)
    assert f"\nPossible commands: {'; '.join(info['legal_actions'])}\n" in observation
    assert "Possible commands" not in make().reset(seed=2)[0]


@pytest.mark.parametrize("split", ["train", "validation", "test", "task_types", "rooms", "pairs"])
def test_splits_draw_what_belongs_to_them(split: str) -> None:
    world = load_world(f"alfworld(split={split})")
    drawn = [world.draw(k / 40) for k in range(40)]
    assert len(set(drawn)) == 40
    assert {split_of(int(each)) for each in drawn} == {split}


def test_tasks_can_be_chosen_in_made_households() -> None:
    held, seen = load_world("alfworld(tasks=held_out)"), load_world("alfworld(tasks=seen)")
    assert {errand_of(int(held.draw(k / 30))).task for k in range(30)} == HELD_TASKS
    assert not {errand_of(int(seen.draw(k / 30))).task for k in range(30)} & HELD_TASKS
    with pytest.raises(ValueError, match="has none of these types of tasks"):
        load_world("alfworld(tasks=held_out, split=rooms)")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("dialect=0.5", "dialect must be one of"),
        ("quirks=some", "quirks must be one of"),
        ("feedback=loud", "feedback must be one of"),
        ("admissible=never", "admissible must be one of"),
        ("answers=strict", "answers must be one of"),
        ("split=tests", "split must be one of"),
        ("tasks=cool", "tasks must be one of"),
    ],
)
def test_unknown_names_are_refused(argument: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_world(f"alfworld({argument})")


def test_the_rules_speak_the_dialect() -> None:
    old, new = load_world('alfworld(dialect="0.3")'), load_world("alfworld")
    assert "put O in/on R" in old.rules
    assert "help" not in old.rules
    assert "move O to R" in new.rules
    assert load_world("alfworld(dialect=0.3)").rules == old.rules
