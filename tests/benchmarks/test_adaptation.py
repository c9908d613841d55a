"""How agents take a switch: the worked example of docs/adaptation.md, what has no measure, and the command."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.adaptation import Adaptation, adaptation, adaptations, switch_episode
from benchmarks.adaptation_report import adaptation_csv, adaptation_tables
from benchmarks.plan import make_plan
from benchmarks.records import Record
from benchmarks.runner import run
from benchmarks.suites import SUITES
from mage_envs.errors import MageError, RecordError, UnknownNameError
from tests.benchmarks.fakes import episode, ignore_progress, record, suite

AT_2 = "switching(a=conservative, b=aggressive, at=2)"


def played(number: int, *scores: float, opponent: str = AT_2) -> Record:
    episodes = [episode(score, instance=f"{number}/{index}") for index, score in enumerate(scores)]
    return record(number, *episodes, opponent=opponent)


EXAMPLE = (played(0, 1, 3, -1, 1, 2, 2, 2), played(1, 2, 2, 0, 0, 1, 2, 2))


def measured(*records: Record, n_expected: int = 2) -> Adaptation:
    return adaptation("test/kuhn", "someone", records, n_expected)


def test_the_worked_example() -> None:
    found = measured(*EXAMPLE)
    assert (found.n, found.before.value, found.drop.value, found.cost.value) == (2, 2.0, 2.5, 4.5)
    assert [score.value for score in found.after] == [-0.5, 0.5, 1.5, 2.0, 2.0]
    assert found.drop.low is not None
    assert found.drop.low < 0.0  # Two clusters: ±12.7 × 0.5.
    assert found.recovery is None
    assert measured(*(played(number, *scores(number)) for number in range(12))).recovery == 2


def scores(number: int) -> list[float]:
    """Returns those of the example's two meta-episodes in turn."""
    return [found.reward for found in EXAMPLE[number % 2].episodes]


@pytest.mark.parametrize(
    ("row", "recovery"),
    [((2, 2, 0, 1, 0, 0, 0), 1), ((2, 2, 0, 0, 0, 0, 1), 4), ((2, 2, 0, 0, 0, 0, 0), 5), ((2, 2, 2, 0, 0, 0, 0), None)],
)
def test_recovery_is_when_half_of_the_drop_is_made_up(row: tuple[float, ...], recovery: int | None) -> None:
    assert measured(*(played(number, *row) for number in range(4))).recovery == recovery


def test_episodes_are_counted_from_each_ones_own_switch() -> None:
    late = "switching(a=conservative, b=aggressive, at=4)"
    found = measured(*EXAMPLE, played(2, 9, 9, 1, 3, -1, 1, 2, 2, 2, opponent=late))
    assert found.before.value == 2.0
    assert found.after[0].value == pytest.approx(-2 / 3)


def test_failed_meta_episodes_are_left_out_and_counted() -> None:
    found = measured(*EXAMPLE, record(2, opponent=AT_2, status="error", error="gone"), n_expected=3)
    assert (found.n, found.n_expected, found.before.value) == (2, 3, 2.0)
    assert measured().cost.value is None


@pytest.mark.parametrize("row", [(1, 1, 1, 1, 1, 1), (1,) * 3])
def test_too_short_a_meta_episode_is_refused(row: tuple[float, ...]) -> None:
    with pytest.raises(RecordError, match="2 before the switch and 5 from it on are needed"):
        measured(played(0, *row))
    with pytest.raises(RecordError, match="cannot be measured"):
        measured(played(0, *(1.0,) * 9, opponent="switching(a=conservative, b=aggressive, at=1)"))


def test_which_opponents_switch() -> None:
    assert switch_episode("switching(a=constant(action=rock), b=cycle(start=rock, direction=forward), at=11)") == 11
    assert switch_episode("conservative") is None
    assert switch_episode(None) is None


def test_a_suite_whose_opponents_do_not_switch_has_no_such_measure(tmp_path: Path) -> None:
    plan = make_plan(suite(4, "random"))
    directory = run(plan, tmp_path / "r", ignore_progress)
    with pytest.raises(MageError, match="no opponent switches here"):
        adaptations(directory, plan.panel)
    with pytest.raises(UnknownNameError):
        adaptations(directory, plan.panel, ["test/kuhm"])


def test_the_suites_own_switches_can_be_measured_and_shown(tmp_path: Path) -> None:
    plan = make_plan(SUITES.get("adaptation"), ["random"], meta_episodes=96)
    found = adaptations(run(plan, tmp_path / "r", ignore_progress), plan.panel)
    assert [(row.scenario, row.agent, row.n) for row in found] == [
        ("adaptation/kuhn", "random", 96),
        ("adaptation/rps", "random", 96),
    ]
    rows = list(csv.DictReader(adaptation_csv(found).splitlines()))
    assert float(rows[0]["after_4"]) == pytest.approx(found[0].after[4].value, rel=1e-5)
    assert all(None not in row and None not in row.values() for row in rows)
    units = {part.scenario.name: part.scenario.unit for part in plan.panel.suite.parts}
    for width in (80, 100):
        console = Console(width=width, record=True, file=io.StringIO())
        console.print(adaptation_tables(found, units, width))
        text = console.export_text()
        assert "…" not in text
        assert "adaptation/rps   points per episode; 96 meta-episodes" in text
