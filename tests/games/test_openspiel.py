"""Every OpenSpiel game with two or more seats plays, or says why not."""

from __future__ import annotations

import math

import pyspiel
import pytest

from mage_envs.charset import CHARSET
from mage_envs.errors import UnsupportedGameError
from mage_envs.games import GAMES, PositionGraph, View, load_game_spec
from mage_envs.games.positions import SIMULTANEOUS
from mage_envs.text.parser import ReplyKind, parse_reply
from tests.games.walk import played_views, random_walk

KINDS = {kind.short_name: kind for kind in pyspiel.registered_games() if kind.default_loadable}
STEPS = 60
REFUSED = {
    "one seat": {"2048", "blackjack", "catch", "cliff_walking", "crossword", "deep_sea", "morpion_solitaire"}
    | {"pathfinding", "solitaire", "stones_and_gems"},
    "mean-field": {"mfg_crowd_modelling", "mfg_crowd_modelling_2d", "mfg_dynamic_routing", "mfg_garnet"},
    "random numbers": {"bridge_uncontested_bidding", "negotiation", "tarok"},
}
VARIANTS = [
    "add_noise(epsilon=0.5,game=kuhn_poker(),seed=1)",
    "cached_tree(game=kuhn_poker())",
    "connect_four(egocentric_obs_tensor=true)",
    "connect_four(rows=4,columns=5)",
    "goofspiel(num_cards=4,players=3,imp_info=true)",
    "kuhn_poker(players=3)",
    "liars_dice(numdice=1)",
    "misere(game=tic_tac_toe())",
    "normal_form_extensive_game(game=kuhn_poker())",
    "python_kuhn_poker",
    "python_liars_poker",
    "python_tic_tac_toe",
    "repeated_game(stage_game=matrix_pd(),num_repetitions=4)",
    "snake(players=4)",
    "start_at(game=tic_tac_toe(),history=4;0)",
    "turn_based_simultaneous_game(game=goofspiel(num_cards=3))",
    "universal_poker(betting=nolimit,bettingAbstraction=fcpa)",
    "zerosum(game=matrix_pd())",
]


@pytest.mark.parametrize("game", [*sorted(KINDS), *VARIANTS])
def test_a_random_play_of_every_game(game: str, capfd: pytest.CaptureFixture[str]) -> None:
    reason = next((reason for reason, games in REFUSED.items() if game in games), None)
    if reason:
        with pytest.raises(UnsupportedGameError, match=reason):
            load_game_spec(game)
        return
    spec = load_game_spec(game)
    assert spec.seats >= 2
    assert math.isfinite(spec.worst_return)
    assert load_game_spec(spec.name) is spec
    offers: dict[View, tuple[object, ...]] = {}
    for seed in range(2):
        for position in random_walk(PositionGraph(spec, limit=100), seed, STEPS):
            assert len(position.returns) == spec.seats
            for seat in range(spec.seats):
                view = position.view(seat)
                _check(view)
                if view.to_act:
                    assert offers.setdefault(view, (view.legal, view.names)) == (view.legal, view.names)
            if position.player >= 0:
                assert position.view(position.player).to_act
    capfd.readouterr()


def _check(view: View) -> None:
    assert view.key is not None
    assert view.text
    assert view.tensor.shape == (view.spec.tensor_size,)
    assert view.reveal_array.shape == (view.spec.reveal_size,)
    assert view.mask.nonzero()[0].tolist() == list(view.legal)
    assert view.to_act == bool(view.legal)
    assert len(set(view.names)) == len(view.names) == len(view.legal)
    for action, name in zip(view.legal, view.names, strict=True):
        for reply in (name, f"So: <action>{name}</action>"):
            parsed = parse_reply(reply, view.spellings)
            assert (parsed.kind, parsed.action) == (ReplyKind.OK, action)


@pytest.mark.parametrize("game", ["bridge", "skat", "twixt"])
def test_no_character_of_a_text_is_lost(game: str, capfd: pytest.CaptureFixture[str]) -> None:
    texts: dict[tuple[int, str], str] = {}
    for seed in range(20):
        for position in random_walk(PositionGraph(load_game_spec(game), limit=100), seed, STEPS):
            for seat in range(position.spec.seats):
                view = position.view(seat)
                assert set(view.text) <= set(CHARSET)
                told = view.spec.describe(view.facts)
                assert texts.setdefault((seat, view.text), told) == told
                if game != "twixt":
                    assert view.text == told
    capfd.readouterr()


def test_games_with_a_file_come_from_it() -> None:
    assert {load_game_spec(name).title for name in GAMES}.isdisjoint({"OpenSpiel"})
    assert load_game_spec("kuhn_poker(players=3)").title == "OpenSpiel"


def test_an_undescribed_game_is_refused() -> None:
    with pytest.raises(UnsupportedGameError, match="does not describe"):
        load_game_spec("python_iterated_prisoners_dilemma")


@pytest.mark.parametrize(
    ("game", "message"),
    [
        ("kuhn", "unknown game 'kuhn'. Did you mean 'kuhn_poker'"),
        ("tictactoe", "Did you mean 'tic_tac_toe'"),
        ("rock_paper_scisors", "Did you mean 'rock_paper_scissors'"),
        ("python_kuhn_pokr", "Did you mean 'python_kuhn_poker'"),
        ("kuhn_poker(playrs=3)", "no parameter 'playrs'. Did you mean 'players'?"),
        ("kuhn_poker(players=50)", "OpenSpiel cannot load 'kuhn_poker(players=50)'"),
        ("kuhn_poker(players=x)", "Wrong type for parameter players"),
        ("repeated_game(stage_game=matrix_rpsx(),num_repetitions=2)", "unknown game 'matrix_rpsx'. Did you mean"),
        ("nfg_game", "OpenSpiel cannot load 'nfg_game'"),
        ("efg_game", "OpenSpiel cannot load 'efg_game'"),
        ("hex(size=3)x", "it must end with the bracket"),
        ("hex(", "it must end with the bracket"),
        ("", "which game?"),
        (3, "a game is named by a string such as 'kuhn_poker', not int"),
        ([], "not list"),
    ],
)  # fmt: skip
def test_bad_game_strings(game: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnsupportedGameError) as caught:
        load_game_spec(game)
    assert message in str(caught.value)
    capfd.readouterr()


def test_white_space_in_a_game_string_is_forgiven() -> None:
    assert load_game_spec(" liars_dice( numdice = 1 ) ").name == "liars_dice(numdice=1)"


def test_one_shot_games_reveal_what_the_others_played() -> None:
    end = PositionGraph(load_game_spec("matching_pennies_3p")).root.child((0, 1, 1))
    assert end.view(0).text.endswith("Seat 0 played Heads.\nSeat 1 played Tails.\nSeat 2 played Tails.")
    assert end.view(0).reveal_array.tolist() == [0, 1, 0, 1]
    assert end.view(2).reveal_array.tolist() == [1, 0, 0, 1]


def test_a_repeated_game_remembers_every_round() -> None:
    game = "repeated_game(stage_game=matrix_pd(),num_repetitions=3)"
    keys = {(view.seat, view.key) for view in played_views(game)}
    assert len(keys) == 2 * (1 + 4 + 16 + 64)
    assert load_game_spec("repeated_game(stage_game=matrix_pd(),num_repetitions=3,recall=1)").tensor_size == 4


def test_actions_beyond_openspiels_count_say_so(capfd: pytest.CaptureFixture[str]) -> None:
    views = (p.view(s) for p in random_walk(PositionGraph(load_game_spec("chat_game")), 0) for s in (0, 1))
    with pytest.raises(UnsupportedGameError, match=r"'chat_game' has action \d+, but OpenSpiel counts only 2 actions"):
        assert all(view.mask.any() for view in views if view.to_act)
    capfd.readouterr()


def test_simultaneous_views_are_all_to_act() -> None:
    root = PositionGraph(load_game_spec("goofspiel(num_cards=3,points_order=descending)")).root
    assert root.player == SIMULTANEOUS
    assert root.view(0).to_act
    assert root.view(1).to_act
