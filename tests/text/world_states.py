"""States of worlds by random play: each answer that an agent is told of, however it is written, is what is played.

An answer is found in a reply before anybody asks what it means, so each name is written in every way once, and in each
state every name is read, and one of them through all that the environment does.

    python -m tests.text.world_states --states 1000000
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from mage_envs.envs.actions import read_command
from mage_envs.games import fold
from mage_envs.text.parser import ReplyKind, final_answer
from mage_envs.worlds import WORLDS, Command, World, WorldView, load_world
from tests.text.test_round_trip import WRITTEN

VARIANTS: Mapping[str, tuple[str, ...]] = {
    "sokoban": ("boxes=1", "boxes=3, show=coordinates", "rows=8, columns=8", "moves_per_turn=1"),
    "minesweeper": (
        "rows=5, columns=5", "rows=8, columns=8, mines=10, first_click=zero", "first_click=safe",
        "rows=7, columns=7, mines=4, first_click=given",
    ),
    "alfworld": ("dialect=0.3", "split=task_types, admissible=text"),
    "webshop": (),
}  # fmt: skip
"""What is played besides a world as it is; a world that is not named here is played as it is."""

SAID: Mapping[str, Callable[[Command], str]] = {
    "alfworld": lambda command: str(command.command),
    "webshop": lambda command: f"{command[0]}[{command[1]}]",
}
"""The name of a command, where a world has no action ids."""

EPISODE = 60
"""Longest random episode."""


def specs() -> list[str]:
    """Every registered world of the package, and variants."""
    names = [name for name in WORLDS if WORLDS.get(name).__module__.startswith("mage_envs.")]
    return [spec for name in names for spec in (name, *(f"{name}({each})" for each in VARIANTS.get(name, ())))]


def sampled(world: World, count: int, seed: int) -> Iterator[WorldView]:
    """Yields states in which the agent acts, by random play from new instances."""
    rng = np.random.default_rng(seed)
    while count > 0:
        state = world.start(world.draw(float(rng.random())))
        for turn in range(min(EPISODE, count)):
            view = WorldView(world, state, turn, EPISODE + 1)
            if view.terminal:
                break
            yield view
            count -= 1
            choices = view.legal or view.names
            chosen: Any = choices[int(rng.integers(len(choices)))]
            if not view.legal:
                words = rng.choice(view.text.split(), size=2)
                chosen = view.read(chosen.replace("<your words>", " ".join(words)))  # Else every search is one.
            state = world.step(state, chosen).state


def check(view: WorldView, rng: np.random.Generator, written: set[str]) -> None:
    """Sees that every name is its own action or command.

    Args:
        view: A state.
        rng: Chooses the name and the writing that goes through the environment's own reading.
        written: Names that were written in every way; grows.
    """
    for name in view.names:
        if name not in written:
            written.add(name)
            for write in WRITTEN:
                answer = final_answer(write(name))
                assert (answer.kind, fold(answer.text)) == (ReplyKind.OK, fold(name)), write(name)
    own: Callable[[str], Any] = view.spellings.__getitem__ if view.legal else lambda name: named(view, name)
    found = [own(fold(name) if view.legal else name) for name in view.names]
    assert found == list(view.legal or view.names)
    at = int(rng.integers(len(found)))
    reply = WRITTEN[int(rng.integers(len(WRITTEN)))](view.names[at])
    kind, command = read_command(view, reply, text=True)
    assert kind is ReplyKind.OK, reply
    assert (command if view.legal else said(view, command)) == found[at], reply


def named(view: WorldView, name: str) -> str:
    """Reads a name as an answer, and returns the name of the command that it is."""
    return said(view, view.read(name))


def said(view: WorldView, command: Command | None) -> str:
    """Returns the name of a command of a world without action ids; the command as text where none is declared."""
    assert command is not None
    return SAID.get(view.spec.name.partition("(")[0], str)(command)


def check_world(spec: str, count: int, seed: int = 0) -> int:
    """Checks so many states of a world. Returns how many different lists of names there were."""
    rng, written, lists = np.random.default_rng(seed), set[str](), set[tuple[str, ...]]()
    for view in sampled(load_world(spec), count, seed):
        check(view, rng, written)
        lists.add(view.names)
    return len(lists)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=1_000_000, help="states in all")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    every = specs()
    for number, spec in enumerate(every):
        count = given.states // len(every) + (number < given.states % len(every))
        print(f"{spec}: {count} states, {check_world(spec, count, given.seed)} lists of names")  # noqa: T201 -- a command


if __name__ == "__main__":
    _main()
