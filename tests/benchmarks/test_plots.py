"""Plots: the numbers behind them, files that are written and the same each time, and what is said where one lacks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import plots
from benchmarks.columns import INTERVAL, header
from benchmarks.leaderboard import row_key
from benchmarks.plot_data import MOST_SERIES, Costs, Curves, Heat, Series, Subject, costs, curves, file_name, heats
from benchmarks.plot_report import write_plots
from benchmarks.rows import Row
from benchmarks.sources import Sources
from benchmarks.statistics import EMPTY, Estimate
from mage_envs.errors import MageError, RecordError, UnknownNameError
from tests.benchmarks.fakes import episode, record
from tests.benchmarks.test_cli import Terminal
from tests.benchmarks.test_leaderboard import row

SUBJECT = Subject("kuhn/train", "abc", "score", "chips per hand", 2, 4)


def result(agent: str, first: float = 0.0, last: float = 0.5, **more: str) -> Row:
    found = dict.fromkeys(header(2), "") | row(agent, None) | {"episodes": "2", "unit": "chips per hand"}
    for name, value in (("score_1", first), ("score_2", last)):
        ends = zip(INTERVAL, (value, value - 0.1, value + 0.2), strict=True)
        found |= {f"{name}{end}": f"{x:g}" for end, x in ends}
    return found | more


def test_curves_hold_scores_intervals_and_exact_lines() -> None:
    exact = {"ceiling": "0.9", "equilibrium": "0.1", "random": "-0.3", "adaptive_1": "0.2", "adaptive_2": "0.4"}
    (found,) = curves([result("a", **exact), result("b", last=0.7, **exact)])
    assert found.subject == SUBJECT
    assert [series.label for series in found.series] == ["b", "a"]
    assert [value[:3] for value in found.series[1].values] == [(0.0, -0.1, 0.2), (0.5, 0.4, 0.7)]
    assert dict(found.lines) == {
        "told opponent": (0.9, 0.9),
        "best adaptive": (0.2, 0.4),
        "equilibrium": (0.1, 0.1),
        "random": (-0.3, -0.3),
    }
    assert set(dict(found.lines)) == set(plots.LINES)


def test_what_has_no_exact_value_has_no_line() -> None:
    assert curves([result("a", adaptive_1="0.2", random="0")])[0].lines == (("random", (0.0, 0.0)),)


def test_panels_are_not_mixed() -> None:
    found = curves([result("a"), result("a", panel="def"), result("a", scenario="x")])
    assert [(c.subject.scenario, c.subject.panel, len(c.series)) for c in found] == [
        ("kuhn/train", "abc", 1),
        ("kuhn/train", "def", 1),
        ("x", "abc", 1),
    ]


def test_no_more_agents_than_can_be_told_apart_and_the_oracle_is_among_them() -> None:
    rows = [result(f"agent{k}", last=k / 10) for k in range(20)] + [result("god", last=-5, oracle="yes")]
    (found,) = curves(rows)
    assert len(found.series) == MOST_SERIES
    assert found.left_out == 13
    assert found.series[0].label == "agent19"
    assert found.series[-1].label == "god (oracle)"
    (few,) = curves(rows, ["agent1", "agent2"])
    assert [series.label for series in few.series] == ["agent2", "agent1"]


def test_missing_results_are_marked() -> None:
    assert curves([result("a", n_scored="3")])[0].series[0].label == "a !"


def test_where_the_first_win_ends_it_curves_are_of_pass() -> None:
    shares = {"score_2": "", "pass_1": "0.25", "pass_2": "0.5", "pass_2_low": "0.4", "pass_2_high": "0.6"}
    (found,) = curves([result("a", random="0.1", **shares)])
    assert found.subject.measure == "pass"
    assert [value.value for value in found.series[0].values] == [0.25, 0.5]
    assert found.lines == ()


def test_heat_maps_average_the_last_episode_by_opponent() -> None:
    rows = [result("a", last=0.9), result("b", last=0.1)]
    met = {
        row_key(rows[0]): [
            record(0, episode(9.0), episode(1.0, instance="1"), agent="a", opponent="x"),
            record(1, episode(9.0), episode(0.0, instance="2"), agent="a", opponent="x"),
            record(2, episode(9.0), episode(-1.0), agent="a", opponent="y"),
            record(3, episode(9.0), agent="a", opponent="y", status="error", error="gone"),
        ],
        row_key(rows[1]): [record(0, episode(0.0), episode(3.0), agent="b", opponent="y")],
    }
    (found,) = heats(rows, met)
    assert (found.opponents, found.agents) == (("x", "y"), ("a", "b"))
    assert [[cell.value for cell in line] for line in found.cells] == [[0.5, None], [-1.0, 3.0]]
    assert heats(rows, {}) == []


def test_a_runs_records_do_not_stand_by_a_boards_rows() -> None:
    mine, theirs = result("a"), result("a", panel="def")
    found = heats([mine, theirs], {row_key(mine): [record(0, episode(1.0), episode(1.0), agent="a")]})
    assert [heat.subject.panel for heat in found] == ["abc"]


def test_costs_are_by_meta_episode_and_dollars_go_before_tokens() -> None:
    spent = {"prompt_tokens": "300", "completion_tokens": "100"}
    rows = [result("a", cost="2", **spent), result("b", **spent), result("c", last=0.1, cost="1")]
    (found,) = costs(rows)
    assert found.unit == "cost"
    assert [(label, cost, value.value) for label, cost, value in found.points] == [("c", 0.25, 0.1), ("a", 0.5, 0.5)]
    (found,) = costs(rows[1:2])
    assert (found.unit, [cost for _, cost, _ in found.points]) == ("tokens", [100.0])
    assert costs([result("a")]) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("kuhn/train", "kuhn_train"),
        ("../../etc/passwd", "etc_passwd"),
        ("/root", "root"),
        ("..", "unnamed"),
        ("", "unnamed"),
        ("a\x00b\nc", "a_b_c"),
        ("C:\\x", "C_x"),
        ("é✓", "unnamed"),
        ("x" * 300, "x" * 100),
        ("paper-table1.v2", "paper-table1.v2"),
    ],
)
def test_file_names_stay_in_their_folder(text: str, name: str) -> None:
    assert file_name(text) == name
    assert file_name(text, {name.upper()}) == f"{name}-2"


ESTIMATE = Estimate(0.2, 0.1, 0.4, 9)
FIGURES: dict[str, Any] = {
    "curves": lambda: plots.draw_curves(
        Curves(SUBJECT, (Series("a", (ESTIMATE, EMPTY)),), (("random", (0.0, 0.0)),), left_out=3)
    ),
    "one_episode": lambda: plots.draw_curves(
        Curves(SUBJECT._replace(episodes=1), (Series("a", (ESTIMATE,)),), (("random", (0.0,)),), left_out=0)
    ),
    "heat": lambda: plots.draw_heat(Heat(SUBJECT, ("x", "y"), ("a",), ((ESTIMATE,), (EMPTY,)))),
    "heat_of_zeros": lambda: plots.draw_heat(Heat(SUBJECT, ("x",), ("a",), ((Estimate(0.0, 0.0, 0.0, 1),),))),
    "cost": lambda: plots.draw_costs(Costs(SUBJECT, "tokens", (("a", 100.0, ESTIMATE), ("b", 1e4, EMPTY)))),
}


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
@pytest.mark.parametrize("kind", FIGURES)
def test_the_same_data_give_the_same_file(tmp_path: Path, kind: str, form: plots.Format) -> None:
    (first,) = plots.save(FIGURES[kind](), tmp_path, "first", [form])
    (second,) = plots.save(FIGURES[kind](), tmp_path, "second", [form])
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 1000


def test_what_is_drawn_is_what_was_given() -> None:
    (axes, *_) = FIGURES["curves"]().axes
    drawn = {line.get_label(): line.get_ydata().tolist() for line in axes.lines}
    assert drawn["a"][0] == 0.2
    assert drawn["exact: random"] == [0.0, 0.0]
    assert "3 more agents not shown" in axes.get_xlabel()
    assert axes.get_ylabel() == "score (chips per hand)"


def test_agents_differ_in_more_than_colour() -> None:
    looks = [plots._look(index) for index in range(MOST_SERIES)]
    assert len({look["color"] for look in looks}) == len({look["marker"] for look in looks}) == MOST_SERIES
    assert looks[0]["linestyle"] != looks[1]["linestyle"]


def test_nothing_global_changes() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    FIGURES["curves"]()
    assert dict(mpl.rcParams) == before


def test_reports_name_files_and_what_is_missing(tmp_path: Path) -> None:
    rows = [result("a"), result("a", panel="def" * 9), result("a", scenario="../x")]
    written = write_plots(Sources(rows, {}, reported=False), tmp_path, formats=["svg"])
    assert [path.name for path in written.paths] == [
        "curves-kuhn_train-abc.svg",
        "curves-kuhn_train-defdefde.svg",
        "curves_x.svg",
    ]
    assert {path.parent for path in written.paths} == {tmp_path}
    assert [reason.split(":")[0] for reason in written.skipped] == ["opponents", "cost"]
    with pytest.raises(UnknownNameError, match="Did you mean 'kuhn/train'"):
        write_plots(Sources(rows, {}, reported=False), tmp_path, scenarios=["kuhn/trian"])
    with pytest.raises(UnknownNameError, match="agent"):
        write_plots(Sources(rows, {}, reported=False), tmp_path, agents=["nobody"])


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot write"):
        plots.save(FIGURES["curves"](), tmp_path / "missing", "x", ["png"])


def test_without_matplotlib_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MageError, match=r"pip install 'mage-envs\[plots\]'"):
        write_plots(Sources([result("a")], {}, reported=False), tmp_path)


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(monkeypatch, capsys)
    assert terminal("run", "quick", "--agent", "random", "--meta-episodes", "4", "--jobs", "1", "--out", "r").code == 0
    said = terminal("plot", "r", "--scenario", "kuhn/train", "--format", "svg")
    assert said.code == 0, said.err
    assert sorted(path.name for path in Path("figures").iterdir()) == [
        "curves-kuhn_train.svg",
        "opponents-kuhn_train.svg",
    ]
    assert "cost: skipped, no row has tokens or cost" in said.out
    assert terminal("plot", "r", "--out", "elsewhere", "--kind", "curves", "--format", "svg").code == 0
    assert Path("elsewhere/curves-kuhn_train.svg").exists()
