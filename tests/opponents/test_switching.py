"""One opponent, then another: both see every episode."""

from __future__ import annotations

import numpy as np
import pytest

from mage_envs.errors import SpecError, UnknownNameError, UnsupportedGameError
from mage_envs.games import load_game_spec
from mage_envs.opponents import make_opponent
from tests.opponents.test_rock_paper_scissors import PAPER, ROCK, SCISSORS, against

GAME = load_game_spec("rock_paper_scissors")


def test_the_second_takes_over_at_its_episode() -> None:
    wanted = against("switching(a=constant(action=rock), b=constant(action=scissors), at=2)", [0, 0, 0, 0])
    assert wanted == [ROCK, ROCK, SCISSORS, SCISSORS, SCISSORS]


def test_an_episode_with_many_throws_is_one() -> None:
    spec = "switching(constant(rock), constant(scissors), 1)"
    wanted = against(spec, [0, 0, 0, 0], "rock_paper_scissors(throws=3)")
    assert wanted == [ROCK, ROCK, ROCK, SCISSORS, SCISSORS]


def test_the_second_has_learnt_from_what_the_first_played() -> None:
    assert against("switching(cycle, fictitious_play, 3)", [0, 0, 0])[3] == PAPER


def test_they_nest() -> None:
    spec = "switching(constant(rock), switching(constant(paper), constant(scissors), 2), 1)"
    assert against(spec, [0, 0, 0]) == [ROCK, PAPER, SCISSORS, SCISSORS]


def test_it_starts_the_second_afresh_in_each_meta_episode() -> None:
    opponent = make_opponent("switching(random, roshambo(shofar), 1)", GAME)
    seeds = {opponent.start(np.random.default_rng(seed)).second.seed for seed in range(5)}
    assert len(seeds) == 5


def test_bad_parameters() -> None:
    for at in ("0", "-1", "1.5", "true", "soon"):
        with pytest.raises(SpecError, match=r"at must be an integer in 1\.\.100000"):
            make_opponent(f"switching(random, mirror, at={at})", GAME)
    with pytest.raises(UnknownNameError, match="Did you mean 'mirror'"):
        make_opponent("switching(random, miror, 2)", GAME)
    with pytest.raises(SpecError, match="an opponent is a spec"):
        make_opponent("switching(random, 5, 2)", GAME)
    with pytest.raises(UnsupportedGameError, match="kuhn_poker only"):
        make_opponent("switching(random, aggressive, 2)", GAME)
    with pytest.raises(SpecError, match="missing a required argument: 'b'"):
        make_opponent("switching(random)", GAME)
