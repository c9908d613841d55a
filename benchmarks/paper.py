"""What the papers report, as data: ``leaderboards/paper.csv`` is written from it by ``python -m benchmarks.paper``.

MAGE (arXiv 2603.03680): 128 tasks, one seed, no interval; every value is a multiple of 1/128. LaMer (arXiv 2512.16848):
the number of tasks is not given in our notes of it; every value is a multiple of 1/512 and few are of 1/128, so n = 512
is inferred from them. The intervals are Wilson's, recomputed from value and n. They cover the choice of tasks only, not
that of the training seed. To check it: .672 is 86 of 128, .587 to .747.

None of these was measured here, and they are of other panels than ours: tables mark them, and rank them with nobody.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.statistics import Estimate, rate_estimate

MAGE, LAMER = "arXiv 2603.03680", "arXiv 2512.16848"
TASKS = {MAGE: (128, "stated"), LAMER: (512, "inferred")}
"""Tasks behind each value, and how that is known."""
LAST = 3
"""Episodes of a meta-episode in both papers' tables."""


class Reported(NamedTuple):
    """One published number.

    Attributes:
        source: The paper.
        where: What in it the number is from.
        method: Name of the method.
        environment: Name of the environment; see ``ENVIRONMENTS``.
        setting: Opponent or tasks; ``in-distribution`` for those of training.
        metric: ``pass`` (won by the episode), or ``draw`` (share of draws in the episode).
        episode: Its number, from 1.
        value: The share, as printed.
    """

    source: str
    where: str
    method: str
    environment: str
    setting: str
    metric: str
    episode: int
    value: float

    @property
    def hits(self) -> int:
        """Successes behind the value."""
        return round(self.value * TASKS[self.source][0])

    @property
    def estimate(self) -> Estimate:
        """The share that these successes are, with Wilson's 95 % interval."""
        n = TASKS[self.source][0]
        return rate_estimate([True] * self.hits + [False] * (n - self.hits), range(n))


ENVIRONMENTS = {
    "kuhn": "Kuhn poker",
    "tictactoe": "Tic-Tac-Toe",
    "alfworld": "ALFWorld",
    "sokoban": "Sokoban",
    "webshop": "WebShop",
    "minesweeper": "MineSweeper",
}
"""Environments by key, in the order of MAGE's Table 1; MineSweeper is LaMer's."""

IN = "in-distribution"

SAME_TASK = {
    "paper/kuhn": ("kuhn", IN),
    "paper/kuhn_argmax_first": ("kuhn", IN),
    "paper/kuhn_argmax_second": ("kuhn", "CFR"),
    "paper/tictactoe": ("tictactoe", IN),
    "paper/tictactoe_ood": ("tictactoe", "MCTS-1000"),
    "sokoban/test": ("sokoban", IN),
    "sokoban/one_box": ("sokoban", "1 box"),
    "sokoban/three_boxes": ("sokoban", "3 boxes"),
    "webshop/test": ("webshop", IN),
    "webshop/heldout": ("webshop", "held-out tasks"),
    "alfworld/valid_seen": ("alfworld", IN),
    "alfworld/valid_unseen": ("alfworld", "valid_unseen"),
    "alfworld/test": ("alfworld", IN),
}
"""Scenario of ours to the environment and setting whose published numbers may stand beside it, for three episodes.
The paper's text and its code disagree on Kuhn's opponent; both are scenarios (``mage_envs/scenarios/paper.py``)."""

TABLE_1 = {
    "ReAct": (0.648, 0.039, 0.234, 0.383, 0.039),
    "Reflexion": (0.648, 0.242, 0.391, 0.438, 0.039),
    "A-MEM": (0.641, 0.016, 0.375, 0.367, 0.000),
    "Memento": (0.641, 0.031, 0.336, 0.336, 0.000),
    "GRPO": (0.648, 0.219, 0.836, 0.602, 0.711),
    "GiGPO": (0.656, 0.414, 0.883, 0.719, 0.797),
    "LaMer": (0.594, 0.602, 0.898, 0.688, 0.703),
    "MAGE": (0.656, 0.672, 0.914, 0.773, 1.000),
}
"""MAGE's Table 1 by the columns of ``ENVIRONMENTS``: success by the last episode."""

_LAMER = {
    "LaMer": {"sokoban": (0.424, 0.520, 0.559), "minesweeper": (0.441, 0.664, 0.744), "webshop": (0.678, 0.844, 0.891)}
}
_LAMER_MEMORY = {
    "LaMer, history only": (0.348, 0.695, 0.893),
    "LaMer, reflection only": (0.564, 0.805, 0.928),
    "LaMer, history and reflection": (0.559, 0.744, 0.891),
}
_HELD_OUT = (
    ("MAGE", "tictactoe", "MCTS-1000", "draw", 1, 0.812),
    ("MAGE", "tictactoe", "MCTS-1000", "draw", LAST, 1.000),
    ("MAGE", "kuhn", "CFR", "pass", LAST, 0.508),
    ("MAGE", "sokoban", "1 box", "pass", LAST, 0.914),
    ("MAGE", "sokoban", "3 boxes", "pass", LAST, 0.461),
    ("MAGE", "webshop", "held-out tasks", "pass", LAST, 0.961),
    ("GiGPO", "webshop", "held-out tasks", "pass", LAST, 0.688),
    ("MAGE", "alfworld", "valid_unseen", "pass", LAST, 0.789),
)
_FIRST_EPISODE = (
    ("MAGE", "webshop", 0.664),
    ("MAGE", "sokoban", 0.406),
)
_ABLATIONS = (
    ("MAGE, balanced population", "tictactoe", LAST, 0.672),
    ("MAGE, skewed population", "tictactoe", LAST, 0.578),
    ("MAGE, stationary grouping", "tictactoe", LAST, 0.672),
    ("MAGE, mixed grouping", "tictactoe", LAST, 0.547),
    ("MAGE, cross-episode anchor", "kuhn", 1, 0.594),
    ("MAGE, cross-episode anchor", "kuhn", LAST, 0.656),
    ("MAGE, per-episode anchor", "kuhn", 1, 0.336),
)


def reported() -> list[Reported]:
    """Returns every published number, paper by paper."""
    return [*_mage(), *_lamer()]


class PaperColumn(NamedTuple):
    """A column of ``paper.csv``.

    Attributes:
        name: Name in the header.
        unit: Unit and range.
        meaning: What it is.
    """

    name: str
    unit: str
    meaning: str


COLUMNS = (
    PaperColumn("status", "`reported`", "published by others, not measured here"),
    PaperColumn("source", "text", "the paper"),
    PaperColumn("where", "text", "what in it the number is from"),
    PaperColumn("method", "text", "the paper's name of the method"),
    PaperColumn("environment", "text", f"one of {', '.join(f'`{key}`' for key in ENVIRONMENTS)}"),
    PaperColumn("setting", "text", "opponent or tasks; `in-distribution`: those of training"),
    PaperColumn(
        "metric", "`pass` or `draw`", "pass: share of tasks solved in episodes 1..episode; draw: share of draws"
    ),
    PaperColumn("episode", "integer, 1 or more", "number of the episode"),
    PaperColumn("value", "0..1", "the number as printed"),
    PaperColumn("hits", "integer", "successes behind it: value × n, rounded"),
    PaperColumn("n", "integer", "tasks behind it, one seed"),
    PaperColumn("n_is", "`stated` or `inferred`", "inferred: every value of the paper is a multiple of 1/n"),
    PaperColumn("low", "0..1", "lower end of Wilson's 95 % interval of hits of n, recomputed here"),
    PaperColumn("high", "0..1", "upper end"),
)


def paper_csv() -> str:
    """Writes ``paper.csv``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in COLUMNS])
    for found in reported():
        estimate, (n, how) = found.estimate, TASKS[found.source]
        ends = [f"{end:.3f}" for end in estimate[1:3]]
        writer.writerow(["reported", *found[:-1], f"{found.value:.3f}", found.hits, n, how, *ends])
    return text.getvalue()


def describe_columns() -> str:
    """Writes the table of leaderboards/README.md."""
    lines = ["| column | unit, range | what it is |", "|---|---|---|"]
    return "\n".join(lines + [f"| `{column.name}` | {column.unit} | {column.meaning} |" for column in COLUMNS]) + "\n"


def _mage() -> Iterator[Reported]:
    for method, values in TABLE_1.items():
        for environment, value in zip(ENVIRONMENTS, values, strict=False):
            yield Reported(MAGE, "Table 1", method, environment, IN, "pass", LAST, value)
    for method, environment, value in _FIRST_EPISODE:
        yield Reported(MAGE, "first episode", method, environment, IN, "pass", 1, value)
    for method, environment, setting, metric, episode, value in _HELD_OUT:
        yield Reported(MAGE, "held out", method, environment, setting, metric, episode, value)
    for method, environment, episode, value in _ABLATIONS:
        yield Reported(MAGE, "ablation", method, environment, IN, "pass", episode, value)


def _lamer() -> Iterator[Reported]:
    for method, environments in _LAMER.items():
        for environment, values in environments.items():
            for episode, value in enumerate(values, start=1):
                yield Reported(LAMER, "main results", method, environment, IN, "pass", episode, value)
    for method, values in _LAMER_MEMORY.items():
        for environment, value in zip(("sokoban", "minesweeper", "webshop"), values, strict=True):
            yield Reported(LAMER, "memory ablation", method, environment, IN, "pass", LAST, value)


def _main() -> None:
    Path("leaderboards/paper.csv").write_bytes(paper_csv().encode())


if __name__ == "__main__":
    _main()
