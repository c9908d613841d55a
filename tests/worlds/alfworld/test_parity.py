"""The engine against TextWorld 1.7.0 with alfworld 0.4.2, as recorded: equal to the letter."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mage_envs.worlds.alfworld import Game, State
from tests.worlds.alfworld.pack import Recorded, needs_pack, recorded

pytestmark = needs_pack


def replay(game: Game, steps: Recorded) -> list[tuple[str, list[str], bool]]:
    first = game.start()
    state, found = first.copy(), []
    for command, *_ in steps.steps:
        if command == "__reset__":
            state = first.copy()
        elif command is not None:
            state.step(command)
        found.append((state.text, state.admissible(), state.won))
    return found


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
def test_every_recorded_step_is_equal_to_the_letter(dialect: str, alfworld_data: Path) -> None:
    compared = 0
    for walk in recorded():
        if walk.dialect == dialect:
            found = replay(Game.from_file(alfworld_data / walk.game, dialect), walk)
            for (command, *told), ours in zip(walk.steps, found, strict=True):
                assert list(ours) == told, (walk.game, command)
            compared += len(found)
    assert compared >= {"0.3": 240, "0.4": 1_181}[dialect]


def test_threads_give_the_serial_transcripts(alfworld_data: Path) -> None:
    walks = [(Game.from_file(alfworld_data / walk.game, walk.dialect), walk) for walk in recorded()]
    serial = [replay(*walk) for walk in walks]
    barrier = threading.Barrier(8)

    def all_of_them(_: int) -> list[list[tuple[str, list[str], bool]]]:
        barrier.wait()
        return [replay(*walk) for walk in walks]

    with ThreadPoolExecutor(8) as pool:
        assert all(found == serial for found in pool.map(all_of_them, range(8)))


def test_all_published_games_load_and_states_are_values(alfworld_data: Path) -> None:
    files = sorted(alfworld_data.rglob("game.tw-pddl"))
    assert len(files) == 474
    rng = random.Random(3)
    for file in files:
        state = Game.from_file(file).start()
        assert not state.won
        for _ in range(5):
            state.step(rng.choice(state.admissible()))
        twins: list[State] = [state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))]
        before, command = state.copy(), rng.choice(state.admissible())
        state.step(command)
        for twin in twins:
            assert (twin.text, twin.admissible()) == (before.text, before.admissible())
            twin.step(command)
            assert (twin.text, twin.admissible(), twin.won) == (state.text, state.admissible(), state.won)
