"""MineSweeper as LaMer plays it: 6×6 cells with 3 mines, one board in every episode of a meta-episode.

Nothing is known of the first cell, so that a single episode has a ceiling (6427/7140 = .9001 in 6×6 with 3 mines,
1798/2300 = .7817 in 5×5), and memory can pass it. Larger boards have about as many mines a cell. Splits are by
where the mines are, so that no board of one split is in another, mirrored or turned.
"""

from __future__ import annotations

from mage_envs.envs.meta_episode import Instance
from mage_envs.scenarios.base import Scenario, register

ENV_ID = "mage/MineSweeper-meta-v0"
UNIT = "1 if won, else 0"


def _minesweeper(name: str, summary: str, instance: Instance = "replay", **arguments: int | str | bool) -> Scenario:
    """Makes a scenario with all that decides what a board is, defaults included: it is frozen."""
    kind: dict[str, int | str | bool] = {
        "rows": 6, "columns": 6, "mines": 3, "first_click": "risky", "no_guess": False, "split": "test",
    }  # fmt: skip
    given = {**kind, **arguments}
    return Scenario(f"minesweeper/{name}", ENV_ID, summary, UNIT, None, (0,), instance, tuple(given.items()))


register(
    _minesweeper("train", "6x6, 3 mines: boards to train on", split="train"),
    _minesweeper("validation", "6x6, 3 mines: boards to choose by", split="validation"),
    _minesweeper("test", "6x6, 3 mines: boards that no training sees"),
    _minesweeper("fresh", "6x6, 3 mines: another board in each episode", "fresh"),
    _minesweeper("5x5", "held out: 5x5, 3 mines", rows=5, columns=5),
    _minesweeper("7x7", "held out: 7x7, 4 mines", rows=7, columns=7, mines=4),
    _minesweeper("8x8", "held out: 8x8, 5 mines", rows=8, columns=8, mines=5),
    _minesweeper(
        "no_guess",
        "8x8, 10 mines, solved by logic alone",
        rows=8,
        columns=8,
        mines=10,
        first_click="given",
        no_guess=True,
    ),
)
