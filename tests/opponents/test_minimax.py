"""Perfect play on Tic-Tac-Toe, against known counts and against every reply."""

from __future__ import annotations

import numpy as np
import pytest

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import Position, PositionGraph, load_game_spec
from mage_envs.games.positions import TERMINAL
from mage_envs.opponents import make_opponent
from mage_envs.opponents.minimax import solve

GAME = load_game_spec("tic_tac_toe")
RNG = np.random.default_rng(0)


def kept(position: Position) -> set[int]:
    """The moves that minimax may play."""
    view = position.view(position.player)
    distribution, _ = make_opponent("minimax", GAME).policy(view, None, RNG)
    return {action for action, p in zip(view.legal, distribution, strict=True) if p > 0.0}


def test_known_openings_and_replies() -> None:
    root = PositionGraph(GAME).root
    assert kept(root) == set(range(9))
    assert kept(root.child(0)) == {4}, "only the centre answers a corner"
    assert kept(root.child(4)) == {0, 2, 6, 8}, "only corners answer the centre"
    assert kept(root.child(1)) == {0, 2, 4, 7}, "an edge: its corners, the centre, the edge behind"


def test_number_of_positions_with_a_choice() -> None:
    # Of the 5,478 boards 958 are final: 626 won by X, 316 by O, 16 drawn.
    assert len(solve(GAME)) == 5_478 - 958


@pytest.mark.parametrize("seat", [0, 1])
def test_it_never_loses_whatever_the_other_does(seat: int) -> None:
    waiting = [PositionGraph(GAME).root]
    seen, ends = set(waiting), []
    while waiting:
        position = waiting.pop()
        if position.player == TERMINAL:
            ends.append(position.returns[seat])
            continue
        moves = kept(position) if position.player == seat else position.view(position.player).legal
        new = {position.child(move) for move in moves} - seen
        seen |= new
        waiting += new
    assert min(ends) == 0.0
    assert max(ends) == 1.0


def test_it_wins_at_once_where_it_can_and_loses_late() -> None:
    root = PositionGraph(GAME).root
    win_now = root.child(0).child(3).child(1).child(4)  # X has 0 and 1, O has 3 and 4.
    assert kept(win_now) == {2}
    lost = root.child(0).child(1).child(4)  # O is lost, but can block 8.
    assert kept(lost) == {8}


def test_small_other_games_and_chance_are_solved() -> None:
    first_wins = load_game_spec("breakthrough(rows=3,columns=2)")
    assert make_opponent("minimax", first_wins).tabular


@pytest.mark.parametrize(
    ("game", "why"),
    [
        ("kuhn_poker", "play cfr, ismcts or random"),
        ("rock_paper_scissors", "move at once"),
        ("connect_four", "50,000 positions.*mcts"),
        ("pig", "100 moves.*mcts"),
    ],
)
def test_refusals_name_what_to_play_instead(game: str, why: str) -> None:
    with pytest.raises(UnsupportedGameError, match=why):
        make_opponent("minimax", load_game_spec(game))
