"""Hidden cards cannot matter to ismcts (PAINS B6), and games that OpenSpiel cannot redraw are refused."""

from __future__ import annotations

import numpy as np
import pytest

from mage_envs.errors import SpecError, UnsupportedGameError
from mage_envs.games import PositionGraph, View, load_game_spec
from mage_envs.opponents import make_opponent


def moves(view: View, spec: str, seeds: int) -> list[tuple[float, ...]]:
    opponent = make_opponent(spec, view.spec)
    return [opponent.policy(view, None, np.random.default_rng(seed))[0] for seed in range(seeds)]


@pytest.mark.parametrize("card", [0, 1, 2])
@pytest.mark.parametrize("line", [(), (0, 1)])
def test_permuting_the_hidden_card_of_kuhn_poker_changes_nothing(card: int, line: tuple[int, ...]) -> None:
    found = []
    for hidden in {0, 1, 2} - {card}:
        position = PositionGraph(load_game_spec("kuhn_poker")).root.child(card).child(hidden)
        for action in line:
            position = position.child(action)
        found.append(moves(position.view(0), "ismcts(simulations=50)", 20))
    assert found[0] == found[1]


def test_permuting_the_hidden_card_of_leduc_poker_changes_nothing() -> None:
    found = []
    for hidden in (0, 2, 3, 5):
        position = PositionGraph(load_game_spec("leduc_poker")).root.child(4).child(hidden)
        for action in (2, 1, 1):  # A bet, a call, and the public card.
            position = position.child(action)
        found.append(moves(position.view(0), "ismcts(simulations=50)", 5))
    assert all(other == found[0] for other in found)


def test_it_plays_the_obvious() -> None:
    root = PositionGraph(load_game_spec("kuhn_poker")).root
    king_facing_a_bet = root.child(0).child(2).child(1).view(1)
    jack_facing_a_bet = root.child(2).child(0).child(1).view(1)
    assert set(moves(king_facing_a_bet, "ismcts(simulations=200)", 10)) == {(0.0, 1.0)}
    assert set(moves(jack_facing_a_bet, "ismcts(simulations=200)", 10)) == {(1.0, 0.0)}


def test_a_forced_move_needs_no_search() -> None:
    game = load_game_spec("leduc_poker")
    view = PositionGraph(game).root.child(0).child(2).view(0)
    assert make_opponent("ismcts(simulations=2)", game).policy(view, None, np.random.default_rng(0))[0]


@pytest.mark.parametrize(
    ("game", "why"),
    [
        ("tic_tac_toe", "mcts or minimax"),
        ("rock_paper_scissors", "cfr or random"),
        ("liars_dice(numdice=1)", "cannot redraw.*cfr"),
        ("go_fish", "cannot redraw"),
        ("hearts", "cannot redraw"),
    ],
)
def test_refusals(game: str, why: str) -> None:
    with pytest.raises(UnsupportedGameError, match=why):
        make_opponent("ismcts", load_game_spec(game))


def test_bad_parameters() -> None:
    for spec in ("ismcts(simulations=1)", "ismcts(simulations=-3)", "ismcts(uct_c=-1)"):
        with pytest.raises(SpecError, match=r"in \d+\.\.\d+"):
            make_opponent(spec, load_game_spec("kuhn_poker"))
