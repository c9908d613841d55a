"""Verifies a run: every recorded action is played again, and every recorded result must come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from benchmarks.panels import Entry, Panel, make_panel
from benchmarks.plan import planned
from benchmarks.pool import DONE, Tally, Worker, one_by_one, run_tasks
from benchmarks.records import Action, EpisodeRecord, Place, Record, read_records
from benchmarks.referee import describe_opponent, drive, start
from benchmarks.run_directory import Config, RunDirectory
from benchmarks.suites import SUITES, Suite
from benchmarks.suites.base import interface_in
from mage_envs.errors import VerificationError

Progress: TypeAlias = Callable[[int, int], None]


def rebuild_panel(config: Config) -> Panel:
    """Builds the panel that a run was made on.

    Raises:
        UnknownNameError: There is no such suite.
        VerificationError: The suite or its populations are not what they were when the run was made.
    """
    suite = SUITES.get(config.suite).under(legal_actions_in_prompt=config.legal_actions_in_prompt)
    panel = make_panel(suite, config.seed, config.meta_episodes)
    if (suite.version, panel.hash) != (config.version, config.panel):
        raise VerificationError(
            f"the run is of suite {config.suite!r} version {config.version}, panel {config.panel[:12]}; here it is "
            f"version {suite.version}, panel {panel.hash[:12]}. Use the MAGE that made the run"
        )
    return panel


def verify(run: RunDirectory, panel: Panel, *, jobs: int, progress: Progress) -> int:
    """Replays all records of a run.

    Args:
        run: The run.
        panel: Its panel.
        jobs: Number of worker processes.
        progress: Is told now and then how many records are done, of how many.

    Returns:
        Number of records that were replayed.

    Raises:
        VerificationError: A record differs from what the environment says; the message names it and the difference.
        RecordError: The record file is damaged.
    """
    run.check_digest()
    places = tuple(run.places().values())
    interfaces = _interfaces(panel, run.manifest.config)
    for record in read_records(run.records_path, places):
        _check_planned(record, panel, interfaces)
    count = len(places)
    setup = VerifierSetup(panel.suite, run.records_path, places)
    run_tasks(setup, count, jobs, lambda tally: progress(tally.done, count))
    return count


@dataclass(frozen=True)
class VerifierSetup:
    """Makes a worker that replays records. Pickles."""

    suite: Suite
    path: Path
    places: Sequence[Place]

    def __call__(self) -> Worker:
        """Makes the worker; environments are made when they are first needed."""
        scenarios = {part.scenario.name: part.scenario for part in self.suite.parts}
        envs: dict[tuple[str, str], Any] = {}

        def work(number: int) -> Tally:
            (record,) = read_records(self.path, self.places[number : number + 1])
            key = (record.scenario, record.interface)
            if key not in envs:
                envs[key] = self.suite.make_env(scenarios[record.scenario], record.interface)
            replay(envs[key], record)
            return DONE

        return one_by_one(work)


def replay(env: Any, record: Record) -> None:
    """Plays a record again.

    Args:
        env: The environment of the record's scenario, with the record's interface.
        record: The record. Of one without a score the finished episodes are played.

    Raises:
        VerificationError: Something else comes out than is recorded.
    """
    described = describe_opponent(env, record.opponent)
    if described != record.described:
        _differ(record, f"the opponent is described as {record.described!r}, here as {described!r}")
    answers = _Answers(record)
    entry = Entry(record.scenario, record.number, record.opponent, record.seat, record.seed)
    finished: list[EpisodeRecord] = []
    try:
        drive(env, start(env, entry), answers, finished)
    except _OutOfAnswersError:
        if record.scored:
            _differ(record, "it ends before the meta-episode does")
    except ValueError as error:
        raise VerificationError(f"{_name(record)}: cannot be replayed: {error}") from error
    else:
        if answers.left:
            _differ(record, "it goes on after the meta-episode has ended")
        if not record.scored:
            _differ(record, f"status {record.status!r}, but the meta-episode was played to its end")
    _compare(record, finished)


def missing(run: RunDirectory, panel: Panel) -> int:
    """Returns how many meta-episodes of a run are not played yet."""
    return sum(1 for _ in planned(run.manifest.config, panel)) - len(run.places())


class _OutOfAnswersError(Exception):
    """The record holds no further answer."""


class _Answers:
    """Answers what was answered, in order."""

    def __init__(self, record: Record) -> None:
        self.left: list[Action] = []
        for episode in record.episodes:
            self.left += episode.actions
            self.left += [] if episode.reflection is None else [episode.reflection]
        self.left.reverse()

    def __call__(self, observation: Any, info: Mapping[str, Any]) -> Action:
        if not self.left:
            raise _OutOfAnswersError
        return self.left.pop()


def _compare(record: Record, finished: Sequence[EpisodeRecord]) -> None:
    if len(finished) < len(record.episodes):
        _differ(record, f"{len(record.episodes)} episodes recorded, {len(finished)} replayed")
    for number, (old, new) in enumerate(zip(record.episodes, finished, strict=False), start=1):
        for name in EpisodeRecord.model_fields:
            if getattr(old, name) != getattr(new, name):
                _differ(
                    record, f"episode {number}: {name} {getattr(old, name)!r} recorded, {getattr(new, name)!r} replayed"
                )
    forfeit = any(episode.forfeit for episode in finished)
    if record.scored and record.status != ("forfeit" if forfeit else "ok"):
        _differ(record, f"status {record.status!r} does not fit its episodes")


def _interfaces(panel: Panel, config: Config) -> dict[tuple[str, str], str]:
    """Returns by which interface each agent plays each of its scenarios: what is planned, and nothing else."""
    cards = {card.name: card for card in config.agents}
    return {
        (agent, part.scenario.name): interface_in(part.scenario, cards[agent].interface)
        for part in panel.suite.parts
        for agent in config.plays.get(part.scenario.name, ())
        if agent in cards
    }


def _check_planned(record: Record, panel: Panel, interfaces: Mapping[tuple[str, str], str]) -> None:
    entries = panel.by_scenario.get(record.scenario, ())
    interface = interfaces.get((record.agent, record.scenario))
    if interface is None or record.number not in range(len(entries)):
        _differ(record, "the run's plan has no such meta-episode")
    if record.interface != interface:
        _differ(record, f"interface {record.interface!r} recorded, {interface!r} in the manifest")
    if record.scored != (record.error is None):
        _differ(record, f"status {record.status!r} does not fit error {record.error!r}")
    entry = entries[record.number]
    for name in ("opponent", "seat", "seed"):
        if getattr(record, name) != getattr(entry, name):
            _differ(record, f"{name} {getattr(record, name)!r} recorded, {getattr(entry, name)!r} in the panel")


def _differ(record: Record, what: str) -> NoReturn:
    raise VerificationError(f"{_name(record)}: {what}")


def _name(record: Record) -> str:
    return f"{record.agent} / {record.scenario} / number {record.number}"
