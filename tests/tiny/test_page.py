"""The tables of docs/tiny.md say what the studies' files say."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tiny.md").read_text(encoding="utf-8")
STUDIES = ("rps", "kuhn")


def value(row: dict[str, str], name: str) -> str:
    """Formats a figure with half of its interval; empty if there is none."""
    if not row[name]:
        return ""
    half = f" ± {(float(row[f'{name}_high']) - float(row[f'{name}_low'])) / 2:.3f}" if row[f"{name}_low"] else ""
    return f"{float(row[name]):+.3f}{half}"


def rendered(study: str) -> str:
    """Renders the rows of a study that are on the page."""
    with (ROOT / "benchmarks" / "studies" / study / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [
        "| | seeds | episode 1 | episode 2 | episode 3 | gain | last: - mage | last: - start | norm. |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        name = f"`{row['arm']}`" if row["control"] == "none" else f"`{row['arm']}`, {row['control']}"
        figures = [
            value(row, key) for key in ("score_1", "score_2", "score_3", "gain", "last_to_base", "last_to_start")
        ]
        normalised = f"{float(row['normalised']):.2f}" if row["normalised"] else ""
        lines.append(f"| {' | '.join([name, row['n_seeds'], *figures, normalised])} |")
    return "\n".join(lines)


@pytest.mark.parametrize("study", STUDIES)
def test_the_page_has_the_figures_of_the_study(study: str) -> None:
    table = re.search(rf"<!-- table: {study} -->\n(.*?)\n<!-- end -->", PAGE, re.DOTALL)
    assert table is not None
    assert table[1] == rendered(study)


def test_the_bar() -> None:
    """Five seeds: the last episode is above the first and above the start; the controls take the gain away."""
    for study in STUDIES:
        with (ROOT / "benchmarks" / "studies" / study / "results.csv").open(encoding="utf-8", newline="") as file:
            rows = {(row["arm"], row["control"]): row for row in csv.DictReader(file)}
        mage = rows["mage", "none"]
        assert int(mage["n_seeds"]) >= 5
        assert float(mage["gain_low"]) > 0
        assert float(mage["last_to_start_low"]) > 0
        for control in ("no_memory", "shuffled_reflection"):
            row = rows["mage", control]
            assert float(row["gain_low"]) <= 0 <= float(row["gain_high"])
