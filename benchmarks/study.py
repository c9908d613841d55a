"""Studies of training: what trained models play, and what came of it.

:mod:`mage_agent.grpo.study_runner` says what is needed, and finds this module by its name.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from rich.console import RenderableType

from benchmarks.asynchronous import LoopSetup
from benchmarks.files import LineFile, replace_file
from benchmarks.panels import Panel as Entries
from benchmarks.plan import Task
from benchmarks.players import Table
from benchmarks.records import Record, collect_records
from benchmarks.training import validation
from mage_agent.base import Agent
from mage_agent.grpo.evaluation import Panel
from mage_envs.errors import RecordError

NAME = "training-study"
"""What seeds are derived from: no suite may have this name."""


def entries_of(panel: Panel, seed: int) -> Entries:
    """Returns what all play that were trained with a seed: in no suite, and in no evaluation during training."""
    return validation(panel, NAME, seed)


def read(panel: Panel, seed: int, path: Path) -> dict[int, Record]:
    """Reads the records of one trained model by their number in the panel; a missing file has none.

    Raises:
        RecordError: A damaged line, or one of another panel.
    """
    entries = entries_of(panel, seed).entries
    found = {record.number: record for record in collect_records(path).values()}
    for number, record in found.items():
        if number >= len(entries) or (record.seed, record.opponent) != (entries[number].seed, entries[number].opponent):
            raise RecordError(f"{path}: meta-episode {number} is of another panel: delete the file, and play again")
    return found


def missing(panel: Panel, seed: int, path: Path) -> int:
    """Returns how many meta-episodes of a panel have no score in a file of records."""
    return panel.meta_episodes - sum(record.scored for record in read(panel, seed, path).values())


def play(
    panel: Panel,
    seed: int,
    agent: Callable[[], Agent],
    concurrency: int,
    control: str,
    path: Path,
    stop: Callable[[], bool],
) -> int:
    """Plays what is missing, and puts the file into the order of the panel when nothing is.

    Args:
        panel: What is played.
        seed: Which of its panels.
        agent: Makes an agent that is awaited.
        concurrency: Meta-episodes in flight.
        control: Name of the causal control under which it plays; ``none``: as it is.
        path: File of records; its folder must exist.
        stop: Says whether to leave off.

    Returns:
        How many meta-episodes still have no score.

    Raises:
        RecordError: None of those that were played has a score; the message says why.
    """
    entries, before = entries_of(panel, seed), read(panel, seed, path)
    tasks = tuple(Task("policy", e) for e in entries.entries if e.number not in before or not before[e.number].scored)
    owed = itertools.chain(range(len(tasks)), itertools.repeat(None))
    file = LineFile(path)
    try:
        table = Table(entries, control, tasks, lambda _: agent(), lambda: lambda line, _: file.append(line))
        LoopSetup(table, min(concurrency, len(tasks)))()(lambda: next(owed), lambda _: None, stop)
    finally:
        file.close()
    found = read(panel, seed, path)
    scored = {number: record for number, record in found.items() if record.scored}
    failed = next((record for record in found.values() if not record.scored), None)
    if failed and not scored and not stop():
        raise RecordError(f"no meta-episode in {path} has a score: {failed.error}")
    if len(scored) == panel.meta_episodes:
        replace_file(path, (scored[number].line() + b"\n" for number in sorted(scored)))
    return panel.meta_episodes - len(scored)


def report(folder: Path, to: Path) -> RenderableType:
    """Writes the tables, the figure and the manifest of a study.

    Args:
        folder: The study.
        to: Where to; made if it is missing.

    Returns:
        The table for a terminal.
    """
    from benchmarks.study_report import write_report

    return write_report(folder, to)
