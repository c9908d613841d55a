"""Strength, wins in one, repeatability and refusals of mcts (PAINS B4, B5, B6)."""

from __future__ import annotations

import numpy as np
import pytest

from mage_envs.errors import SpecError, UnsupportedGameError
from mage_envs.games import PositionGraph, load_game_spec
from mage_envs.games.positions import TERMINAL
from mage_envs.opponents import make_opponent, sample_index
from tests.opponents.play import decision_views

GAME = load_game_spec("tic_tac_toe")
GAMES_A_SEAT = 200


def result(first: str, second: str, seed: int) -> float:
    """Seat 0's result of one game."""
    rng = np.random.default_rng(seed)
    players = [make_opponent(spec, GAME) for spec in (first, second)]
    position = PositionGraph(GAME).root
    while position.player != TERMINAL:
        view = position.view(position.player)
        distribution, _ = players[position.player].policy(view, None, rng)
        position = position.child(view.legal[sample_index(distribution, rng.random(), view)])
    return position.returns[0]


@pytest.mark.parametrize("uct_c", [2.0, 1.4])
def test_a_thousand_simulations_never_lose_to_random(uct_c: float) -> None:
    mcts = f"mcts(simulations=1000, uct_c={uct_c})"
    as_first = [result(mcts, "random", seed) for seed in range(GAMES_A_SEAT)]
    as_second = [result("random", mcts, seed) for seed in range(GAMES_A_SEAT)]
    assert min(as_first) >= 0.0
    assert max(as_second) <= 0.0
    assert sum(as_first) > 0.9 * GAMES_A_SEAT
    assert sum(as_second) < -0.7 * GAMES_A_SEAT


def test_it_draws_with_perfect_play() -> None:
    assert {result("mcts(simulations=1000)", "minimax", seed) for seed in range(20)} == {0.0}
    assert {result("minimax", "mcts(simulations=1000)", seed) for seed in range(20)} == {0.0}


@pytest.mark.parametrize("simulations", [100, 1000])
def test_it_takes_every_win_in_one(simulations: int) -> None:
    mcts, rng, wins = make_opponent(f"mcts(simulations={simulations})", GAME), np.random.default_rng(0), 0
    for view in decision_views("tic_tac_toe")[:: simulations // 100]:
        state = view.sample_state(rng)
        winning = [action for action in view.legal if state.child(action).returns()[view.seat] > 0]
        if winning:
            wins += 1
            distribution, _ = mcts.policy(view, None, rng)
            assert view.legal[distribution.index(1.0)] in winning, view.key
    assert wins > 100


def test_same_seed_same_move_and_other_seeds_other_moves() -> None:
    mcts, root = make_opponent("mcts", GAME), PositionGraph(GAME).root.view(0)
    moves = [mcts.policy(root, None, np.random.default_rng(seed))[0] for seed in range(40)]
    again = [mcts.policy(root, None, np.random.default_rng(seed))[0] for seed in range(40)]
    assert moves == again
    assert len(set(moves)) > 1


def test_on_hidden_information_it_names_what_to_play() -> None:
    for game in ("kuhn_poker", "leduc_poker", "liars_dice(numdice=1)", "rock_paper_scissors"):
        with pytest.raises(UnsupportedGameError, match=r"(?s)ismcts.*cfr"):
            make_opponent("mcts", load_game_spec(game))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mcts(simulations=0)", "simulations must be an integer in 1..10000000, got 0"),
        ("mcts(simulations=-5)", "simulations must be an integer in 1..10000000, got -5"),
        ("mcts(simulations=10.5)", "simulations must be an integer"),
        ("mcts(simulations=true)", "simulations must be an integer"),
        ("mcts(simulations=many)", "simulations must be an integer"),
        ("mcts(uct_c=-1)", "uct_c must be a number in 0..1000, got -1"),
        ("mcts(rollouts=0)", "rollouts must be an integer in 1..10000, got 0"),
        ("mcts(simulation=100)", "has no parameter 'simulation'. Did you mean 'simulations'?"),
    ],
)
def test_bad_parameters(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make_opponent(spec, GAME)
