"""Posteriors over opponents, against Bayes' rule by hand."""

from __future__ import annotations

import pytest

from mage_envs.errors import MageError
from mage_envs.games import Position, load_game_spec, position_graph
from mage_envs.tabular.belief import OpponentBelief

KUHN = load_game_spec("kuhn_poker")
PAPER = (("conservative", 0.3), ("aggressive", 0.3), ("intermediate", 0.4))
J, Q, K = 0, 1, 2
PASS, BET = 0, 1
TINY = 1e-9


def watch(belief: OpponentBelief, seat: int, *actions: int) -> list[float]:
    """Lets a seat see one hand of Kuhn poker, chance included, and returns the weights."""
    position: Position = position_graph(belief.spec).root
    for action in actions:
        if position.player == seat:
            belief.see(position.view(seat))
            belief.act(position.view(seat), action)
        position = position.child(action)
    belief.see(position.view(seat))
    return [float(weight) for weight in belief.weights]


def test_hidden_cards_are_summed_out() -> None:
    """Seat 1 holds K and folds to a bet: conservative never bets J or Q, aggressive always, intermediate only Q."""
    weights = watch(OpponentBelief(KUHN, PAPER, TINY), 1, Q, K, BET, PASS)
    assert weights == pytest.approx([0.0, 0.3 / 0.5, 0.2 / 0.5], abs=1e-6)


def test_shown_cards_are_used() -> None:
    """The same bet, called: the showdown tells whether it was J, which only the aggressive player bets."""
    assert watch(OpponentBelief(KUHN, PAPER, TINY), 1, J, K, BET, BET) == pytest.approx([0.0, 1.0, 0.0], abs=1e-6)
    shown_queen = watch(OpponentBelief(KUHN, PAPER, TINY), 1, Q, K, BET, BET)
    assert shown_queen == pytest.approx([0.0, 0.3 / 0.7, 0.4 / 0.7], abs=1e-6)


def test_evidence_adds_up_over_episodes_and_seats() -> None:
    belief = OpponentBelief(KUHN, PAPER, TINY)
    watch(belief, 1, Q, K, BET, BET)
    weights = watch(belief, 0, K, Q, BET, BET)  # seat 1 calls with Q: aggressive alone does
    assert weights == pytest.approx([0.0, 1.0, 0.0], abs=1e-6)


def test_own_actions_are_no_evidence() -> None:
    """Seat 0 folds K to a bet after passing: only what seat 1 did counts, with J or Q."""
    weights = watch(OpponentBelief(KUHN, (("random", 1.0), ("aggressive", 1.0)), TINY), 0, K, Q, PASS, BET, PASS)
    assert weights == pytest.approx([1 / 3, 2 / 3], abs=1e-6)


def test_what_no_member_does_leads_to_the_nearest() -> None:
    """Neither bets J, except by trembling, to which both are as likely."""
    population = (("conservative", 0.5), ("intermediate", 0.5))
    weights = watch(OpponentBelief(KUHN, population), 1, J, K, BET, BET)
    assert weights == pytest.approx([0.5, 0.5])


def test_simultaneous_moves() -> None:
    """Uniform or always rock (``first_legal``): paper is uniform's; rock is three times likelier rock's."""
    game = load_game_spec("matrix_rps")
    population = (("random", 0.5), ("first_legal", 0.5))
    for seat in (0, 1):
        for theirs, expected in ((0, [0.25, 0.75]), (1, [1.0, 0.0])):
            belief = OpponentBelief(game, population, TINY)
            start = position_graph(game).root
            belief.see(start.view(seat))
            belief.act(start.view(seat), 2)
            belief.see(start.child((2, theirs) if seat == 0 else (theirs, 2)).view(seat))
            assert belief.weights.tolist() == pytest.approx(expected, abs=1e-6)


def test_perfect_information_is_read_move_by_move() -> None:
    game = load_game_spec("tic_tac_toe")
    belief = OpponentBelief(game, (("random", 0.5), ("first_legal", 0.5)), TINY)
    position = position_graph(game).root.child(0)  # X, the opponent, takes the first square
    belief.see(position.view(1))
    belief.act(position.view(1), 8)
    belief.see(position.child(8).child(1).view(1))  # and then the second
    one, two = (sum(weights) for weights in zip(*belief._fitting.values(), strict=True))
    assert one / two == pytest.approx(1 / 9 / 7, abs=1e-6)


def test_views_out_of_order_are_refused() -> None:
    belief = OpponentBelief(KUHN, PAPER)
    root = position_graph(KUHN).root
    belief.see(root.child(K).child(Q).view(0))
    belief.act(root.child(K).child(Q).view(0), PASS)
    with pytest.raises(MageError, match="cannot follow"):
        belief.see(root.child(J).child(Q).child(PASS).child(BET).view(0))
