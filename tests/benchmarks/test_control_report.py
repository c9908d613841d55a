"""A run beside its controls: what is paired with what, and what cannot stand side by side."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.control_report import control_effects, effect_tables
from benchmarks.plan import Plan, make_plan
from benchmarks.run_directory import RunDirectory
from benchmarks.runner import run
from mage_envs.errors import MageError, RecordError
from tests.benchmarks.fakes import ignore_progress, suite


def played(
    path: Path, control: str = "none", *agents: str, seed: int = 0, **protocol: int
) -> tuple[Plan, RunDirectory]:
    plan = make_plan(suite(60, *(agents or ("thompson", "recall")), **protocol), control=control, seed=seed)
    return plan, run(plan, path / f"{control}{seed}{len(agents)}", ignore_progress)


def test_each_control_is_paired_with_the_run(tmp_path: Path) -> None:
    plan, plain = played(tmp_path)
    others = [played(tmp_path, control)[1] for control in ("foreign_reflection", "no_memory")]
    found = control_effects([*others, plain], plan.panel)
    assert [(e.agent, e.control) for e in found] == [
        (agent, control)
        for agent in ("thompson", "recall(base=random)")
        for control in ("none", "no_memory", "foreign_reflection")
    ]
    by_control = {effect.control: effect for effect in found if effect.agent == "thompson"}
    plain_last, under = by_control["none"].last.value, by_control["no_memory"]
    assert plain_last is not None
    assert under.last.value is not None
    assert under.lost_last.value == pytest.approx(plain_last - under.last.value)
    assert under.lost_gain.value == pytest.approx(under.lost_last.value)  # The first episode is the same.
    assert by_control["none"].lost_last.value == 0.0
    assert {effect.n for effect in found} == {60}
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(effect_tables(found))
    text = console.export_text()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert " no_memory" in text


def test_an_agent_that_some_runs_lack_is_shown_where_it_is(tmp_path: Path) -> None:
    plan, plain = played(tmp_path, "none", "thompson", "random")
    found = control_effects([plain, played(tmp_path, "no_memory", "thompson")[1]], plan.panel)
    assert {effect.agent for effect in found} == {"thompson"}
    with pytest.raises(MageError, match="no agent is in the run and in one of its controls"):
        control_effects([plain, played(tmp_path, "no_memory", "recall", "mirror")[1]], plan.panel)


def test_where_the_first_win_ends_it_pass_is_compared(tmp_path: Path) -> None:
    plan, plain = played(tmp_path, stop_on_success=True)
    found = control_effects([plain, played(tmp_path, "no_memory", stop_on_success=True)[1]], plan.panel)
    assert all(effect.last.value is not None and 0.0 <= effect.last.value <= 1.0 for effect in found)


def test_runs_that_cannot_stand_side_by_side(tmp_path: Path) -> None:
    plan, plain = played(tmp_path)
    without = played(tmp_path, "no_memory")[1]
    with pytest.raises(RecordError, match="one run without a control"):
        control_effects([without], plan.panel)
    with pytest.raises(RecordError, match="are both of control no_memory"):
        control_effects([plain, without, without], plan.panel)
    with pytest.raises(RecordError, match="different panels"):
        control_effects([plain, played(tmp_path, "no_memory", seed=1)[1]], plan.panel)
    single, alone = played(tmp_path / "single", episodes=1)
    with pytest.raises(MageError, match="has no memory to look at"):
        control_effects([alone, played(tmp_path / "single", "no_memory", episodes=1)[1]], single.panel)


def test_the_commands(tmp_path: Path) -> None:
    def said(*words: str | Path) -> str:
        found = CliRunner().invoke(app, [*map(str, words)])
        assert found.exit_code == 0, found.exception
        return found.stdout

    for name in ("none", "no_memory"):
        small = ("--agent", "thompson", "--meta-episodes", "20", "--jobs", "1", "--control", name)
        said("run", "quick", *small, "--out", tmp_path / name)
        said("verify", tmp_path / name, "--jobs", "1")
    side_by_side = said("controls", tmp_path / "none", tmp_path / "no_memory")
    assert "lost of gain" in side_by_side
    assert " no_memory" in side_by_side
    small = ("--agent", "change_point", "--meta-episodes", "96", "--jobs", "1", "--out", tmp_path / "a")
    said("run", "adaptation", *small)
    assert "rec." in said("adaptation", tmp_path / "a", "--csv", tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().startswith("scenario,agent,n,")
