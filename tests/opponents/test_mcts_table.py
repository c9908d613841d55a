"""Move frequencies of seeded searches as a table: one row a position, whoever asks, when and where."""

from __future__ import annotations

import json
import logging
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mage_envs.errors import SpecError, UnsupportedGameError
from mage_envs.games import PositionGraph, View, load_game_spec
from mage_envs.games.positions import TERMINAL
from mage_envs.opponents import Distribution, make_opponent
from mage_envs.opponents.mcts_table import MCTSTable
from mage_envs.tabular.compiled import compiled_game
from mage_envs.tabular.solve import best_response_value
from mage_envs.tabular.tables import behaviour
from tests.opponents.play import decision_views

GAME = load_game_spec("tic_tac_toe")
SMALL = "mcts_table(simulations=20, runs=4)"


def fresh(spec: str = SMALL, game: str = "tic_tac_toe") -> MCTSTable:
    """An opponent that has seen nothing, as in a new process."""
    named = make_opponent(spec, load_game_spec(game)).spec
    opponent = MCTSTable(load_game_spec(game), **dict(named.kwargs))  # type: ignore[arg-type]
    opponent.spec = named
    return opponent


def row(opponent: MCTSTable, view: View) -> Distribution:
    return opponent.policy(view, None, np.random.default_rng(0))[0]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MAGE_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one a search."""
    made: list[int] = []
    search = MCTSTable.search
    monkeypatch.setattr(MCTSTable, "search", lambda *given: made.append(1) or search(*given))  # type: ignore[func-returns-value]
    return made


def test_rows_do_not_depend_on_the_order_of_asking(cache: Path) -> None:
    views = list(decision_views("tic_tac_toe")[::30])
    there, back = fresh(), fresh()
    forward = {view.key: row(there, view) for view in views}
    random.Random(0).shuffle(views)
    assert {view.key: row(back, view) for view in views} == forward
    tabulated = fresh()
    tabulated.tabulate(views)
    assert {view.key: row(tabulated, view) for view in views} == forward
    assert {type(p) for given in forward.values() for p in given} == {float}


def test_another_process_has_the_same_rows(cache: Path) -> None:
    code = (
        "import json; from tests.opponents.test_mcts_table import *\n"
        "print(json.dumps([row(fresh(), view) for view in decision_views('tic_tac_toe')[::100]]))"
    )
    root = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(root), "MAGE_CACHE": "off"}
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=env, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[*row(fresh(), view)] for view in decision_views("tic_tac_toe")[::100]]


def test_frequencies_are_those_of_the_search() -> None:
    """Against 400 searches with fresh seeds: each share within 5 standard errors of both, on boards left open."""
    table, mcts = fresh("mcts_table(simulations=30, runs=400)"), make_opponent("mcts(simulations=30)", GAME)
    views = [view for view in decision_views("tic_tac_toe") if len(view.legal) >= 7][::12]
    assert len(views) > 5
    spread = 0
    for number, view in enumerate(views):
        rng = np.random.default_rng(number)
        fresh_runs = np.mean([mcts.policy(view, None, rng)[0] for _ in range(400)], axis=0)
        share, error = np.array(row(table, view)), np.array(table.standard_error(view))
        expected = np.sqrt(error**2 + fresh_runs * (1 - fresh_runs) / 400)
        assert (np.abs(share - fresh_runs) <= 5 * expected + 5 / 400).all()
        spread += int(np.count_nonzero(share) > 1)
    assert spread > 3, "boards where all runs agree show nothing"


def test_standard_error() -> None:
    table = fresh("mcts_table(simulations=20, runs=25)")
    view = PositionGraph(GAME).root.view(0)
    for p, error in zip(row(table, view), table.standard_error(view), strict=True):
        assert error == pytest.approx(math.sqrt(p * (1 - p) / 25))
        assert round(p * 25, 9) == round(p * 25)
    assert max(table.standard_error(view)) > 0.0


def test_one_run_is_one_search() -> None:
    assert set(row(fresh("mcts_table(simulations=20, runs=1)"), PositionGraph(GAME).root.view(0))) == {0.0, 1.0}


def test_a_thousand_simulations_never_lose_to_random() -> None:
    table, rng = fresh("mcts_table(simulations=1000, runs=4)"), random.Random(0)
    for seed in range(60):
        position, seat = PositionGraph(GAME).root, seed % 2
        while position.player != TERMINAL:
            view = position.view(position.player)
            weights = row(table, view) if position.player == seat else view.uniform
            position = position.child(rng.choices(view.legal, weights)[0])
        assert position.returns[seat] >= 0.0


def test_a_second_tabulation_reads_the_disk(cache: Path, searches: list[int]) -> None:
    views = decision_views("tic_tac_toe")[::50]
    fresh().tabulate(views)
    assert len(searches) == 4 * len(views)
    assert len(list(cache.iterdir())) == 1
    again = fresh()
    again.tabulate(views)
    assert [row(again, view) for view in views] == [row(fresh(), view) for view in views]
    assert len(searches) == 4 * len(views), "policy alone reads it too"
    fresh("mcts_table(simulations=20, runs=3)").tabulate(views)
    assert len(searches) == 7 * len(views), "another opponent, another file"


def test_what_is_missing_is_added(cache: Path, searches: list[int]) -> None:
    views = decision_views("tic_tac_toe")[::50]
    for part in (views[:30], views[20:], views):
        fresh().tabulate(part)
    assert len(searches) == 4 * len(views)


@pytest.mark.parametrize("damage", ["bytes", "short", "names", "rows", "keys"])
def test_a_damaged_file_is_made_again(
    cache: Path, searches: list[int], damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    views = decision_views("tic_tac_toe")[::200]
    fresh().tabulate(views)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    arrays = dict(np.load(file))
    if damage == "bytes":
        file.write_bytes(b"nonsense")
    elif damage == "short":
        file.write_bytes(whole[: len(whole) // 2])
    else:
        wrong = {"names": {"keys": arrays["keys"]}, "rows": arrays | {"probabilities": arrays["probabilities"] * 2},
                 "keys": arrays | {"keys": np.frombuffer(b'["a"]', dtype=np.uint8)}}[damage]  # fmt: skip
        with file.open("wb") as out:
            np.savez(out, **wrong)
    with caplog.at_level(logging.WARNING):
        fresh().tabulate(views)
    assert "damaged" in caplog.text
    assert len(searches) == 8 * len(views)
    assert file.read_bytes() == whole


def test_without_a_cache_it_plays_and_keeps_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAGE_CACHE", "off")
    table, views = fresh(), decision_views("tic_tac_toe")[::200]
    table.tabulate(views)
    assert abs(sum(row(table, views[0])) - 1.0) < 1e-9
    assert not list(cache.iterdir())


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAME.__dict__, "remember", 10)
    table = fresh()
    for view in decision_views("tic_tac_toe")[:30]:
        row(table, view)
    assert len(table._rows) == 10


def test_behaviour_and_exact_values(cache: Path) -> None:
    game = compiled_game(GAME)
    table = behaviour(game, make_opponent(SMALL, GAME))
    assert table.probabilities.sum(axis=1) == pytest.approx(np.ones(game.information_states))
    assert not (table.probabilities[game.mask[: game.information_states] == 0]).any()
    value = best_response_value("tic_tac_toe", SMALL, 0)
    assert 0.0 <= value <= 1.0
    assert (value * 4**4).is_integer(), "O moves four times, each move has a probability in quarters"


def test_values_on_the_page() -> None:
    """70 % of the rows of MCTS-100 are certain; a best response as X scores 0.7266 (docs/opponents.md)."""
    spec = "mcts_table(simulations=100, runs=16)"
    table = behaviour(compiled_game(GAME), make_opponent(spec, GAME)).probabilities
    assert round((table.max(axis=1) == 1.0).mean(), 2) == 0.70
    assert [round(best_response_value(GAME, spec, seat), 4) for seat in (0, 1)] == [0.7266, 0.0156]


def test_it_plays_what_mcts_plays() -> None:
    view = PositionGraph(load_game_spec("connect_four")).root.view(0)
    assert sum(row(fresh(game="connect_four"), view)) == pytest.approx(1.0)
    for game in ("kuhn_poker", "oshi_zumo"):
        with pytest.raises(UnsupportedGameError, match="play ismcts or cfr"):
            make_opponent(SMALL, load_game_spec(game))


def test_a_row_is_the_positions_where_a_key_does_not_tell_it(searches: list[int]) -> None:
    """Oware has no information-state string: what OpenSpiel shows need not be the whole position."""
    table, view = fresh(game="oware"), PositionGraph(load_game_spec("oware")).root.view(0)
    table.tabulate([view])
    assert row(table, view) == row(table, view)
    assert len(searches) == 8, "nothing is kept"


@pytest.mark.parametrize("runs", ["0", "-1", "2.5", "true", "10001"])
def test_bad_runs(runs: str) -> None:
    with pytest.raises(SpecError, match=r"runs must be an integer in 1\.\.10000"):
        make_opponent(f"mcts_table(runs={runs})", GAME)
