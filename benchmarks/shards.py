"""Shards: a panel played in parts, each on a machine of its own, and joined to the run that one machine would leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.calls import CallFile, read_frames
from benchmarks.files import replace_file
from benchmarks.plan import Plan
from benchmarks.records import Key, Place, read_records
from benchmarks.run_directory import RunDirectory, config_difference, load_run, open_run
from mage_envs.errors import RecordError


class Joined(NamedTuple):
    """What joining runs gave.

    Attributes:
        run: The run.
        missing: What no part has, in the order of the panel.
        notes: What differs between the parts without changing a result.
    """

    run: RunDirectory
    missing: tuple[Key, ...]
    notes: tuple[str, ...]


def take_shard(plan: Plan, number: int, count: int) -> Plan:
    """Returns the plan of one part.

    Args:
        plan: The whole.
        number: Which part, from 1.
        count: Of how many. Task k of the whole belongs to part k mod count + 1, so that all parts take about as long.

    Raises:
        ValueError: ``number`` is not in 1..``count``.
    """
    if not 1 <= number <= count:
        raise ValueError(f"a shard is K/N with 1 <= K <= N, got {number}/{count}")
    return replace(plan, manifest=plan.manifest.model_copy(update={"shard": (number, count)}))


def join_runs(out: Path, parts: Sequence[Path], whole: Sequence[Key]) -> Joined:
    """Joins runs of one configuration into a new run directory.

    Args:
        out: The new folder.
        parts: The runs, which need not be finished. They are left as they are.
        whole: Keys of all meta-episodes of the configuration, in the order of the plan.

    Returns:
        The run that was written; with nothing missing it is the one that a single machine would have left.

    Raises:
        RecordError: The configurations differ, a meta-episode is recorded differently in two parts, or files are
            damaged or cannot be written. ``out`` then has no records.
    """
    runs = [load_run(path) for path in parts]
    first = runs[0]
    for other in runs[1:]:
        if difference := config_difference(first.manifest, other.manifest):
            raise RecordError(f"{first.path} and {other.path} are runs of different configurations: {difference}")
    found = _places(runs, frozenset(whole))
    with open_run(out, first.manifest.model_copy(update={"shard": None}), "new") as run:
        if any(part.calls_path.exists() for part in runs):
            calls = CallFile(run.calls_path)
            for part in runs:
                for frame in read_frames(part.calls_path):
                    calls.append(frame)
            calls.close()
        replace_file(run.records_path, _lines(runs, (found[key] for key in whole if key in found)))
    return Joined(run, tuple(key for key in whole if key not in found), tuple(_notes(runs)))


class _Found(NamedTuple):
    """In which part a record is, and where."""

    part: int
    place: Place


def _places(runs: Sequence[RunDirectory], wanted: frozenset[Key]) -> dict[Key, _Found]:
    found: dict[Key, _Found] = {}
    for number, run in enumerate(runs):
        for key, place in run.places().items():
            name = " / ".join(map(str, key))
            if key not in wanted:
                raise RecordError(f"{run.records_path} has a record of {name}, which is no part of this run")
            here = _Found(number, place)
            before = found.setdefault(key, here)
            if before is not here and len({*_lines(runs, (before, here))}) > 1:
                there = runs[before.part].path
                raise RecordError(
                    f"{there} and {run.path} have different results of {name}. One of them is wrong, or the agent is "
                    "not the same function of its seed in both: leave one of the runs out"
                )
    return found


def _lines(runs: Sequence[RunDirectory], places: Iterator[_Found] | Sequence[_Found]) -> Iterator[bytes]:
    for part, place in places:
        for record in read_records(runs[part].records_path, (place,)):
            yield record.line() + b"\n"


def _notes(runs: Sequence[RunDirectory]) -> Iterator[str]:
    """Says what differs between the manifests of parts, besides the shard."""
    for name in ("commit", "host"):
        values = {str(getattr(run.manifest, name)) for run in runs}
        if len(values) > 1:
            yield f"the parts differ in {name}; the manifest has that of {runs[0].path}"
