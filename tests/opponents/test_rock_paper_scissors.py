"""Players that count throws: cycle, frequency and fictitious play; and tit for tat."""

from __future__ import annotations

import numpy as np
import pytest

from mage_envs.errors import SpecError, UnsupportedGameError
from mage_envs.games import PositionGraph, load_game_spec
from mage_envs.games.positions import TERMINAL
from mage_envs.opponents import Distribution, make_opponent

ROCK, PAPER, SCISSORS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
UNIFORM = pytest.approx((1 / 3, 1 / 3, 1 / 3))


def against(spec: str, others: list[int], game: str = "rock_paper_scissors", own: int = 0) -> list[Distribution]:
    """What an opponent in seat 1 wants at each throw, and after the last, while the other throws ``others``."""
    opponent, rng = make_opponent(spec, load_game_spec(game)), np.random.default_rng(0)
    graph = PositionGraph(load_game_spec(game))
    memory, wanted, position = opponent.start(rng), [], graph.root
    for other in others:
        distribution, memory = opponent.policy(position.view(1), memory, rng)
        wanted.append(distribution)
        position = position.child((other, own))
        if position.player == TERMINAL:
            memory, position = opponent.end_episode(position.view(1), memory), graph.root
    return [*wanted, opponent.policy(position.view(1), memory, rng)[0]]


GAMES = pytest.mark.parametrize("game", ["rock_paper_scissors", "rock_paper_scissors(throws=3)", "matrix_rps"])


@GAMES
def test_cycle(game: str) -> None:
    assert against("cycle", [0, 0, 2, 1], game) == [ROCK, PAPER, SCISSORS, ROCK, PAPER]
    assert against("cycle(start=paper, direction=backward)", [0, 0, 0], game) == [PAPER, ROCK, SCISSORS, PAPER]


@GAMES
def test_frequency_beats_each_throw_as_often_as_it_came(game: str) -> None:
    wanted = against("frequency", [0, 0, 1, 2], game)
    assert wanted[0] == UNIFORM
    assert wanted[1] == wanted[2] == PAPER
    assert wanted[3] == pytest.approx((0, 2 / 3, 1 / 3))
    assert wanted[4] == pytest.approx((1 / 4, 2 / 4, 1 / 4))


@GAMES
def test_fictitious_play_beats_the_most_frequent_mixture(game: str) -> None:
    wanted = against("fictitious_play", [0, 0, 1, 1, 1], game)
    assert wanted[0] == UNIFORM
    assert wanted[1] == wanted[2] == wanted[3] == PAPER
    # After two rocks and two papers paper earns 2 and scissors 0; a third paper makes scissors earn 1, paper 2.
    assert wanted[4] == wanted[5] == PAPER
    assert against("fictitious_play", [0, 2, 1], game)[3] == UNIFORM


@GAMES
def test_mirror_plays_the_last_throw(game: str) -> None:
    assert against("mirror", [2, 1, 0, 0], game)[1:] == [SCISSORS, PAPER, ROCK, ROCK]
    assert against("mirror", [], game)[0] == UNIFORM


def test_fictitious_play_knows_the_payoffs_of_its_seat() -> None:
    """Battle of the sexes: seat 1 gets 2 for (1, 1) and 1 for (0, 0)."""
    wanted = against("fictitious_play", [0, 1, 0], "matrix_bos")
    assert wanted[0] == pytest.approx((0.5, 0.5))
    assert wanted[1] == (1.0, 0.0)
    assert wanted[2] == (0.0, 1.0)  # One of each: coordinating on 1 earns more.
    # Dominance in the prisoner's dilemma: defect (1) whatever is seen.
    assert against("fictitious_play", [0, 1], "matrix_pd")[1:] == [(0.0, 1.0), (0.0, 1.0)]


def test_the_first_seat_counts_for_both_only_where_they_are_alike() -> None:
    for game, alike in (("rock_paper_scissors", True), ("matrix_bos", False)):
        spec = load_game_spec(game)
        opponent, rng = make_opponent("fictitious_play", spec), np.random.default_rng(0)
        end = PositionGraph(spec).root.child((0, 0))
        memory = opponent.end_episode(end.view(1), opponent.start(rng))
        known = max(opponent.policy(PositionGraph(spec).root.view(0), memory, rng)[0]) == 1.0
        assert known is alike


def test_mirror_in_poker() -> None:
    game = load_game_spec("kuhn_poker")
    mirror, rng = make_opponent("mirror", game), np.random.default_rng(0)
    dealt = PositionGraph(game).root.child(0).child(1)
    assert mirror.policy(dealt.view(0), None, rng)[0] == (0.5, 0.5)
    assert mirror.policy(dealt.child(1).view(1), None, rng)[0] == (0.0, 1.0)
    assert mirror.policy(dealt.child(0).child(1).view(0), 0, rng)[0] == (0.0, 1.0)
    memory = mirror.end_episode(dealt.child(1).child(0).view(0), None)  # The other folded: a pass.
    assert mirror.policy(dealt.view(0), memory, rng)[0] == (1.0, 0.0)
    leduc = load_game_spec("leduc_poker")
    mirror = make_opponent("mirror", leduc)
    raised_out = PositionGraph(leduc).root.child(0).child(2).child(2).child(2)
    view = raised_out.view(0)
    assert 2 not in view.legal
    assert mirror.policy(view, None, rng)[0] == view.uniform, "a third raise is not legal"


def test_bad_parameters_and_games() -> None:
    rps, kuhn = load_game_spec("rock_paper_scissors"), load_game_spec("kuhn_poker")
    with pytest.raises(SpecError, match=r"start has no value 'papr'\. Did you mean 'paper'"):
        make_opponent("cycle(start=papr)", rps)
    with pytest.raises(SpecError, match=r"direction has no value 'back'\. Did you mean 'backward'"):
        make_opponent("cycle(direction=back)", rps)
    for spec in ("cycle", "frequency", "fictitious_play"):
        with pytest.raises(UnsupportedGameError, match="rock_paper_scissors"):
            make_opponent(spec, kuhn)
    for game in ("tic_tac_toe", "kuhn_poker(players=3)", "matching_pennies_3p"):
        with pytest.raises(UnsupportedGameError, match="matrix games"):
            make_opponent("mirror", load_game_spec(game))
