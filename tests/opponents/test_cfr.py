"""Exploitability of cfr and cfr_argmax by best response only (PAINS B3), and that cfr is sampled (PAINS B7)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyspiel
import pytest
from scipy.stats import chisquare

from mage_envs.errors import SpecError, UnsupportedGameError
from mage_envs.games import load_game_spec
from mage_envs.opponents import make_opponent, sample_index
from tests.opponents.play import decision_views


def exploitability(game: str, spec: str) -> float:
    """Mean of what the best responses from both seats earn, as OpenSpiel computes it."""
    opponent, rng = make_opponent(spec, load_game_spec(game)), np.random.default_rng(0)
    table = {view.key: list(zip(view.legal, opponent.policy(view, None, rng)[0], strict=True))
             for view in decision_views(game)}  # fmt: skip
    return float(pyspiel.exploitability(load_game_spec(game).game, pyspiel.TabularPolicy(table)))


def test_the_sampled_average_of_kuhn_poker_is_an_equilibrium() -> None:
    assert exploitability("kuhn_poker", "cfr") < 0.0005
    assert exploitability("kuhn_poker", "cfr(iterations=1000)") < 0.0001


def test_the_argmax_is_not() -> None:
    for iterations in (100, 300, 1000):
        assert exploitability("kuhn_poker", f"cfr_argmax(iterations={iterations})") == pytest.approx(1 / 6)


def test_the_sampled_average_of_leduc_poker_is_an_equilibrium() -> None:
    assert exploitability("leduc_poker", "cfr") < 0.005


def test_rock_paper_scissors_is_uniform() -> None:
    for game in ("rock_paper_scissors", "matrix_rps"):
        cfr = make_opponent("cfr", load_game_spec(game))
        for view in decision_views(game):
            assert cfr.policy(view, None, np.random.default_rng(0))[0] == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_biased_rock_paper_scissors_has_its_known_equilibrium() -> None:
    """OpenSpiel's matrix_brps pays 25, 50, 5 for the three wins: rock 1/16, paper 10/16, scissors 5/16."""
    cfr = make_opponent("cfr(iterations=20000)", load_game_spec("matrix_brps"))
    for view in decision_views("matrix_brps"):
        found = cfr.policy(view, None, np.random.default_rng(0))[0]
        assert found == pytest.approx((1 / 16, 10 / 16, 5 / 16), abs=0.002)


def test_moves_follow_the_average_strategy() -> None:
    cfr, rng = make_opponent("cfr", load_game_spec("kuhn_poker")), np.random.default_rng(1)
    draws = 4_000
    for view in decision_views("kuhn_poker"):
        distribution, _ = cfr.policy(view, None, rng)
        if min(distribution) > 0.01:
            counts = Counter(sample_index(distribution, rng.random(), view) for _ in range(draws))
            expected = [draws * p for p in distribution]
            assert chisquare([counts[0], counts[1]], expected).pvalue > 0.001, view.key


def test_the_argmax_plays_the_likeliest_action() -> None:
    game = load_game_spec("leduc_poker")
    average, argmax = make_opponent("cfr(iterations=20)", game), make_opponent("cfr_argmax(iterations=20)", game)
    rng = np.random.default_rng(0)
    for view in decision_views("leduc_poker"):
        sampled, sure = average.policy(view, None, rng)[0], argmax.policy(view, None, rng)[0]
        assert max(sure) == 1.0
        assert sampled[sure.index(1.0)] == max(sampled)


def test_the_summaries_say_what_they_are() -> None:
    game = load_game_spec("kuhn_poker")
    assert "exploitable for 1/6" in make_opponent("cfr_argmax", game).describe()
    assert "exploitable for 0.0004" in make_opponent("cfr", game).describe()


@pytest.mark.parametrize(
    ("game", "why"),
    [
        ("tic_tac_toe", "minimax and mcts"),
        ("connect_four", "minimax and mcts"),
        ("liars_dice(numdice=1)", "more than 100,000 histories"),
        ("kuhn_poker(players=3)", "two seats"),
        ("matrix_pd", "zero-sum"),
        ("rock_paper_scissors(throws=2)", "information states"),
    ],
)
def test_refusals(game: str, why: str) -> None:
    for name in ("cfr", "cfr_argmax"):
        with pytest.raises(UnsupportedGameError, match=why):
            make_opponent(name, load_game_spec(game))


def test_bad_parameters() -> None:
    for spec in ("cfr(iterations=0)", "cfr(iterations=1.5)", "cfr_argmax(iterations=-1)"):
        with pytest.raises(SpecError, match=r"in 1\.\.100000"):
            make_opponent(spec, load_game_spec("kuhn_poker"))
