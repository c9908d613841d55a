"""The files of a study that can be committed: a page, two tables of numbers, a manifest and the figure."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks.files import replace_file
from benchmarks.leaderboard import safe_text
from benchmarks.rows import number
from benchmarks.statistics import Estimate
from benchmarks.study_results import Line, Results, results
from benchmarks.tables import with_half
from mage_agent.grpo.run_folder import RULES
from mage_agent.grpo.study import NONE, START, StudyFolder
from mage_envs.errors import MageError

METHOD = (
    "Intervals: 95 %, Student's t over seeds (n - 1 degrees of freedom), an observation being a seed's mean over the "
    "panel of that seed; differences are paired by seed."
)
INCOMPLETE = " !"
"""Marks a row with missing meta-episodes or seeds, or with trainings that collapsed."""


def write_report(folder: Path, to: Path) -> RenderableType:
    """Writes the files of a study, as far as it is.

    Args:
        folder: The study.
        to: Where to; made if it is missing.

    Returns:
        The table for a terminal.

    Raises:
        MageError: There is no study, or nothing has been played yet.
    """
    study_folder = StudyFolder(folder)
    study = study_folder.read()
    if study is None:
        raise MageError(f"there is no study in {folder}: name the --out of a `mage-agent ablate`")
    found = results(study, study_folder)
    if not found.lines:
        raise MageError(f"nothing has been played yet in {folder}: go on with `mage-agent ablate --out {folder}`")
    to.mkdir(parents=True, exist_ok=True)
    replace_file(to / "table.md", markdown(found).encode())
    replace_file(to / "results.csv", results_csv(found).encode())
    replace_file(to / "seeds.csv", seeds_csv(found).encode())
    replace_file(to / "manifest.json", (json.dumps(_manifest(study_folder, found), indent=2) + "\n").encode())
    names = ["table.md", "results.csv", "seeds.csv", "manifest.json"]
    note = ""
    if find_spec("matplotlib"):
        from benchmarks.study_plot import draw_study

        names += draw_study(found, to)
    else:
        note = " No figure: that needs matplotlib, pip install 'mage-envs[plots]'."
    where = Text(f"Written to {to}: {', '.join(names)}.{note}", style="dim")
    return Group(terminal_table(found), *(Text(line, style="dim") for line in notes(found)), where)


def notes(found: Results) -> list[str]:
    """Returns what a reader of a table must know, line by line."""
    study, ceilings = found.study, found.ceilings
    panel = study.panel
    said = [
        f"{panel.scenario.name}, {panel.scenario.unit}: {study.meta_episodes:,} meta-episodes of {panel.episodes} "
        f"episodes a seed, the same for all rows. Seeds: {', '.join(map(str, study.seeds))}.",
        METHOD,
        f"gain: last episode minus first. minus {study.compared}, minus {START}: last episode minus theirs.",
    ]
    if ceilings.equilibrium is not None and ceilings.adaptive is not None:
        best = ", ".join(f"{value:+.3f}" for value in ceilings.adaptive)
        said.append(
            f"Exact: equilibrium {ceilings.equilibrium:+.3f} in each episode, Bayes-adaptive policy {best}. norm.: the "
            "last episode, where that of equilibrium play is 0 and that of the Bayes-adaptive policy is 1."
        )
    if any(_mark(found, line) for line in found.lines):
        said.append("!: meta-episodes or seeds are missing, or a training collapsed; results.csv says which.")
    return said


def markdown(found: Results) -> str:
    """Renders the table as a page of Markdown."""
    study, episodes = found.study, found.study.panel.episodes
    shown = range(episodes) if episodes <= 3 else (0, episodes - 1)
    head = ["row", "what it is", "seeds", "meta-episodes", *(f"episode {n + 1}" for n in shown), "gain",
            f"minus {study.compared}", f"minus {START}", "norm."]  # fmt: skip
    rows = []
    for line in found.lines:
        cells = [*(line.score[n] for n in shown), line.gain, line.last_to_base, line.last_to_start, line.normalised]
        counts = [str(len(line.played)), f"{sum(one.n for one in line.played):,}"]
        summary = line.summary if line.control == NONE else f"under the control {line.control}"
        rows.append([f"{line.name}{_mark(found, line)}", summary, *counts, *map(_cell, cells)])
    texts = "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))
    title = f"# Ablations on {study.panel.scenario.name}\n"
    return "\n".join([title, texts, *(f"- {line}" for line in notes(found)), ""])


def results_csv(found: Results) -> str:
    """Returns a line for each row of the table, with all that is estimated and its ends."""
    episodes = found.study.panel.episodes
    names = [*(f"score_{n + 1}" for n in range(episodes)), "gain", "last_to_base", "gain_to_base", "last_to_start",
             "normalised"]  # fmt: skip
    head = ["arm", "control", "summary", "seeds", "n_seeds", "n_scored", "n_error", "complete", "collapsed_seeds"]
    rows = [[*head, *(f"{name}{end}" for name in names for end in ("", "_low", "_high"))]]
    for line in found.lines:
        values = [*line.score, line.gain, line.last_to_base, line.gain_to_base, line.last_to_start, line.normalised]
        rows.append([
            safe_text(line.arm), line.control, safe_text(line.summary),
            " ".join(str(one.seed) for one in line.played), str(len(line.played)),
            str(sum(one.n for one in line.played)), str(sum(one.errors for one in line.played)),
            "yes" if line.complete(found.study.meta_episodes, len(found.study.seeds)) else "no",
            " ".join(str(one.seed) for one in line.played if one.collapsed),
            *(number(end) for value in values for end in value[:3]),
        ])  # fmt: skip
    return _csv(rows)


def seeds_csv(found: Results) -> str:
    """Returns a line for each trained model: what the intervals are computed from."""
    episodes = found.study.panel.episodes
    rows = [["arm", "control", "seed", "panel", "n_scored", "n_error", *(f"score_{n + 1}" for n in range(episodes))]]
    for line in found.lines:
        for one in line.played:
            counts = [str(one.seed), found.panels[one.seed], str(one.n), str(one.errors)]
            rows.append([safe_text(line.arm), line.control, *counts, *(number(score, ".9g") for score in one.score)])
    return _csv(rows)


def terminal_table(found: Results) -> RenderableType:
    """Renders the table for 80 columns."""
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False, expand=False)
    last = found.study.panel.episodes
    table.add_column("", overflow="fold", width=22)
    for title in (f"episode {last}", "gain", f"minus {found.study.compared}", f"minus {START}"):
        table.add_column(title, justify="right", width=12, overflow="fold")
    table.add_column("norm.", justify="right", width=5)
    for line in found.lines:
        name = line.arm if line.control == NONE else f" {line.control}"
        cells = [with_half(*value[:3]) for value in (line.score[-1], line.gain, line.last_to_base, line.last_to_start)]
        norm = "" if line.normalised.value is None else f"{line.normalised.value:.2f}"
        table.add_row(f"{name}{_mark(found, line)}", *cells, norm)
    return table


def _mark(found: Results, line: Line) -> str:
    whole = line.complete(found.study.meta_episodes, len(found.study.seeds))
    return "" if whole and not any(one.collapsed for one in line.played) else INCOMPLETE


def _cell(value: Estimate) -> str:
    if value.value is None:
        return ""
    if value.low is None or value.high is None:
        return f"{value.value:+.3f}"
    return f"{value.value:+.3f} [{value.low:+.3f}, {value.high:+.3f}]"


def _csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _manifest(folder: StudyFolder, found: Results) -> dict[str, Any]:
    """Returns what makes the study again, and what is missing of it."""
    study = found.study
    said = dict(folder.said() or {})
    return {
        **{name: said[name] for name in ("base", "compared", "arms", "seeds", "meta_episodes", "controls")},
        "panels": {str(seed): panel for seed, panel in found.panels.items()},
        "configs_sha256": {
            arm.name: {str(seed): study.config(arm.name, seed).sha256 for seed in study.seeds} for arm in study.arms
        },
        **({RULES: said[RULES]} if RULES in said else {}),
        "collapsed": dict(_collapsed(folder, found)),
        "attempts": said["attempts"],
    }


def _collapsed(folder: StudyFolder, found: Results) -> Iterator[tuple[str, str]]:
    for arm in found.study.arms:
        for seed in found.study.seeds:
            if (path := folder.collapse(arm.name, seed)).exists():
                yield f"{arm.name}, seed {seed}", path.read_text(encoding="utf-8").strip()
