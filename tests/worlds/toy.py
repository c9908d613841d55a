"""Two toy worlds that show what the contract can hold: closed moves with arrays, and free text without any."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mage_envs.worlds import WORLDS, Command, Facts, InstanceId, State, Step, TensorBox, World, WorldOutcome

CLIMB = 3


class Ladder(World):
    """Climb ``height`` rungs; one wrong step on the instance's bad rung is a fall."""

    title = "Ladder"
    rules, unit, hint = "Climb to the top.", "1 at the top, else 0", "Answer up or wait."
    turns, actions, moves_per_turn = 6, 2, 2
    vocabulary = frozenset({"up", "wait", "climb", "jump"})
    box = TensorBox((1,), 0.0, 9.0)
    worst_score = -1.0

    def __init__(self, height: int = CLIMB) -> None:
        self.height = height

    def start(self, instance: InstanceId) -> State:
        return (0, int(instance) % self.height)

    def step(self, state: State, command: Command) -> Step:
        rung, bad = state
        if command == 1:
            return Step(state, 0.0)
        if rung == bad and bad == self.height - 1:
            return Step((-1, bad), -1.0)
        return Step((rung + 1, bad), float(rung + 1 == self.height))

    def outcome(self, state: State) -> WorldOutcome | None:
        return "win" if state[0] == self.height else "loss" if state[0] < 0 else None

    def facts(self, state: State) -> Facts:
        return {"rung": state[0]}

    def describe(self, facts: Facts) -> str:
        return f"You stand on rung {facts['rung']}."

    def tensor(self, state: State) -> npt.NDArray[Any]:
        return np.array([max(state[0], 0)], dtype=np.float32)

    def legal(self, state: State) -> tuple[int, ...]:
        return (0, 1)

    def words(self, state: State, action: int) -> tuple[str, ...]:
        return (("up", "climb"), ("wait",))[action]


class Asked(NamedTuple):
    secret: str
    said: str = "Ask me."


class Riddle(World):
    """Say the secret letter case and all: ``say[...]``. Anything in these brackets can be said."""

    title = "Riddle"
    rules, unit, hint = "Guess the word.", "1 if guessed", "Answer say[word]."
    turns = 3

    def draw(self, u: float) -> InstanceId:
        return ("Red", "Green")[int(2 * u)]

    def check_instance(self, given: object) -> InstanceId:
        if given not in ("Red", "Green"):
            raise ValueError(f"an instance of Riddle is Red or Green, got {given!r}")
        return str(given)

    def start(self, instance: InstanceId) -> State:
        return Asked(str(instance))

    def step(self, state: State, command: Command) -> Step:
        return Step(state._replace(said=f"You said {command}."), float(command == state.secret))

    def outcome(self, state: State) -> WorldOutcome | None:
        return "win" if state.said == f"You said {state.secret}." else None

    def facts(self, state: State) -> Facts:
        return {"said": state.said}

    def describe(self, facts: Facts) -> str:
        return str(facts["said"])

    def names(self, state: State) -> tuple[str, ...]:
        return ("say[...]",)

    def read(self, state: State, answer: str) -> Command | None:
        return answer[4:-1] if answer.startswith("say[") and answer.endswith("]") else None


TOYS: dict[str, type[World]] = {"ladder": Ladder, "riddle": Riddle}


def register(monkeypatch: Any) -> None:
    """Registers the toys for one test."""
    monkeypatch.setattr(WORLDS, "_items", {**{name: WORLDS.get(name) for name in WORLDS}, **TOYS})
