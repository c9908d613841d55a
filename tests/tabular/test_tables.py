"""Strategies as tables, and the listing of small games."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from mage_envs.errors import MageError, SpecError, UnsupportedGameError
from mage_envs.games import load_game_spec
from mage_envs.games.positions import TERMINAL
from mage_envs.opponents import OPPONENTS, Opponent, make_opponent
from mage_envs.tabular.compiled import compiled_game
from mage_envs.tabular.seat_tree import seat_tree
from mage_envs.tabular.solve import best_response_value, exploitability
from mage_envs.tabular.tables import other_seats, strategy_table, tremble

KUHN = load_game_spec("kuhn_poker")
LEDUC = load_game_spec("leduc_poker")


def test_chance_adds_up_to_one_deal() -> None:
    deals = seat_tree(compiled_game(KUHN), 0).deals()
    assert deals.probabilities == pytest.approx([1 / 6] * 6)
    assert deals.fits.sum(axis=1).tolist() == [5] * 6
    assert seat_tree(compiled_game(LEDUC), 0).deals().probabilities == pytest.approx([1 / 120] * 120)


def test_all_terminal_histories_of_kuhn_pay_right() -> None:
    """30 histories (PAINS A12): 1 chip after a fold or two passes, 2 after a call; the higher card wins a showdown."""
    game = compiled_game(KUHN)
    ends = np.flatnonzero(game.actor == TERMINAL)
    assert len(ends) == 30
    for end in ends:
        own, other, *moves = game.position(end).state().history()
        if moves in ([1, 0], [0, 1, 0]):
            expected = 1 if moves == [1, 0] else -1
        else:
            expected = (1 if own > other else -1) * (1 if moves == [0, 0] else 2)
        assert game.returns[end].tolist() == [expected, -expected]


def test_table_of_an_opponent() -> None:
    table, rows = strategy_table(KUHN, "conservative", 0), compiled_game(KUHN).index[0]
    assert {key: tuple(table[row]) for key, row in rows.items()} == {
        "0": (1.0, 0.0), "1": (1.0, 0.0), "2": (0.0, 1.0), "0pb": (1.0, 0.0), "1pb": (1.0, 0.0), "2pb": (0.0, 1.0),
    }  # fmt: skip
    assert not table[list(compiled_game(KUHN).index[1].values())].any()
    assert other_seats("kuhn_poker(players=3)", 1) == (0, 2)


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", "tic_tac_toe", "rock_paper_scissors(throws=1)"])
def test_every_tabular_opponent_has_a_table(game: str) -> None:
    """Over everything registered that needs no parameter and plays the game."""
    spec = load_game_spec(game)
    mask = compiled_game(spec).mask[: compiled_game(spec).information_states]
    for name in OPPONENTS:
        if name == "mcts_table":
            continue  # Searches at every board: its own tests have a short one.
        with suppress(SpecError, UnsupportedGameError):
            opponent = make_opponent(name, spec)
            if opponent.tabular:
                table = strategy_table(spec, opponent)
                assert table.sum(axis=1) == pytest.approx(np.ones(len(table)))
                assert not table[mask == 0].any()


def test_a_table_is_a_strategy() -> None:
    table = strategy_table(KUHN, "random")
    assert best_response_value(KUHN, table, 0) == best_response_value(KUHN, "random", 0)
    assert strategy_table(KUHN, table, 1) is table
    with pytest.raises(ValueError, match=r"has shape \(12, 2\), not \(12, 3\)"):
        strategy_table(KUHN, np.zeros((12, 3)))
    wrong = table.copy()
    wrong[3] = (0.5, 0.4)
    with pytest.raises(ValueError, match=r"row 3 .* is no distribution over the legal actions"):
        exploitability(KUHN, wrong)
    illegal = strategy_table("leduc_poker", "random").copy()
    row = int(np.flatnonzero((illegal == 0.0).any(axis=1))[0])
    illegal[row] = np.where(illegal[row] == 0.0, 1.0, 0.0)
    with pytest.raises(ValueError, match=f"row {row} "):
        strategy_table("leduc_poker", illegal)


def test_named_tables_cannot_be_spoilt() -> None:
    with pytest.raises(ValueError, match="read-only"):
        strategy_table(KUHN, "random")[:] = 0.0


def test_trembling_mixes_with_uniform_play() -> None:
    table = tremble(compiled_game(KUHN), strategy_table(KUHN, "conservative"), 0.1)
    assert table[compiled_game(KUHN).index[0]["0"]] == pytest.approx((0.95, 0.05))


def test_opponents_without_a_table() -> None:
    with pytest.raises(UnsupportedGameError, match="memory or random search"):
        strategy_table("tic_tac_toe", "mcts(simulations=10)", 0)


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
    with pytest.raises(UnsupportedGameError, match="exact values need perfect recall"):
        seat_tree(compiled_game("breakthrough(rows=4,columns=2)"), 0)
    with pytest.raises(UnsupportedGameError, match="merges all ways to a board"):
        seat_tree(compiled_game("tic_tac_toe"), 0)
