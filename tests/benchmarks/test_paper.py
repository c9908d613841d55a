"""The published numbers: the file is what the data say, and the data are what the papers can have counted."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import leaderboards
from benchmarks.paper import COLUMNS, ENVIRONMENTS, LAMER, MAGE, TABLE_1, TASKS, describe_columns, paper_csv, reported

FOLDER = Path(leaderboards.__file__).parent


def test_the_file_is_what_the_data_say() -> None:
    found = (FOLDER / "paper.csv").read_bytes().decode()
    assert found == paper_csv(), "run python -m benchmarks.paper in the checkout"


def test_the_readme_describes_every_column() -> None:
    assert describe_columns() in (FOLDER / "README.md").read_text(encoding="utf-8"), (
        "write the output of python -c 'from benchmarks.paper import *; print(describe_columns())' into it"
    )


def test_every_value_is_a_number_of_tasks_over_n() -> None:
    for found in reported():
        n, _ = TASKS[found.source]
        assert abs(found.hits / n - found.value) <= 0.00051, found


def test_lamers_values_are_not_of_128_tasks() -> None:
    values = [found.value for found in reported() if found.source == LAMER]
    assert len(values) == 18
    assert sum(abs(round(value * 128) / 128 - value) > 0.00051 for value in values) > 9


def test_what_is_published_is_all_there() -> None:
    found = {(r.where, r.method, r.environment, r.setting, r.episode): r.value for r in reported()}
    assert len(found) == len(reported()) == 8 * 5 + 2 + 8 + 7 + 9 + 9
    assert found["Table 1", "MAGE", "webshop", "in-distribution", 3] == 1.0
    assert found["held out", "MAGE", "sokoban", "3 boxes", 3] == 0.461
    assert found["ablation", "MAGE, per-episode anchor", "kuhn", "in-distribution", 1] == 0.336
    assert found["main results", "LaMer", "minesweeper", "in-distribution", 2] == 0.664
    assert {len(values) for values in TABLE_1.values()} == {len(ENVIRONMENTS) - 1}


@pytest.mark.parametrize(
    ("method", "environment", "hits", "low", "high"),
    [
        ("MAGE", "tictactoe", "86", 0.587, 0.747),  # As in docs/benchmark.md.
        ("LaMer", "tictactoe", "77", 0.515, 0.682),
        ("MAGE", "webshop", "128", 0.971, 1.0),  # 128 / (128 + 1.96^2) = .9709.
        ("Memento", "webshop", "0", 0.0, 0.029),
    ],
)
def test_recomputed_intervals(method: str, environment: str, hits: str, low: float, high: float) -> None:
    rows = [row for row in csv.DictReader(io.StringIO(paper_csv()))
            if (row["method"], row["environment"], row["where"]) == (method, environment, "Table 1")]  # fmt: skip
    assert [(row["hits"], row["n"], float(row["low"]), float(row["high"])) for row in rows] == [
        (hits, "128", low, high)
    ]


def test_nothing_passes_for_a_result_of_ours() -> None:
    rows = list(csv.DictReader(io.StringIO(paper_csv())))
    assert {row["status"] for row in rows} == {"reported"}
    assert {row["source"] for row in rows} == {MAGE, LAMER}
    assert list(rows[0]) == [column.name for column in COLUMNS]
