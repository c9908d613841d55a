"""Populations are frozen data: every member plays, train and held-out are disjoint, nothing changes unnoticed."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections import Counter
from typing import Any

import pytest

from mage_envs.errors import SpecError, UnknownNameError, UnsupportedGameError
from mage_envs.games import GAMES, GameSpec, load_game_spec
from mage_envs.opponents import OPPONENTS, make_opponent
from mage_envs.opponents.base import Opponent
from mage_envs.opponents.populations import POPULATIONS, Population, load_population
from mage_envs.opponents.roshambo import NAMES
from mage_envs.spec_strings import parse_spec

KUHN = load_game_spec("kuhn_poker")

SIZES = {
    "connect_four/heldout": 1,
    "connect_four/train": 3,
    "generic": 2,
    "kuhn/heldout": 1,
    "kuhn/paper_ood": 1,
    "kuhn/switching": 48,
    "kuhn/train": 3,
    "leduc/heldout": 1,
    "leduc/train": 4,
    "rps/heldout": 14,
    "rps/leaning": 3,
    "rps/switching": 96,
    "rps/train": 29,
    "tictactoe/heldout": 1,
    "tictactoe/paper": 1,
    "tictactoe/paper_balanced": 6,
    "tictactoe/paper_ood": 1,
    "tictactoe/paper_skewed": 6,
    "tictactoe/patterns_heldout": 4,
    "tictactoe/tables_heldout": 1,
    "tictactoe/tables_train": 6,
    "tictactoe/train": 6,
}


def game_of(population: Population) -> GameSpec:
    return load_game_spec(population.game or "kuhn_poker")


def test_the_registered_ones() -> None:
    assert {name: len(POPULATIONS.get(name).members) for name in POPULATIONS} == SIZES


def test_the_papers_proportions() -> None:
    assert POPULATIONS.get("kuhn/train").members == (("conservative", 0.3), ("aggressive", 0.3), ("intermediate", 0.4))
    weights = dict(POPULATIONS.get("tictactoe/train").members)
    assert weights.pop("mcts(simulations=100)") == 0.5
    assert all(spec == "random" or spec.startswith("pattern(") for spec in weights)
    assert dict(POPULATIONS.get("kuhn/paper_ood").members) == {"cfr_argmax": 1.0}


def test_every_pair_switches_both_ways_in_every_episode() -> None:
    for name, count in (("kuhn/switching", 3), ("rps/switching", 4)):
        specs = [parse_spec(spec) for spec, _ in POPULATIONS.get(name).members]
        found = Counter((str(dict(spec.kwargs)["a"]), str(dict(spec.kwargs)["b"])) for spec in specs)
        assert all(found[pair] == found[pair[::-1]] == 8 for pair in found)
        assert len(found) == count * (count - 1)
        assert {dict(spec.kwargs)["at"] for spec in specs} == set(range(4, 12))


def test_tables_stand_where_searches_stood() -> None:
    for split in ("train", "heldout"):
        searches, tables = (dict(POPULATIONS.get(f"tictactoe/{kind}{split}").members) for kind in ("", "tables_"))
        named = {spec.replace("mcts_table", "mcts").replace(", runs=16", ""): share for spec, share in tables.items()}
        assert named == searches
        assert "table" in POPULATIONS.get(f"tictactoe/tables_{split}").summary


@pytest.mark.parametrize("name", SIZES)
def test_members_play_and_weights_add_up(name: str) -> None:
    population = POPULATIONS.get(name)
    assert math.isclose(sum(weight for _, weight in population.members), 1.0)
    assert population.summary
    assert load_population(name, game_of(population)) is population
    specs = [str(make_opponent(spec, game_of(population)).spec) for spec, _ in population.members]
    assert len(set(specs)) == len(specs)


def test_train_and_held_out_are_disjoint() -> None:
    for one in map(POPULATIONS.get, POPULATIONS):
        for other in map(POPULATIONS.get, POPULATIONS):
            if one.game == other.game and (one.split, other.split) == ("train", "heldout"):
                game = game_of(one)
                specs = [{str(make_opponent(spec, game).spec) for spec, _ in p.members} for p in (one, other)]
                assert not specs[0] & specs[1], (one.name, other.name)


def test_the_43_bots_are_split_by_the_rule() -> None:
    ordered = sorted(NAMES, key=str.casefold)
    for name, bots in (("rps/heldout", ordered[2::3]), ("rps/train", [b for i, b in enumerate(ordered) if i % 3 != 2])):
        assert [spec for spec, _ in POPULATIONS.get(name).members] == [f"roshambo(name={bot})" for bot in bots]


def test_every_game_has_the_population_it_names() -> None:
    for name in GAMES:
        game = load_game_spec(name)
        assert load_population(game.population, game).fits(game)
    assert load_population("generic", load_game_spec("kuhn_poker(players=3)"))
    assert load_population("rps/train", load_game_spec("rock_paper_scissors(throws=10)"))


def test_a_new_opponent_changes_no_population(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: POPULATIONS.get(name) for name in POPULATIONS}
    monkeypatch.setitem(OPPONENTS._items, "newcomer", Opponent)
    assert {name: POPULATIONS.get(name) for name in POPULATIONS} == before


def test_they_are_frozen_and_pickle() -> None:
    population = POPULATIONS.get("kuhn/train")
    with pytest.raises(dataclasses.FrozenInstanceError):
        population.name = "mine"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(population)) == population


def test_one_spec_or_a_mapping_is_a_population() -> None:
    assert load_population("cfr", KUHN).members == (("cfr(iterations=300)", 1.0),)
    assert load_population({"aggressive": 1, "cfr": 3}, KUHN).members == (
        ("aggressive", 0.25),
        ("cfr(iterations=300)", 0.75),
    )
    mine = Population("mine", "kuhn_poker", (("aggressive", 5), ("random", 5)))
    assert load_population(mine, KUHN).members == (("aggressive", 0.5), ("random", 0.5))


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("kuhn/trian", UnknownNameError, "Did you mean 'kuhn/train'"),
        ("agressive", UnknownNameError, "Did you mean 'aggressive'"),
        ("mcts(", SpecError, "bad spec"),
        ("cfr(iteration=3)", SpecError, "Did you mean 'iterations'"),
        ("tictactoe/train", UnsupportedGameError, "plays 'tic_tac_toe', not 'kuhn_poker', which has .*kuhn/train"),
        ("mcts", UnsupportedGameError, "ismcts or cfr"),
        ({"kuhn/train": 1}, SpecError, "'kuhn/train' is a population, not an opponent"),
        ("kuhn/train()", SpecError, "'kuhn/train' is a population, not an opponent"),
        ({}, SpecError, "empty"),
        ({"cfr": 0}, SpecError, "weight of 'cfr.*' must be a positive, finite number up to .*, got 0"),
        ({"cfr": -1.0}, SpecError, "positive, finite"),
        ({"cfr": math.nan}, SpecError, "positive, finite"),
        ({"cfr": math.inf}, SpecError, "positive, finite"),
        ({"cfr": "much"}, SpecError, "positive, finite"),
        ({"cfr": True}, SpecError, "positive, finite"),
        ({"cfr": 1e300}, SpecError, "positive, finite"),
        ({"cfr": 1.0, "cfr(300)": 1.0}, SpecError, "twice"),
        (3, SpecError, "not int"),
        (None, SpecError, "not NoneType"),
        (["cfr"], SpecError, "not list"),
    ],
)
def test_bad_populations(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        load_population(value, KUHN)
