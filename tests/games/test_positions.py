"""The position graph: shared, capped, and the same from any thread."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mage_envs.errors import UnsupportedGameError
from mage_envs.games import PositionGraph, load_game_spec, position_graph
from mage_envs.games.positions import CHANCE
from tests.games.walk import random_walk

GAMES = ["kuhn_poker", "leduc_poker", "tic_tac_toe", "connect_four", "liars_dice(numdice=1)", "goofspiel(num_cards=4)"]


def _seen(graph: PositionGraph, seed: int) -> list[object]:
    views = [(p.view(seat), p.returns) for p in random_walk(graph, seed) for seat in range(graph.spec.seats)]
    return [(v.key, v.text, v.names, v.mask.tolist(), v.tensor.tolist(), v.revealed, result) for v, result in views]


@pytest.mark.parametrize("game", GAMES)
def test_eight_threads_see_what_one_sees(game: str) -> None:
    spec = load_game_spec(game)
    seeds = [seed % 25 for seed in range(100)]
    alone = {seed: _seen(PositionGraph(spec), seed) for seed in set(seeds)}
    shared = PositionGraph(spec)
    with ThreadPoolExecutor(8) as pool:
        for seed, seen in zip(seeds, pool.map(lambda seed: _seen(shared, seed), seeds), strict=True):
            assert seen == alone[seed]


@pytest.mark.parametrize("game", GAMES)
def test_a_full_graph_plays_on(game: str) -> None:
    spec = load_game_spec(game)
    capped = PositionGraph(spec, limit=100)
    for seed in range(60):
        assert _seen(capped, seed) == _seen(PositionGraph(spec), seed)
    assert capped.size <= 100


def test_games_without_a_file_are_remembered_less() -> None:
    assert PositionGraph(load_game_spec("hive")).limit == 2_000
    assert PositionGraph(load_game_spec("leduc_poker")).limit == 50_000 > 9_457, "all of Leduc poker fits"


def test_remembered_positions_are_the_same_object() -> None:
    root = PositionGraph(load_game_spec("tic_tac_toe")).root
    assert root.child(0) is root.child(0)
    assert root.child(0).child(1).child(2) is root.child(2).child(1).child(0), "one board, one position"
    assert root.view(0) is root.view(0)


def test_graph_is_shared_in_the_process() -> None:
    spec = load_game_spec("kuhn_poker")
    assert position_graph(spec) is position_graph(load_game_spec("kuhn_poker"))


def test_numpy_actions_are_actions() -> None:
    root = PositionGraph(load_game_spec("tic_tac_toe")).root
    assert root.child(np.int64(4)) is root.child(4)  # type: ignore[arg-type]


def test_copies_share_positions_and_views() -> None:
    root = PositionGraph(load_game_spec("tic_tac_toe")).root
    assert copy.deepcopy(root) is root
    assert copy.deepcopy(root.view(0)) is root.view(0)


def test_chance_is_a_function_of_the_instance() -> None:
    root = PositionGraph(load_game_spec("kuhn_poker")).root
    assert root.player == CHANCE
    deals = [root.after_chance(instance, 0).after_chance(instance, 1).state().history() for instance in range(600)]
    again = [root.after_chance(instance, 0).after_chance(instance, 1).state().history() for instance in range(600)]
    assert deals == again
    assert all(60 < deals.count(deal) < 140 for deal in map(list, {tuple(deal) for deal in deals}))


def test_uniform() -> None:
    root = PositionGraph(load_game_spec("tic_tac_toe")).root
    assert root.view(0).uniform == (1 / 9,) * 9
    assert root.view(1).uniform == ()
    assert root.view(1).to_act is False


def test_views_of_different_seats_or_games_differ() -> None:
    root = PositionGraph(load_game_spec("tic_tac_toe")).root
    other = PositionGraph(load_game_spec("connect_four")).root
    assert root.view(0) != root.view(1)
    assert root.view(0) != other.view(0)
    assert root.view(0) != "root"


@pytest.mark.parametrize("game", ["leduc_poker", "kuhn_poker", "tic_tac_toe"])
def test_sampled_state_looks_the_same_to_its_seat(game: str) -> None:
    rng = np.random.default_rng(0)
    graph = PositionGraph(load_game_spec(game))
    walk = [position for seed in range(5) for position in random_walk(graph, seed)]
    hidden = set()
    for view in [position.view(position.player) for position in walk if position.player >= 0]:
        for _ in range(5):
            state = view.sample_state(rng)
            hidden.add((view.key, tuple(state.history())))
            assert view.spec.information_state(state, view.seat) == view.key
    drawn_anew = len({key for key, _ in hidden}) < len(hidden)
    assert drawn_anew != graph.spec.perfect_information


def test_sampling_that_openspiel_cannot_do_says_so() -> None:
    graph = PositionGraph(load_game_spec("liars_dice(numdice=1)"))
    view = graph.root.after_chance(0, 0).after_chance(0, 1).view(0)
    with pytest.raises(UnsupportedGameError, match=r"cannot resample hidden information of 'liars_dice\(numdice=1\)'"):
        view.sample_state(np.random.default_rng(0))
