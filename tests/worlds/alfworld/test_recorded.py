"""The engine against what TextWorld 1.7.0 said to walks in made households: see :mod:`tests.worlds.alfworld.record`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from mage_envs.worlds.alfworld import Game, household
from mage_envs.worlds.alfworld.households import errand_of
from tests.worlds.alfworld.record import DIALECTS, kept, numbers, walk


def test_every_recorded_step_is_equal_to_the_letter() -> None:
    compared: Counter[str] = Counter()
    for number, dialect, commands, told in kept():
        state = Game.from_layout(household(number), dialect).start()
        for command, said in zip([None, *commands], told, strict=True):
            if command is not None:
                state.step(command)
            assert (state.text, state.admissible(), state.won) == said, (number, dialect, command)
        assert state.won
        compared[dialect] += len(told)
    assert min(compared[dialect] for dialect in DIALECTS) > 200


def test_recorded_are_two_households_of_each_task_in_both_dialects(tmp_path: Path) -> None:
    walks = [(number, dialect) for number, dialect, *_ in kept()]
    assert walks == [(number, dialect) for number in numbers() for dialect in DIALECTS]
    tasks = Counter(errand_of(number).task for number in numbers())
    assert sorted(tasks.values()) == [2] * 6
    for number, dialect, commands, _ in kept():
        assert walk(number, dialect, tmp_path).commands == commands, "record again: households or walks have changed"


def test_recorded_walks_meet_every_verb() -> None:
    verbs = {command.split()[0] for *_, commands, _ in kept() for command in commands if command.strip()}
    assert verbs >= {
        "look", "inventory", "help", "go", "open", "close", "examine", "take", "put", "move", "clean", "heat", "cool",
        "use",
    }  # fmt: skip
