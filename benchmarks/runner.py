"""Plays what a plan says into a run directory. Scheduling changes no result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from benchmarks.asynchronous import MAX_CONCURRENCY, LoopSetup
from benchmarks.attempt_log import attempt_log
from benchmarks.plan import Plan, Task
from benchmarks.players import FileSink, PlayerSetup, Table
from benchmarks.pool import Tally, Tick, run_tasks
from benchmarks.records import UNSCORED, Key, Place, Status, iterate_records, read_records
from benchmarks.run_directory import Mode, RunDirectory, open_run
from benchmarks.spending import add_unfinished_cost, unfinished_cost
from benchmarks.stopping import Limits, StoppedEarly, cost_of, most_frequent_error
from mage_envs.errors import RecordError

_log = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[int, int, int], None]
"""Is told how many meta-episodes are done, of how many, and how many of them have no score."""

Executor: TypeAlias = Literal["local", "ray"]


@dataclass(frozen=True)
class Scheduling:
    """How a run is played: nothing of this changes a result, but for limits, which can leave some out.

    Attributes:
        jobs: Worker processes for agents that answer at once. None: one for each processor of the Ray cluster.
        loops: Worker processes for agents that are awaited, each with an event loop; None as above.
        concurrency: Meta-episodes of awaited agents in flight, in all loops together.
        executor: ``"local"``: on this machine; ``"ray"``: on the Ray cluster that is running.
        time_limit: Wall limit of a meta-episode in seconds; None: none.
        retry: Statuses whose meta-episodes a resumed run plays again.
        calls: Whether to keep what agents sent to their models and got back.
        limits: When the run stops early.
    """

    jobs: int | None = 1
    loops: int | None = 1
    concurrency: int = 64
    executor: Executor = "local"
    time_limit: float | None = None
    retry: Collection[Status] = ()
    calls: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Checks ranges.

        Raises:
            ValueError: One is left.
        """
        if not 1 <= self.concurrency <= MAX_CONCURRENCY:
            raise ValueError(f"concurrency must be in 1..{MAX_CONCURRENCY}, got {self.concurrency}")
        if self.time_limit is not None and not 0.0 < self.time_limit < float("inf"):
            raise ValueError(f"the time limit must be more than 0 seconds, got {self.time_limit}")
        if scored := set(self.retry) - UNSCORED:
            raise ValueError(f"only {', '.join(sorted(UNSCORED))} can be played again, got {min(scored)!r}")


def run(
    plan: Plan,
    path: Path,
    progress: Progress,
    *,
    mode: Mode = "new",
    jobs: int = 1,
    how: Scheduling | None = None,
    calls: Callable[[Tally], None] = lambda tally: None,
) -> RunDirectory:
    """Plays what is owed.

    Args:
        plan: What to play.
        path: The run directory.
        progress: Is called now and then.
        mode: ``"new"``, ``"resume"`` or ``"overwrite"``.
        jobs: Number of worker processes, if ``how`` is not given.
        how: Everything about scheduling.
        calls: Is told now and then what the calls of models came to in this attempt.

    Returns:
        The finished run, its records in the order of the plan.

    Raises:
        RecordError: The directory is not what ``mode`` needs, is damaged, or cannot be written.
        StoppedEarly: A limit was reached. What was finished until then is on disk.
        Exception: A bug of an environment or opponent. What was played until then is on disk.
        KeyboardInterrupt: Ctrl-C. What was finished until then is on disk.
    """
    how = how or Scheduling(jobs)
    with open_run(path, plan.manifest, mode) as directory, attempt_log(path) as log:
        tasks = plan.tasks
        index = directory.places()
        _refuse_strangers(directory, index, {task.key for task in tasks})
        owed = tuple(task for task in tasks if task.key not in index or index[task.key].status in how.retry)
        counter = _Counter(progress, calls, len(tasks), len(owed), index, how)
        if how.limits.cost is not None:
            counter.cost = cost_of(iterate_records(directory.records_path))  # What is played again has cost, too.
            counter.cost += unfinished_cost(path)
        _log.info("%d meta-episodes, %d of them owed; %s", len(tasks), len(owed), how)
        begun = time.monotonic()
        try:
            for awaited in (False, True):
                part = tuple(task for task in owed if (task.agent in plan.awaited) == awaited)
                if part:
                    _play(plan, directory, part, how, log, counter.of(part))
            directory.finish(task.key for task in tasks)
        except StoppedEarly as error:
            _log.info("stopped after %.1f s: %s", time.monotonic() - begun, error)
            if error.reason == "errors":
                error.error = _most_frequent_error(directory, {task.key for task in owed})
            raise
        except BaseException as error:
            _log.info("ended by %s after %.1f s", type(error).__name__, time.monotonic() - begun)
            raise
        finally:
            add_unfinished_cost(path, counter.now)
        _log.info("finished in %.1f s", time.monotonic() - begun)
        return directory


def _play(plan: Plan, directory: RunDirectory, tasks: tuple[Task, ...], how: Scheduling, log: Path, tick: Tick) -> None:
    """Plays tasks of agents that are all awaited, or all answer at once."""
    awaited = tasks[0].agent in plan.awaited
    sink = partial(FileSink, directory.records_path, directory.calls_path if how.calls else None)
    table = Table(plan.panel, plan.manifest.config.control, tasks, plan.factory, sink, how.time_limit, how.calls, log)

    def setup(jobs: int) -> PlayerSetup | LoopSetup:
        return LoopSetup(table, -(-how.concurrency // jobs)) if awaited else PlayerSetup(table)

    jobs = how.loops if awaited else how.jobs
    if how.executor == "ray":
        from benchmarks.ray_executor import ray_cluster, run_on_ray

        with ray_cluster() as cpus:
            run_on_ray(setup(jobs or cpus), len(tasks), jobs or cpus, tick)
    else:
        run_tasks(setup(jobs or 1), len(tasks), jobs or 1, tick)


def _most_frequent_error(directory: RunDirectory, owed: Collection[Key]) -> str:
    """Returns the most frequent error among what was played in this attempt."""
    bad = [place for key, place in directory.places().items() if place.status in UNSCORED and key in owed]
    return most_frequent_error(read_records(directory.records_path, bad))


def _refuse_strangers(directory: RunDirectory, index: dict[Key, Place], wanted: Collection[Key]) -> None:
    if strange := index.keys() - wanted:
        name = " / ".join(map(str, min(strange)))
        raise RecordError(f"{directory.records_path} has a record of {name}, which is no part of this run")


class _Counter:
    """Adds up what was done before, in the parts before, and in this part.

    Attributes:
        cost: What was spent before, in US dollars.
        now: How far this attempt is.
    """

    def __init__(
        self,
        progress: Progress,
        calls: Callable[[Tally], None],
        total: int,
        owed: int,
        index: dict[Key, Place],
        how: Scheduling,
    ) -> None:
        self._progress, self._calls, self._total, self._done = progress, calls, total, total - owed
        self.now = Tally()
        self._bad = sum(place.status in UNSCORED and place.status not in how.retry for place in index.values())
        self._limits = how.limits
        self.cost = 0.0
        self._progress(self._done, total, self._bad)

    def of(self, part: tuple[Task, ...]) -> Tick:
        """Returns what is told of the progress of a part.

        Raises:
            StoppedEarly: So much was spent before that nothing more may be.
        """
        before, earlier, count = self._done, self.now, len(part)
        self._limits.check(Tally(), count, self.cost)

        def tick(tally: Tally) -> None:
            self._done = before + tally.done
            self._progress(self._done, self._total, self._bad + tally.bad)
            self.now = earlier.plus(tally)
            self._calls(self.now)
            self._limits.check(tally, count, self.cost + tally.cost)
            if tally.done == count:
                self._bad += tally.bad
                self.cost += tally.cost

        return tick
