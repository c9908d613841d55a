"""Runs and boards as pandas frames, for plots and tests of one's own.

>>> list(episodes_frame([]).columns)[:4]
['agent', 'scenario', 'meta_episode', 'opponent']
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from benchmarks.columns import is_text
from benchmarks.leaderboard import board_path, read_board
from benchmarks.records import Record
from benchmarks.run_directory import load_run

_COLUMNS = {
    "agent": "str",
    "scenario": "str",
    "meta_episode": "int64",
    "opponent": "str",
    "seat": "int64",
    "seed": "int64",
    "instance": "str",
    "episode": "int64",
    "score": "float64",
    "outcome": "str",
    "length": "int64",
    "invalid": "int64",
    "forfeit": "bool",
}
_OF_EPISODE = {"seat", "instance", "outcome", "length", "invalid", "forfeit"}


def run_frame(run: Path | str) -> pd.DataFrame:
    """Reads a run directory; see :func:`episodes_frame`.

    Raises:
        RecordError: The path is no run directory, or a line of its records is damaged; ``benchmark show`` tells more.
    """
    return episodes_frame(load_run(Path(run)).records().values())


def episodes_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Puts records into one row an episode.

    Args:
        records: Records of a run. Those without a score (``error``, ``timeout``) are left out.

    Returns:
        Columns ``agent``, ``scenario``, ``meta_episode`` (number in the scenario's panel), ``opponent`` (empty where
        nobody else plays), ``seat``, ``seed``, ``instance``, ``episode`` (from 1), ``score``, ``outcome``, ``length``,
        ``invalid`` and ``forfeit``.
    """
    rows = [
        {
            "agent": record.agent,
            "scenario": record.scenario,
            "meta_episode": record.number,
            "opponent": record.opponent or "",
            "seed": record.seed,
            "episode": number,
            "score": episode.reward,
            **episode.model_dump(include=_OF_EPISODE),
        }
        for record in records
        if record.scored
        for number, episode in enumerate(record.episodes, start=1)
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)


def board_frame(suite: str, leaderboards: Path | None = None) -> pd.DataFrame:
    """Reads the board of a suite.

    Args:
        suite: Its name.
        leaderboards: Folder of leaderboards; None: the usual place.

    Returns:
        A row for each agent and scenario, with the columns of ``leaderboards/README.md``; empty cells of number
        columns are NaN.
    """
    frame = pd.DataFrame(read_board(board_path(suite, leaderboards)))
    numbers = [name for name in frame.columns if not is_text(name)]
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in numbers})
