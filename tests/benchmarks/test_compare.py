"""Comparisons of runs: who is paired with whom, what a difference is worth, and what is refused."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.compare import check_same_panel, choose_sides, compare
from benchmarks.compare_report import comparisons_csv
from benchmarks.measures import measures
from benchmarks.panels import Panel
from benchmarks.plan import make_plan
from benchmarks.run_directory import RECORDS, RunDirectory
from benchmarks.suites.base import Protocol
from mage_envs.errors import MageError, RecordError, UnknownNameError
from tests.benchmarks.fakes import episode, make_fake, record, suite

Scores = Mapping[str, Sequence[Sequence[float]]]


def stored(folder: Path, scores: Scores, *, size: int | None = None, **more: Any) -> tuple[RunDirectory, Panel]:
    """Writes a run in which agents have these scores: by agent, meta-episode and episode. Each is its own cluster."""
    size = size or max(map(len, scores.values()))
    plan = make_plan(suite(size, *scores, **more), factory=make_fake)
    folder.mkdir()
    with (folder / RECORDS).open("wb") as stream:
        for agent, rows in scores.items():
            for number, row in enumerate(rows):
                episodes = [episode(reward, instance=f"{number}") for reward in row]
                stream.write(record(number, *episodes, agent=agent).line() + b"\n")
    return RunDirectory(folder, plan.manifest), plan.panel


def test_differences_by_hand(tmp_path: Path) -> None:
    run, panel = stored(
        tmp_path / "r",
        {"first": [[0, 1, 2], [1, 1, 1], [0, 0, 2]], "random": [[0, 0, 0], [1, 1, 0], [0, 1, 0]]},
    )
    found = compare(choose_sides([run], ()), panel)
    assert [c.measure for c in found] == ["episode 1", "episode 2", "episode 3", "total", "gain"]
    assert [c.test.difference.value for c in found] == pytest.approx([0, 0, 5 / 3, 5 / 3, 5 / 3])
    last = found[2]
    assert (last.test.first_better, last.test.second_better, last.test.sign_p, last.test.p) == (3, 0, 0.25, 0.25)
    assert last.holm_p == 1.0  # 5 comparisons.
    assert [c.verdict for c in found] == ["tie"] * 5


def test_better_is_said_of_the_one_that_is(tmp_path: Path) -> None:
    run, panel = stored(tmp_path / "r", {"first": [[0, 0, 1]] * 9, "random": [[0, 0, -1]] * 9})
    found = {c.measure: c for c in compare(choose_sides([run], ["first", "random"]), panel)}
    assert found["episode 3"].holm_p == pytest.approx(5 * 2 / 2**9)
    assert {name: c.verdict for name, c in found.items()} == {
        "episode 1": "tie",
        "episode 2": "tie",
        "episode 3": "first",
        "total": "first",
        "gain": "first",
    }
    swapped = compare(choose_sides([run], ["random", "first"]), panel)
    assert [c.verdict for c in swapped] == ["tie", "tie", "second", "second", "second"]


def test_a_correction_counts_all_that_is_shown(tmp_path: Path) -> None:
    scores = {"first": [[0, 0, 1]] * 9, "random": [[0, 0, -1]] * 9, "equilibrium": [[0, 0, -1]] * 9}
    run, panel = stored(tmp_path / "r", scores)
    found = compare(choose_sides([run], ()), panel)
    assert len(found) == 15
    assert found[2].holm_p == pytest.approx(15 * 2 / 2**9)
    assert found[2].verdict == "tie"
    assert compare(choose_sides([run], ["first", "random"]), panel)[2].verdict == "first"


def test_missing_results_give_no_verdict(tmp_path: Path) -> None:
    run, panel = stored(tmp_path / "r", {"first": [[0, 0, 9]] * 9, "random": [[0, 0, 0]] * 9}, size=10)
    with run.records_path.open("ab") as stream:
        stream.write(record(9, agent="first", status="error", error="gone").line() + b"\n")
    found = compare(choose_sides([run], ()), panel)
    assert {(c.n, c.n_expected, c.verdict) for c in found} == {(9, 10, "incomplete")}


def test_shared_instances_are_one_cluster(tmp_path: Path) -> None:
    run, panel = stored(tmp_path / "r", {"first": [[1, 1, 1]] * 4, "random": [[0, 0, 0]] * 4})
    text = run.records_path.read_text().replace('"instance":"1"', '"instance":"0"')
    run.records_path.write_text(text)
    assert compare(choose_sides([run], ()), panel)[0].test.clusters == 3


def test_two_runs_of_one_panel(tmp_path: Path) -> None:
    old, panel = stored(tmp_path / "old", {"first": [[0, 0, 0]] * 9, "random": [[0, 0, 0]] * 9})
    new, _ = stored(tmp_path / "new", {"first": [[0, 0, 1]] * 9, "equilibrium": [[0, 0, 0]] * 9})
    same = choose_sides([old, new], ())
    assert [(a.agent, b.agent) for a, b in same] == [("first", "first")]
    assert same[0][0].label != same[0][1].label
    assert compare(same, panel)[2].verdict == "second"
    across = choose_sides([old, new], ["random", "equilibrium"])
    assert [(a.label, b.label) for a, b in across] == [("random", "equilibrium")]
    with pytest.raises(UnknownNameError, match=r"'equilibrim'\. Did you mean 'equilibrium'"):
        choose_sides([old, new], ["random", "equilibrim"])


def test_runs_under_different_controls_are_told_apart_by_them(tmp_path: Path) -> None:
    plain, _ = stored(tmp_path / "plain", {"random": [[0, 0, 0]]})
    found, _ = stored(tmp_path / "control", {"random": [[0, 0, 0]]})
    config = found.manifest.config.model_copy(update={"control": "no_memory"})
    control = found._replace(manifest=found.manifest.model_copy(update={"config": config}))
    ((a, b),) = choose_sides([plain, control], ())
    assert (a.label, b.label) == ("random [none]", "random [no_memory]")


def test_runs_of_one_agent_each_need_no_names(tmp_path: Path) -> None:
    old, _ = stored(tmp_path / "old", {"first": [[0, 0, 0]]})
    new, _ = stored(tmp_path / "new", {"random": [[0, 0, 0]]})
    assert [(a.agent, b.agent) for a, b in choose_sides([old, new], ())] == [("first", "random")]


def test_agents_are_found_by_their_short_names(tmp_path: Path) -> None:
    run, _ = stored(tmp_path / "r", {"mcts(simulations=9)": [], "random": []}, size=1)
    names = [card.name for card in run.manifest.config.agents]
    assert names[0] != "mcts(simulations=9)"
    assert choose_sides([run], ["mcts(simulations=9)"])[0][0].agent == names[0]


def test_nobody_to_compare(tmp_path: Path) -> None:
    run, _ = stored(tmp_path / "r", {"random": [[0, 0, 0]]})
    other, _ = stored(tmp_path / "s", {"first": [[0, 0, 0]], "equilibrium": [[0, 0, 0]]})
    with pytest.raises(MageError, match="one agent only, random"):
        choose_sides([run], ())
    with pytest.raises(MageError, match="no agent is in both"):
        choose_sides([run, other], ())
    with pytest.raises(MageError, match="two agents at most"):
        choose_sides([run], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 7}, r"seed \(0 and 7\)"),
        ({"meta_episodes": 5}, r"meta_episodes \(as the suite says and 5\)"),
        ({"suite": "games", "version": 2}, r"suite \(test and games\), version \(1 and 2\)"),
        ({}, "scenarios, populations or protocol"),
    ],
)
def test_other_panels_are_refused_and_the_difference_is_named(change: dict[str, Any], message: str) -> None:
    config = make_plan(suite(4)).manifest.config
    check_same_panel(config, config)
    with pytest.raises(RecordError, match=message):
        check_same_panel(config, config.model_copy(update={"panel": "other", **change}))


def test_where_the_first_win_ends_it_wins_are_compared_and_scores_are_not(tmp_path: Path) -> None:
    run, panel = stored(
        tmp_path / "r", {"first": [[-1, 1], [1]], "random": [[-1, -1, -1], [-1, 1]]}, stop_on_success=True
    )
    found = compare(choose_sides([run], ()), panel)
    assert [(c.measure, c.test.difference.value) for c in found] == [
        ("pass@1", 0.5),
        ("pass@2", 0.5),
        ("pass@3", 0.5),
        ("gain", 0.0),
    ]
    with pytest.raises(MageError, match="first win ends"):
        measures(Protocol(stop_on_success=True), "score")


def test_pass_can_be_asked_for() -> None:
    assert [m.name for m in measures(Protocol(episodes=2), "pass")] == ["pass@1", "pass@2", "gain"]
    assert [m.name for m in measures(Protocol(episodes=1))] == ["episode 1"]


def test_csv_cells_cannot_run(tmp_path: Path) -> None:
    run, panel = stored(tmp_path / "r", {"first": [[0, 0, 1]], "random": [[0, 0, 0]]})
    (found, *_) = compare(choose_sides([run], ()), panel)
    (row,) = csv.DictReader(io.StringIO(comparisons_csv([found._replace(first="=cmd()", second="+1,2")])))
    assert (row["first"], row["second"], row["difference"], row["better"]) == ("'=cmd()", "'+1,2", "0", "tie")
