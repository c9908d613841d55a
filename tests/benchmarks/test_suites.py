"""The suites: what they hold, that their agents can play them, and that nothing which has a board changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.panels import make_panel
from benchmarks.plan import make_plan
from benchmarks.suites import SUITES
from benchmarks.yardsticks import seat_yardsticks
from mage_envs.opponents.populations import POPULATIONS
from mage_envs.scenarios import SCENARIOS
from tests.benchmarks.test_cli import Terminal
from tests.benchmarks.test_cli import benchmark as benchmark

# The fixture of the published games: a test that takes it skips without them.
from tests.worlds.alfworld.conftest import alfworld_data  # noqa: F401

PANELS = {
    "quick": "a0bde7305f6c4545e8fa0dba4578acfd45f165039fe5c538c3c27816f196da29",
    "tiny": "ef4bc9b5d8d18981a05cf0dbb4f183f25527ec9f235e00d87803f861e408b10e",
    "quick-short": "01a3d335baf51b1216c10e3357c85a06bd1b3866634e0cca1af776b0fadb315a",
    "games": "c7a2ff5772bc3daeb055806ab85bb39181f916d43386f30b3b4b81301b476622",
    "rrps": "1c27576a31d202195bfda320f1dbed7f7fcfbd276c32673f7ec4ad4768c54427",
    "rrps-short": "a285aa840d3031a1183ca547fc454a4e351057cdb7257dd00dcb62a5339ae409",
    "paper-table1": "0d482f67a2c8e6528b61fc43d8f45c92fb11ba355d8af41d577f7181afc52ad9",
    "paper-ood": "f336164bc3805e7bf180df2868c71800535c54f2a3f1ef22d231c30dee3916a9",
    "paper-curves": "87ed2e71cd42cdacb79b435beb30a025ddcf9222fb223b94f1fb953b360796b1",
    "paper-ablations": "82267ee9a30171b7c4096bc1444121501f85e9dd2d7308f144844398621dde58",
    "adaptation": "a939d2c30e41c1bd447402ca759ec4bc2bbf7632d57eb923b7045ae097fecd2f",
    "worlds": "95e1df080defb1a7f69b2d3f0923c9c648cdc10a987b2f65ff32a2b9077b525e",
}
"""Panel hashes of the present version with its own sizes. A change here is another version of the suite."""

VERSIONS = {"paper-table1": 3, "paper-ood": 2, "worlds": 2}
"""Those that are not 1. Version 2 of the paper's suites has worlds."""


PUBLISHED_GAMES = "69067cd3ee382feb840be8625131cfd096fe72a4aff899945cad0a6de1e9d03a"
"""Likewise of ``alfworld``, whose files are no part of MAGE."""


def test_every_suite_is_pinned() -> None:
    assert set(SUITES) == {*PANELS, "alfworld"}


def test_the_panel_of_published_games_does_not_change(
    alfworld_data: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(alfworld_data))
    suite = SUITES.get("alfworld")
    assert (suite.version, make_panel(suite).hash) == (1, PUBLISHED_GAMES)
    plan = make_plan(suite)
    assert plan.manifest.unsupported == {}
    assert [len(agents) for agents in plan.manifest.config.plays.values()] == [4, 4]


def test_the_suite_of_published_games_says_how_to_get_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    benchmark: Terminal,
) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    said = benchmark("run", "alfworld", "--out", "run")
    assert said.code == 2
    assert "alfworld-download" in said.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", PANELS)
def test_panels_do_not_change(name: str) -> None:
    suite = SUITES.get(name)
    assert (suite.version, make_panel(suite).hash) == (VERSIONS.get(name, 1), PANELS[name])


def test_every_scenario_is_in_a_suite() -> None:
    played = {part.scenario.name for name in SUITES for part in SUITES.get(name).parts}
    games = {name for name in SCENARIOS if SCENARIOS.get(name).population is not None}
    assert games - played == {"kuhn/paper_ood"}  # Its seats are apart in paper-table1 and paper-ood.
    names = ("sokoban", "minesweeper", "webshop", "alfworld")
    left = {name for name in SCENARIOS if name.startswith(tuple(f"{world}/" for world in names))} - played
    to_train_with = {f"{world}/{split}" for world in names for split in ("train", "validation")}
    households = {f"alfworld/{name}" for name in ("train_30", "train_50", "fresh")}  # Of the training split, too.
    assert left == to_train_with | households | {"minesweeper/no_guess"}  # Nothing is left to guess or learn there.


def test_games_has_every_population_that_is_not_a_papers_or_a_switching_one() -> None:
    played = {part.scenario.population for part in SUITES.get("games").parts}
    expected = {name for name in POPULATIONS if "/paper" not in name and "/switching" not in name} - {"generic"}
    assert played == expected - {"rps/leaning"}  # It is the tiny agent's: suite tiny has it.


@pytest.mark.parametrize("name", [name for name in PANELS if name not in ("quick", "games")])
def test_the_suites_own_agents_play_everything_they_are_named_for(name: str) -> None:
    plan = make_plan(SUITES.get(name), meta_episodes=2)
    assert plan.manifest.unsupported == {}
    assert all(len(agents) >= 3 for agents in plan.manifest.config.plays.values())


def test_the_papers_protocol() -> None:
    suite = SUITES.get("paper-table1")
    assert (suite.protocol.episodes, suite.protocol.stop_on_success) == (3, True)
    assert {part.meta_episodes for part in suite.parts} == {512}
    kuhn = [part.scenario for part in suite.parts if "Kuhn" in part.scenario.env_id]
    assert {scenario.instance for scenario in kuhn} == {"replay"}
    assert len(make_panel(suite, meta_episodes=128).by_scenario["paper/kuhn"]) == 128


def test_matches_have_a_thousand_throws_and_every_bot_comes_equally_often() -> None:
    suite = SUITES.get("rrps")
    for part in suite.parts:
        assert dict(part.scenario.arguments) == {"game": "rock_paper_scissors(throws=100)"}
        counts = Counter(entry.opponent for entry in make_panel(suite).by_scenario[part.scenario.name])
        assert set(counts.values()) == {10}
    assert suite.protocol.episodes * 100 == 1000


def test_every_switch_comes_equally_often_and_from_every_seat() -> None:
    panel = make_panel(SUITES.get("adaptation"))
    for entries in panel.by_scenario.values():
        assert len(set(Counter((entry.opponent, entry.seat) for entry in entries).values())) == 1


@pytest.mark.parametrize(
    "scenario", ["kuhn/train", "leduc/heldout", "tictactoe/tables_train", "tictactoe/tables_heldout"]
)
def test_games_has_exact_values_where_opponents_have_tables(scenario: str) -> None:
    suite = SUITES.get("games")
    part = next(part for part in suite.parts if part.scenario.name == scenario)
    entries = make_panel(suite, meta_episodes=24).by_scenario[scenario]
    for seat in seat_yardsticks(suite, part.scenario, entries):
        for kind in ("random", "equilibrium", "told"):
            assert seat.average.values[kind].episodes is not None  # type: ignore[index]
