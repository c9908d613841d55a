"""The reference engine: with a stand-in for TextWorld, and with TextWorld itself where there is one."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from mage_envs.errors import MageError
from mage_envs.worlds.alfworld import reference
from tests.conformance.cases import transcript

STAND_IN = """
import json, sys
from mage_envs.worlds.alfworld import Game
for line in sys.stdin:
    job = json.loads(line)
    dialect = "0.4" if job["dialect"] == "own" else job["dialect"]
    state = Game.from_file(job["file"], dialect).start()
    told = [(state.text, state.admissible(), state.won)]
    for command in job["commands"]:
        state.step(command)
        told.append((state.text, state.admissible(), state.won))
    print(json.dumps(told), flush=True)
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Our own engine in the place of TextWorld."""
    script = tmp_path / "side.py"
    script.write_text(STAND_IN)
    monkeypatch.setattr(reference, "SIDE", script)
    monkeypatch.delenv("MAGE_TEXTWORLD_PYTHON", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    reference._process.cache_clear()
    yield
    reference._process(os.getpid()).close()
    reference._process.cache_clear()


def make(**kwargs: Any) -> Any:
    return gym.make("mage/ALFWorld-meta-v0", episodes=2, **kwargs).unwrapped


@pytest.mark.usefixtures("stand_in")
def test_an_environment_on_it_is_as_one_on_ours() -> None:
    assert list(transcript(make(engine="textworld"), 4)) == list(transcript(make(), 4))


@pytest.mark.usefixtures("stand_in")
def test_states_are_values() -> None:
    world = make(engine="textworld").world
    state = world.start(3)
    command = world.read(state, world.names(state)[0])
    after = world.step(state, command).state
    assert world.facts(state)["command"] == ""
    for twin in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert world.facts(world.step(twin, command).state) == world.facts(after)
    assert world.content(state)
    assert world.known(state)["solver_steps"] > 2


def test_without_textworld_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "side.py"
    script.write_text("import textworld_that_nobody_has")
    monkeypatch.setattr(reference, "SIDE", script)
    reference._process.cache_clear()
    with pytest.raises(MageError, match="MAGE_TEXTWORLD_PYTHON"):
        make(engine="textworld").reset(seed=1)


def test_a_python_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reference._process.cache_clear()
    with monkeypatch.context() as patch:
        patch.setenv("MAGE_TEXTWORLD_PYTHON", str(tmp_path / "nowhere"))
        with pytest.raises(MageError, match=r"nowhere.*No such file.*MAGE_TEXTWORLD_PYTHON"):
            make(engine="textworld").reset(seed=1)


def test_what_textworld_does_not_have_is_refused() -> None:
    for more in ({"quirks": "clean"}, {"feedback": "explain"}):
        with pytest.raises(ValueError, match="leave them out"):
            make(engine="textworld", **more)
    with pytest.raises(ValueError, match="engine must be one of"):
        make(engine="fast")


@pytest.mark.skipif("MAGE_TEXTWORLD_PYTHON" not in os.environ, reason="no Python with TextWorld is named")
def test_textworld_itself_plays_a_household() -> None:
    reference._process.cache_clear()
    env, twin = make(engine="textworld", turns=4), make(turns=4)
    rng = np.random.default_rng(0)
    (observation, info), (expected, _) = env.reset(seed=9), twin.reset(seed=9)
    for _ in range(6):
        assert observation == expected
        command = str(rng.choice(info["legal_actions"])) if info["legal_actions"] else ""
        observation, *_, info = env.step(command)
        expected = twin.step(command)[0]
    reference._process(os.getpid()).close()
    reference._process.cache_clear()
