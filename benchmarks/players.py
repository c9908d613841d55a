"""Workers that play tasks of a plan: agents that answer at once, one meta-episode after the other."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.asking import AgentFailure, Call, close_at_once, trace
from benchmarks.attempt_log import log_from_worker
from benchmarks.calls import CallBook, CallFile
from benchmarks.files import LineFile
from benchmarks.panels import Entry, Panel
from benchmarks.plan import MakeAgent, Task
from benchmarks.pool import Tally, Worker, one_by_one
from benchmarks.records import Record
from benchmarks.referee import Playing, playing
from benchmarks.spending import Meter
from benchmarks.time_limit import TimeLimit
from mage_agent.base import Agent, Briefing

Sink: TypeAlias = Callable[[bytes, bytes], None]
"""Keeps a record's line, and a frame of calls, which may be empty."""

_log = logging.getLogger(__name__)


class FileSink:
    """Keeps records and calls in the files of a run."""

    def __init__(self, records: Path, calls: Path | None) -> None:
        """Opens the files; None: calls are not kept."""
        self._records = LineFile(records)
        self._calls = None if calls is None else CallFile(calls)

    def __call__(self, line: bytes, frame: bytes) -> None:
        """Appends. Calls first: a record that is there has its calls."""
        if self._calls is not None and frame:
            self._calls.append(frame)
        self._records.append(line)


@dataclass(frozen=True)
class Table:
    """What all workers need to play. Pickles.

    Attributes:
        panel: What is played.
        control: Under which causal control.
        tasks: What is owed; workers take their numbers.
        factory: Makes an agent from its name.
        sink: Opens what keeps the results, in the worker.
        time_limit: Wall limit of a meta-episode in seconds.
        calls: Whether calls of models are kept.
        log: File of the attempt's log; None: what a worker logs goes where its process says.
    """

    panel: Panel
    control: str
    tasks: tuple[Task, ...]
    factory: MakeAgent
    sink: Callable[[], Sink]
    time_limit: float | None = None
    calls: bool = False
    log: Path | None = None

    def env(self, scenario: str, interface: str) -> Any:
        """Makes the environment of a scenario."""
        found = next(part.scenario for part in self.panel.suite.parts if part.scenario.name == scenario)
        return self.panel.suite.make_env(found, interface)

    def playing(self, env: Any, agent: Agent, entry: Entry) -> Playing:
        """Starts a meta-episode as the run's control says."""
        if self.control == "none":
            return playing(env, agent, entry, self.panel.suite.protocol)
        from benchmarks.controls import play_under

        entries, protocol = self.panel.by_scenario[entry.scenario], self.panel.suite.protocol
        return play_under(self.control, env, agent, entry, entries, protocol)

    def book(self, task: Task) -> CallBook | None:
        """Returns what collects a task's calls; None if they are not kept."""
        return CallBook(task.key) if self.calls else None


@dataclass(frozen=True)
class PlayerSetup:
    """Makes a worker for agents that answer at once. Pickles."""

    table: Table

    def __call__(self) -> Worker:
        """Opens the files."""
        player = Player(self.table)
        return one_by_one(player, player.close)


class Player:
    """Plays tasks. Agents and environments are made once, when they are first needed."""

    def __init__(self, table: Table) -> None:
        """Opens the files."""
        log_from_worker(table.log)
        self._table, self._sink = table, table.sink()
        self._agents: dict[str, Agent] = {}
        self._envs: dict[tuple[str, str], Any] = {}

    def __call__(self, number: int) -> Tally:
        """Plays a task; its record is on its way to the disk when this returns how it ended."""
        task = self._table.tasks[number]
        name, entry = task
        agent = self._agents.get(name) or self._agents.setdefault(name, self._table.factory(name))
        place = (entry.scenario, agent.interface)
        env = self._envs.get(place) or self._envs.setdefault(place, self._table.env(*place))
        book = self._table.book(task)
        with TimeLimit(self._table.time_limit) as limit:
            record = _answered(self._table.playing(env, agent, entry), limit, book)
        if record.status == "timeout":  # It was interrupted anywhere: nobody knows what state it is in.
            close_at_once(self._agents.pop(name))
        self._sink(record.line(), b"" if book is None else book.frame())
        return Meter().end(record)

    def close(self) -> None:
        """Closes the agents that can be closed."""
        for agent in self._agents.values():
            close_at_once(agent)


def _answered(meta_episode: Playing, limit: TimeLimit, book: CallBook | None) -> Record:
    found = advance(meta_episode)
    while isinstance(found, Call):
        try:
            answer = limit.ask(with_book(found, book))
        except AgentFailure as error:
            log_failure(found, error)
            found = advance(meta_episode, failure=error)
        else:
            found = advance(meta_episode, answer)
    return found


def advance(meta_episode: Playing, answer: Any = None, failure: AgentFailure | None = None) -> Call | Record:
    """Goes on with a meta-episode.

    Args:
        meta_episode: The meta-episode.
        answer: What the agent answered to the last call; None at the start.
        failure: How it failed instead.

    Returns:
        The next call, or the record at the end.
    """
    try:
        return meta_episode.send(answer) if failure is None else meta_episode.throw(failure)
    except StopIteration as end:
        record: Record = end.value
        return record


def with_book(call: Call, book: CallBook | None) -> Call:
    """Gives an agent that begins what keeps its calls."""
    if book is None or not isinstance(call.arguments[0], Briefing):
        return call
    return call._replace(arguments=(replace(call.arguments[0], record_call=book.record),))


def log_failure(call: Call, error: AgentFailure) -> None:
    """Logs how an agent failed, and where in its code."""
    _log.warning("%s, %s: %s%s", call.agent.name, call.method, error, trace(error))
