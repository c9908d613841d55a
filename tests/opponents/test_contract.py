"""What every opponent owes, over everything registered: a new one is covered unasked."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from mage_envs.games import load_game_spec
from mage_envs.opponents import OPPONENTS, Opponent, make_opponent
from tests.opponents.play import (
    EXAMPLES,
    NEED_A_FILE,
    SMALL_GAMES,
    all_digests,
    decision_views,
    digest,
    meta_episode,
    opponents_for,
)

ROOT = Path(__file__).parents[2]


def test_each_opponent_plays_some_small_game() -> None:
    playing = {opponent.spec.name for game in SMALL_GAMES for opponent in opponents_for(game)}
    assert playing == set(OPPONENTS) - set(NEED_A_FILE), "add a game or an example to tests/opponents/play.py"


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_distributions_are_valid_at_every_view(game: str) -> None:
    rng = np.random.default_rng(0)
    for opponent in opponents_for(game):
        for view in decision_views(game):
            distribution, _ = opponent.policy(view, opponent.start(rng), rng)
            assert type(distribution) is tuple
            assert len(distribution) == len(view.legal), (opponent, view)
            assert min(distribution) >= 0.0, (opponent, view)
            assert abs(sum(distribution) - 1.0) < 1e-9, (opponent, view)


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_a_tabular_opponent_looks_at_the_view_only(game: str) -> None:
    for opponent in opponents_for(game):
        if opponent.tabular:
            assert opponent.start(np.random.default_rng(0)) is None
            for view in decision_views(game)[::7]:
                generators = [np.random.default_rng(seed) for seed in (1, 2)]
                first, second = (opponent.policy(view, None, rng) for rng in generators)
                assert first == second
                assert first[1] is None
            assert "end_episode" not in vars(type(opponent))


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_a_decision_is_a_function_of_its_arguments(game: str) -> None:
    for opponent in opponents_for(game):
        memory = opponent.start(np.random.default_rng(5))
        frozen = pickle.dumps(memory)
        for view in decision_views(game)[::11]:
            asked = [opponent.policy(view, memory, np.random.default_rng(3)) for _ in range(2)]
            assert asked[0] == asked[1]
            assert pickle.dumps(memory) == frozen


@pytest.mark.parametrize("game", SMALL_GAMES)
def test_memory_survives_pickling(game: str) -> None:
    for opponent in opponents_for(game):
        spec = str(opponent.spec)
        assert [*meta_episode(game, spec, 1, through_pickle=True)] == [*meta_episode(game, spec, 1)]


def test_another_process_plays_the_same() -> None:
    here = all_digests()
    for salt, filler in (("1", "85"), ("2", "170")):
        # MALLOC_PERTURB_ fills fresh memory: a bot that reads what nobody wrote would play differently.
        env = {**os.environ, "PYTHONHASHSEED": salt, "MALLOC_PERTURB_": filler, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "tests.opponents.play"]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == here


def test_eight_threads_play_as_one() -> None:
    cases = [(game, str(opponent.spec), seed) for game in ("kuhn_poker", "rock_paper_scissors(throws=2)", "tic_tac_toe")
             for opponent in opponents_for(game) for seed in range(4)]  # fmt: skip
    serial = [digest(*case) for case in cases]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda case: digest(*case), cases)) == serial


def test_global_generators_are_left_alone() -> None:
    before = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002 - it must stay as it is.
    for game in SMALL_GAMES:
        for opponent in opponents_for(game):
            digest(game, str(opponent.spec))
    assert (random.getstate(), pickle.dumps(np.random.get_state())) == before  # noqa: NPY002


def test_each_has_a_summary_and_describes_itself() -> None:
    for name in OPPONENTS:
        assert cast(type[Opponent], OPPONENTS.get(name)).summary, name
    for game in SMALL_GAMES:
        for opponent in opponents_for(game):
            assert opponent.describe().startswith(str(opponent.spec))


def test_examples_are_only_where_they_are_needed() -> None:
    required = {
        name
        for name in OPPONENTS
        for parameter in list(inspect.signature(OPPONENTS.get(name)).parameters.values())[1:]
        if parameter.default is parameter.empty
    }
    assert required - set(NEED_A_FILE) <= set(EXAMPLES)


def test_equal_specs_are_one_object_and_pickle_to_it() -> None:
    game = load_game_spec("tic_tac_toe")
    short, long = make_opponent("mcts(100)", game), make_opponent("mcts(simulations=100, uct_c=2.0, rollouts=1)", game)
    assert short is long
    assert str(short.spec) == "mcts(simulations=100, uct_c=2.0, rollouts=1)"
    assert pickle.loads(pickle.dumps(short)) is short
