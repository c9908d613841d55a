"""Exact yardsticks of a panel, and a board that agrees with them."""

from __future__ import annotations

from pathlib import Path

import pytest

import leaderboards
from benchmarks.ceilings import NONE, panel_ceilings
from benchmarks.leaderboard import read_board
from benchmarks.panels import make_panel
from benchmarks.rows import Row
from mage_envs.scenarios import SCENARIOS, Scenario
from mage_envs.tabular.solve import bayes_adaptive_value
from tests.benchmarks.fakes import KUHN, suite

WEIGHTS = {"conservative": 0.3, "aggressive": 0.3, "intermediate": 0.4}


def test_kuhn_train_by_hand() -> None:
    found = suite(20)
    ceilings = panel_ceilings(found, KUHN, make_panel(found).entries)
    # Best responses from seats 0 and 1: conservative 1/6, 1/3; aggressive 1/3, 1/3; intermediate 1/3, 1/6.
    assert ceilings.told == pytest.approx(0.3 * (1 / 6 + 1 / 3) / 2 + 0.3 * 1 / 3 + 0.4 * (1 / 3 + 1 / 6) / 2)
    assert ceilings.equilibrium is not None
    assert ceilings.adaptive is not None
    assert 3 * ceilings.equilibrium < sum(ceilings.adaptive) < 3 * ceilings.told
    # From seats 0 and 1, weights .3, .3, .4: computed by the solver, which has tests of its own.
    values = [bayes_adaptive_value("kuhn_poker", WEIGHTS, [seat] * 3).per_episode for seat in (0, 1)]
    assert ceilings.adaptive == pytest.approx([sum(pair) / 2 for pair in zip(*values, strict=True)])


def test_the_panels_own_shares_count() -> None:
    found = suite(2)  # One deal: one opponent only.
    entries = make_panel(found).entries
    assert {entry.opponent for entry in entries} == {"intermediate"}
    assert panel_ceilings(found, KUHN, entries).told == pytest.approx(1 / 4)


def test_where_an_opponent_searches_there_is_nothing_exact() -> None:
    scenario = SCENARIOS.get("tictactoe/train")
    found = suite(20, scenario=scenario)
    assert panel_ceilings(found, scenario, make_panel(found).entries) == NONE


def test_perfect_information_is_measured_against_minimax() -> None:
    scenario = Scenario("test/x", "mage/TicTacToe-meta-v0", "", "", "random", seats=(0,))
    found = suite(2, scenario=scenario)
    ceilings = panel_ceilings(found, scenario, make_panel(found).entries)
    assert ceilings.told == pytest.approx(0.9948, abs=5e-5)  # The best score as X against uniform random play.
    assert ceilings.equilibrium is not None
    assert 0.5 < ceilings.equilibrium < ceilings.told


def test_a_replayed_deal_can_be_learnt_so_the_best_response_is_no_ceiling() -> None:
    scenario = Scenario("test/x", KUHN.env_id, "", "", "kuhn/train", instance="replay")
    found = suite(20, scenario=scenario)
    ceilings = panel_ceilings(found, scenario, make_panel(found).entries)
    fresh = panel_ceilings(suite(20), KUHN, make_panel(suite(20)).entries)
    assert (ceilings.random, ceilings.equilibrium, ceilings.told) == (fresh.random, fresh.equilibrium, None)
    assert ceilings.adaptive is not None
    assert fresh.adaptive is not None
    assert sum(ceilings.adaptive) > sum(fresh.adaptive)


def test_no_ceiling_where_a_win_ends_the_meta_episode() -> None:
    found = suite(20, stop_on_success=True)
    assert panel_ceilings(found, KUHN, make_panel(found).entries).adaptive is None


@pytest.fixture
def board() -> dict[tuple[str, str], Row]:
    rows = read_board(Path(leaderboards.__file__).parent / "quick.csv")
    return {(row["scenario"], row["agent"]): row for row in rows if row["suite_version"] == "1"}


def inside(row: Row, name: str, value: float) -> bool:
    return float(row[f"{name}_low"]) <= value <= float(row[f"{name}_high"])


def test_the_board_agrees_with_the_exact_values(board: dict[tuple[str, str], Row]) -> None:
    for scenario in ("kuhn/train", "kuhn/heldout"):
        for agent, exact in (("best_response", "ceiling"), ("equilibrium", "equilibrium"), ("random", "random")):
            row = board[scenario, agent]
            assert sum(inside(row, f"score_{n}", float(row[exact])) for n in (1, 2, 3)) >= 2


def test_on_the_board_thompson_learns_and_beats_equilibrium_play(board: dict[tuple[str, str], Row]) -> None:
    thompson, equilibrium = board["kuhn/train", "thompson"], board["kuhn/train", "equilibrium"]
    assert float(thompson["score_3_low"]) > float(equilibrium["score_3_high"])
    assert float(thompson["gain_low"]) > 0.0
    assert float(thompson["regret_high"]) > 0.0
    for row in (thompson, equilibrium):
        assert sum(float(row[f"regret_{n}"]) for n in (1, 2, 3)) == pytest.approx(float(row["regret"]), abs=1e-5)
        assert [float(row[f"adaptive_{n}"]) - float(row[f"score_{n}"]) for n in (1, 2, 3)] == pytest.approx(
            [float(row[f"regret_{n}"]) for n in (1, 2, 3)], abs=1e-5
        )
