"""The 43 bots: a throw is a function of name, seed and history, and the C library's own stream is left alone."""

from __future__ import annotations

import ctypes
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyspiel
import pytest

from mage_envs.errors import SpecError, UnsupportedGameError
from mage_envs.games import Position, PositionGraph, load_game_spec
from mage_envs.games.positions import TERMINAL
from mage_envs.opponents import Opponent, make_opponent, roshambo
from mage_envs.opponents.roshambo import MATCH_THROWS, NAMES, Match, bot_throw

ROOT = Path(__file__).parents[2]
LIBC = ctypes.PyDLL(None)
LIBC.random.restype = ctypes.c_long


def others(seed: int, throws: int) -> list[int]:
    """What the other throws: mostly a cycle, so that bots have something to find."""
    rng = random.Random(seed)
    return [index % 3 if rng.random() < 0.7 else rng.randrange(3) for index in range(throws)]


def match_throws(name: str, seed: int, throws: int) -> Iterator[int]:
    """The throws of a bot in a match, one by one."""
    match = Match(seed)
    for other in others(seed, throws):
        own = bot_throw(name, match)
        yield own
        match = Match(seed, match.throws + bytes([3 * own + other]))


def transcripts(throws: int) -> dict[str, list[int]]:
    return {name: list(match_throws(name, 11, throws)) for name in NAMES}


def test_there_are_43() -> None:
    assert len(NAMES) == len(set(NAMES)) == pyspiel.ROSHAMBO_NUM_BOTS == 43


@pytest.mark.parametrize("name", NAMES)
def test_a_match_played_over_goes_the_same_way(name: str) -> None:
    throws = 120
    first = list(match_throws(name, 5, throws))
    pairs = bytes(3 * own + other for own, other in zip(first, others(5, throws), strict=True))
    for length in (0, 1, 2, 50, throws - 1):
        roshambo._ALIVE.clear()
        assert bot_throw(name, Match(5, pairs[:length])) == first[length]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_openspiels_bot(name: str) -> None:
    LIBC.srandom(5)
    bot = pyspiel.make_roshambo_bot(1, name)
    game = pyspiel.load_game(f"repeated_game(stage_game=matrix_rps(),num_repetitions={MATCH_THROWS})")
    state, throws = game.new_initial_state(), []
    for other in others(5, 60):
        throws.append(bot.step(state))
        state.apply_actions([other, throws[-1]])
    assert throws == list(match_throws(name, 5, 60))


def test_known_bots() -> None:
    assert list(match_throws("rockbot", 1, 9)) == [0] * 9
    assert list(match_throws("rotatebot", 1, 9)) == [0, 1, 2] * 3
    # copybot throws what beats the other's last throw.
    assert list(match_throws("copybot", 1, 9))[1:] == [(other + 1) % 3 for other in others(1, 9)[:-1]]


def test_other_processes_play_the_same() -> None:
    code = "import json; from tests.opponents.test_roshambo import transcripts; print(json.dumps(transcripts(80)))"
    here = transcripts(80)
    for filler in ("0", "165"):
        env = {**os.environ, "PYTHONHASHSEED": filler, "MALLOC_PERTURB_": filler, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, check=True)
        assert json.loads(done.stdout) == here


@pytest.mark.parametrize("name", ["shofar", "greenberg", "iocainebot", "randbot"])
def test_thirty_two_matches_at_once_go_as_one_by_one(name: str) -> None:
    serial = [list(match_throws(name, seed, 40)) for seed in range(32)]
    roshambo._ALIVE.clear()
    together = list(zip(*(match_throws(name, seed, 40) for seed in range(32)), strict=True))
    assert [list(throws) for throws in zip(*together, strict=True)] == serial


def test_more_matches_than_are_kept_alive_still_agree() -> None:
    matches = roshambo.MAX_ALIVE + 10
    serial = [list(match_throws("switchbot", seed, 12)) for seed in range(matches)]
    together = list(zip(*(match_throws("switchbot", seed, 12) for seed in range(matches)), strict=True))
    assert [list(throws) for throws in zip(*together, strict=True)] == serial
    assert len(roshambo._ALIVE) <= roshambo.MAX_ALIVE


def test_the_librarys_own_stream_is_left_alone() -> None:
    LIBC.srandom(7)
    untouched = [LIBC.random() for _ in range(6)]
    LIBC.srandom(7)
    drawn = [LIBC.random() for _ in range(2)]
    transcripts(5)
    assert [*drawn, *(LIBC.random() for _ in range(4))] == untouched


def play(game: str, opponent: Opponent, seed: int, against: list[int]) -> list[int]:
    """Plays episodes of a game until ``against`` is used up; the bot sits in seat 1, then 0, then 1 ..."""
    rng, graph = np.random.default_rng(seed), PositionGraph(load_game_spec(game))
    memory, throws, seat, position = opponent.start(rng), [], 1, graph.root
    for other in against:
        distribution, memory = opponent.policy(position.view(seat), memory, rng)
        throws.append(distribution.index(1.0))
        position = position.child((other, throws[-1]) if seat == 1 else (throws[-1], other))
        if position.player == TERMINAL:
            memory = opponent.end_episode(position.view(seat), memory)
            seat, position = 1 - seat, graph.root
    return throws


@pytest.mark.parametrize("name", ["greenberg", "iocainebot", "biopic", "shofar"])
def test_the_match_goes_on_over_episodes_and_seats(name: str) -> None:
    against = others(3, 60)
    by_game = [play(game, make_opponent(f"roshambo(name={name})", load_game_spec(game)), 3, against)
               for game in ("rock_paper_scissors", "matrix_rps", "rock_paper_scissors(throws=3)",
                            "rock_paper_scissors(throws=20)", "rock_paper_scissors(throws=60)")]  # fmt: skip
    assert all(throws == by_game[0] for throws in by_game)


def test_after_a_thousand_throws_a_new_match_begins() -> None:
    game = load_game_spec("rock_paper_scissors")
    opponent, rng = make_opponent("roshambo(name=antiflatbot)", game), np.random.default_rng(0)
    root: Position = PositionGraph(game).root
    full = Match(9, bytes([0]) * (MATCH_THROWS - 1))
    assert opponent.policy(root.view(0), full, rng)[1] == full
    begun = opponent.end_episode(root.child((0, 0)).view(0), full)
    assert begun.throws == b""
    assert begun.seed != full.seed
    assert opponent.policy(root.view(0), begun, rng)[0] == opponent.policy(root.view(0), Match(begun.seed), rng)[0]


def test_errors_name_the_remedy() -> None:
    game = load_game_spec("rock_paper_scissors")
    with pytest.raises(SpecError, match=r"'greenburg'\. Did you mean 'greenberg'"):
        make_opponent("roshambo(name=greenburg)", game)
    with pytest.raises(SpecError, match="missing a required argument: 'name'"):
        make_opponent("roshambo", game)
    with pytest.raises(UnsupportedGameError, match="rock_paper_scissors only"):
        make_opponent("roshambo(name=greenberg)", load_game_spec("kuhn_poker"))
