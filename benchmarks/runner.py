"""Plays what a plan says into a run directory. Scheduling changes no result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.files import LineFile
from benchmarks.panels import Entry, Panel
from benchmarks.plan import MakeAgent, Plan, Task
from benchmarks.pool import Work, run_tasks
from benchmarks.referee import Playing, answered_at_once, playing
from benchmarks.run_directory import Mode, RunDirectory, open_run
from mage_agent.base import Agent
from mage_envs.errors import RecordError

Progress: TypeAlias = Callable[[int, int, int], None]
"""Is told how many meta-episodes are done, of how many, and how many of them ended in an error."""


def run(plan: Plan, path: Path, progress: Progress, *, mode: Mode = "new", jobs: int = 1) -> RunDirectory:
    """Plays what is owed.

    Args:
        plan: What to play.
        path: The run directory.
        progress: Is called now and then.
        mode: ``"new"``, ``"resume"`` or ``"overwrite"``.
        jobs: Number of worker processes.

    Returns:
        The finished run, its records in the order of the plan.

    Raises:
        RecordError: The directory is not what ``mode`` needs, is damaged, or cannot be written.
        Exception: A bug of an environment or opponent. What was played until then is on disk.
    """
    with open_run(path, plan.manifest, mode) as directory:
        tasks = plan.tasks
        there = {key: record.scored for key, record in directory.records().items()}
        if strange := there.keys() - {task.key for task in tasks}:
            name = " / ".join(map(str, min(strange)))
            raise RecordError(f"{directory.records_path} has a record of {name}, which is no part of this run")
        owed = tuple(task for task in tasks if task.key not in there)
        done_before, bad_before = len(tasks) - len(owed), list(there.values()).count(False)

        def report(done: int, bad: int) -> None:
            progress(done_before + done, len(tasks), bad_before + bad)

        report(0, 0)
        control = plan.manifest.config.control
        setup = PlayerSetup(plan.panel, control, owed, directory.records_path, plan.factory)
        run_tasks(setup, len(owed), jobs, report)
        directory.finish(task.key for task in tasks)
        return directory


@dataclass(frozen=True)
class PlayerSetup:
    """Makes a worker that plays tasks and appends their records. Pickles."""

    panel: Panel
    control: str
    tasks: tuple[Task, ...]
    records: Path
    factory: MakeAgent

    def __call__(self) -> Work:
        """Opens the record file."""
        return Player(self)


class Player:
    """A worker. Agents and environments are made once, when they are first needed."""

    def __init__(self, setup: PlayerSetup) -> None:
        """Opens the record file."""
        self.setup = setup
        self._file = LineFile(setup.records)
        self._scenarios = {part.scenario.name: part.scenario for part in setup.panel.suite.parts}
        self._agents: dict[str, Agent] = {}
        self._envs: dict[tuple[str, str], Any] = {}

    def __call__(self, number: int) -> bool:
        """Plays a task; its record is on its way to the disk when this returns whether it has a score."""
        name, entry = self.setup.tasks[number]
        agent = self._agents.get(name) or self._agents.setdefault(name, self.setup.factory(name))
        record = answered_at_once(self._playing(self._env(entry.scenario, agent.interface), agent, entry))
        self._file.append(record.line())
        return record.scored

    def _playing(self, env: Any, agent: Agent, entry: Entry) -> Playing:
        """Starts a meta-episode as the run's control says: a generator, so that agents can be awaited."""
        control = self.setup.control
        if control == "none":
            return playing(env, agent, entry)
        from benchmarks.controls import play_under

        return play_under(control, env, agent, entry, self.setup.panel.by_scenario[entry.scenario])

    def _env(self, scenario: str, interface: str) -> Any:
        key = (scenario, interface)
        if key not in self._envs:
            self._envs[key] = self.setup.panel.suite.make_env(self._scenarios[scenario], interface)
        return self._envs[key]
