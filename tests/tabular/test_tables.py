"""Strategies as tables, and the listing of small games."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mage_envs.errors import MageError, SpecError, UnsupportedGameError
from mage_envs.games import load_game_spec
from mage_envs.opponents import OPPONENTS, Opponent, make_opponent
from mage_envs.tabular.histories import decision_views, terminal_histories
from mage_envs.tabular.seat_tree import seat_tree
from mage_envs.tabular.tables import other_tables, strategy_table, tremble

KUHN = load_game_spec("kuhn_poker")


@pytest.mark.parametrize(
    ("game", "histories", "decisions"),
    [("kuhn_poker", 30, 6), ("leduc_poker", 5520, 468), ("matrix_rps", 9, 1), ("kuhn_poker(players=3)", 312, 16)],
)
def test_sizes(game: str, histories: int, decisions: int) -> None:
    """OpenSpiel's own counts: ``games/kuhn_poker``, ``games/leduc_poker`` tests."""
    spec = load_game_spec(game)
    assert len(terminal_histories(spec)) == histories
    assert [len(views) for views in decision_views(spec)] == [decisions] * spec.seats


def test_tic_tac_toe_is_listed_by_position() -> None:
    """5,478 positions, of which 4,520 are not over (minimax's count): 2,423 with X to move and 2,097 with O."""
    views = decision_views(load_game_spec("tic_tac_toe"))
    assert [len(found) for found in views] == [2423, 2097]


def test_chance_adds_up_to_one_deal() -> None:
    chance = Counter({history.deal: history.chance for history in terminal_histories(KUHN)})
    assert len(chance) == 6
    assert sum(chance.values()) == pytest.approx(1.0)


def test_all_terminal_histories_of_kuhn_pay_right() -> None:
    """30 histories (PAINS A12): 1 chip after a fold or two passes, 2 after a call; the higher card wins a showdown."""
    for history in terminal_histories(KUHN):
        own, other = history.deal
        moves = tuple(move.choice for move in history.moves)
        if moves in ((1, 0), (0, 1, 0)):
            expected = 1 if moves == (1, 0) else -1
        else:
            expected = (1 if own > other else -1) * (1 if moves == (0, 0) else 2)
        assert history.position.returns == (expected, -expected)


def test_table_of_an_opponent() -> None:
    assert strategy_table(KUHN, "conservative", 0) == {
        "0": (1.0, 0.0), "1": (1.0, 0.0), "2": (0.0, 1.0), "0pb": (1.0, 0.0), "1pb": (1.0, 0.0), "2pb": (0.0, 1.0),
    }  # fmt: skip
    assert set(other_tables("kuhn_poker(players=3)", "random", 1)) == {0, 2}


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", "tic_tac_toe", "rock_paper_scissors(throws=1)"])
def test_every_tabular_opponent_has_a_table(game: str) -> None:
    """Over everything registered that needs no parameter and plays the game."""
    spec = load_game_spec(game)
    for name in OPPONENTS:
        with suppress(SpecError, UnsupportedGameError):
            opponent = make_opponent(name, spec)
            if opponent.tabular:
                for seat, views in enumerate(decision_views(spec)):
                    assert strategy_table(spec, opponent, seat).keys() == views.keys()


def test_trembling_mixes_with_uniform_play() -> None:
    assert tremble({"0": (1.0, 0.0)}, 0.1)["0"] == pytest.approx((0.95, 0.05))


def test_opponents_without_a_table() -> None:
    with pytest.raises(UnsupportedGameError, match="memory or random search"):
        strategy_table("tic_tac_toe", "mcts(simulations=10)", 0)


def test_too_large_says_count_and_limit() -> None:
    with pytest.raises(UnsupportedGameError, match="histories reached, the limit is 50"):
        terminal_histories(KUHN, limit=50)
    assert len(terminal_histories(KUHN, limit=58)) == 30  # 58 histories with the unfinished ones
    with pytest.raises(UnsupportedGameError, match="101 positions reached, the limit is 100"):
        decision_views(load_game_spec("tic_tac_toe"), limit=100)


def test_too_long_is_refused_before_memory_fills() -> None:
    for listing in (terminal_histories, decision_views):
        with pytest.raises(UnsupportedGameError, match="up to 1,000 moves, the limit is 100"):
            listing(load_game_spec("oshi_zumo(coins=3)"))


def test_a_wrong_distribution_is_the_opponents_bug() -> None:
    class Broken(Opponent):
        summary = "broken"

        def policy(self, view: Any, memory: Any, rng: np.random.Generator) -> Any:
            return (0.5, 0.4), memory

    broken = Broken(KUHN)
    broken.spec = make_opponent("random", KUHN).spec
    with pytest.raises(MageError, match="for the legal actions"):
        strategy_table(KUHN, broken, 0)


def test_imperfect_recall_is_refused() -> None:
    """A board alone does not tell in which order it was filled, so it is no decision of a tree."""
    boards = replace(load_game_spec("connect_four(rows=2,columns=3,x_in_row=2)"), merge=True)
    with pytest.raises(UnsupportedGameError, match="exact values need perfect recall"):
        seat_tree(boards, 0)
