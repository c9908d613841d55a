"""Records: the JSON line that one meta-episode leaves behind, enough to replay it move by move.

Records hold no time of day and nothing of the machine, so that an interrupted and resumed run leaves the same file as
one that was not.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mage_envs.errors import RecordError
from mage_envs.games.base import Outcome
from mage_envs.scenarios import Interface

FORMAT = 1

Action: TypeAlias = int | str
Status: TypeAlias = Literal["ok", "forfeit", "error", "timeout"]
Refusal: TypeAlias = Literal["empty", "truncated", "ambiguous", "unparsable", "illegal"]
"""Why an answer was not played: every :class:`mage_envs.text.parser.ReplyKind` but ``OK``."""
Refused: TypeAlias = dict[Refusal, Annotated[int, Field(ge=1)]]
"""So many answers that were not played, by the reason; reasons that there were not are left out."""

SCORED: frozenset[Status] = frozenset({"ok", "forfeit"})
UNSCORED: frozenset[Status] = frozenset({"error", "timeout"})

Later = TypeVar("Later")
Number = TypeVar("Number", int, float)
_NONE: Mapping[Refusal, int] = {}


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class EpisodeRecord(_Frozen):
    """One finished episode.

    Attributes:
        instance: Id of the instance.
        sha256: Of the file that the instance is read from. A line of an instance that is made has no such key.
        seat: The agent's seat.
        actions: All that the agent answered in phase ``play``, also what could not be played.
        reward: Its score by the rules, penalties included.
        outcome: ``win``, ``draw`` or ``loss``.
        length: Number of actions that were played.
        invalid: Number of answers that could not be played.
        refused: The same by the reason. A line without such answers has no such key.
        forfeit: Whether such answers lost the episode.
        truncated: Whether a turn limit ended it. A line of an episode that the rules ended has no such key.
        reflection: The free action of phase ``reflect`` that followed; None after the last episode.
    """

    instance: str
    sha256: str = Field(default="", exclude_if=lambda sha256: not sha256)
    seat: int
    actions: tuple[Action, ...]
    reward: float
    outcome: Outcome
    length: int
    invalid: int
    refused: Refused = Field(default_factory=dict, exclude_if=lambda refused: not refused)
    forfeit: bool
    truncated: bool = Field(default=False, exclude_if=lambda truncated: not truncated)
    reflection: Action | None = None


class UsageRecord(_Frozen):
    """What an agent's calls of a model came to; see :class:`mage_agent.base.Usage`, which has the same fields."""

    calls: int = Field(ge=0)
    prompt_tokens: int | None = Field(ge=0)
    completion_tokens: int | None = Field(ge=0)
    cost: float | None = Field(ge=0)
    memory_truncated: int = Field(ge=0)
    prompts: str = Field(pattern="^([0-9a-f]{64})?$")

    def __add__(self, later: UsageRecord) -> UsageRecord:
        """Returns what two stretches of calls came to; its ``prompts`` is the hash of both hashes."""
        return UsageRecord(
            calls=self.calls + later.calls,
            prompt_tokens=_sum(self.prompt_tokens, later.prompt_tokens),
            completion_tokens=_sum(self.completion_tokens, later.completion_tokens),
            cost=_sum(self.cost, later.cost),
            memory_truncated=self.memory_truncated + later.memory_truncated,
            prompts=hashlib.sha256(f"{self.prompts}{later.prompts}".encode()).hexdigest(),
        )


def _sum(one: Number | None, other: Number | None) -> Number | None:
    return None if one is None or other is None else one + other


class EpisodeFigures(NamedTuple):
    """What of an episode goes into numbers; see :class:`EpisodeRecord`."""

    instance: str
    reward: float
    outcome: Outcome
    invalid: int


class Figures(NamedTuple):
    """What of a record goes into numbers: a tenth of its memory; see :class:`Record`."""

    number: int
    status: Status
    opponent: str | None
    episodes: tuple[EpisodeFigures, ...]
    refused: Mapping[Refusal, int] = _NONE
    usage: UsageRecord | None = None

    @property
    def scored(self) -> bool:
        """Whether the meta-episode has a score."""
        return self.status in SCORED


class Key(NamedTuple):
    """What names a record in a run."""

    agent: str
    scenario: str
    number: int


class Record(_Frozen):
    """One meta-episode of one agent.

    Attributes:
        v: Version of the record's format.
        agent: Name of the agent.
        interface: Which interface the agent played: it says what the actions are.
        scenario: Name of the scenario.
        number: Number of the panel's entry in the scenario.
        opponent: Spec of the opponent; None where nobody else plays.
        described: What the opponent says of itself, its parameters included.
        seat: The agent's seat, as the panel's entry says.
        seed: Seed of the environment.
        status: ``ok``; ``forfeit``: finished, but an episode was lost by answers that could not be played;
            ``error``: the agent failed; ``timeout``: it took longer than the run's wall limit. The last two have no
            score.
        episodes: The finished episodes.
        error: What failed, if there is no score.
        usage: What the agent's calls of a model came to. A line of an agent that asks no model has no such key.
    """

    v: Literal[1] = 1
    agent: str
    interface: Interface
    scenario: str
    number: int
    opponent: str | None
    described: str
    seat: int
    seed: int
    status: Status
    episodes: tuple[EpisodeRecord, ...]
    error: str | None = None
    usage: UsageRecord | None = Field(default=None, exclude_if=lambda usage: usage is None)

    @property
    def key(self) -> Key:
        """What names this record in its run."""
        return Key(self.agent, self.scenario, self.number)

    @property
    def scored(self) -> bool:
        """Whether the meta-episode has a score."""
        return self.status in SCORED

    @property
    def refused(self) -> Mapping[Refusal, int]:
        """Answers that were not played, by the reason, over all episodes."""
        if not any(episode.refused for episode in self.episodes):
            return _NONE
        return sum((Counter(episode.refused) for episode in self.episodes), Counter())

    def figures(self) -> Figures:
        """Returns what goes into numbers, without what was done and said."""
        episodes = tuple(EpisodeFigures(e.instance, e.reward, e.outcome, e.invalid) for e in self.episodes)
        opponent = None if self.opponent is None else sys.intern(self.opponent)
        return Figures(self.number, self.status, opponent, episodes, self.refused, self.usage)

    def line(self) -> bytes:
        """Writes the record as one JSON line, without the line end."""
        return self.model_dump_json().encode()


def parse_line(line: bytes, where: str) -> Record:
    """Reads one line of a record file.

    Args:
        line: The line.
        where: File and line number, for the message.

    Returns:
        The record.

    Raises:
        RecordError: The line is no record, or one of a newer format.
    """
    try:
        return Record.model_validate_json(line)
    except ValidationError as error:
        if (version := format_version(line)) > FORMAT:
            raise newer_format(where, version) from error
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "line"
        remedy = "Delete this line and run with --resume to play its meta-episode again; all other lines are kept"
        raise RecordError(f"{where}: damaged record ({place}: {first['msg']}). {remedy}") from error


def iterate_records(path: Path) -> Iterator[Record]:
    """Reads a record file line by line. A last line without its end was cut off by a kill, and is left out.

    Args:
        path: The file; a missing one has no records.

    Yields:
        The records, in the order of the file.

    Raises:
        RecordError: A damaged line, with file and line number. The file is not changed.
    """
    for where, line in _lines(path):
        yield parse_line(line, where)


def good_records(path: Path) -> tuple[list[Record], list[str]]:
    """Reads what can be read of a damaged file.

    Args:
        path: The file; a missing one has no records.

    Returns:
        The records of all good lines, one a meta-episode, and one message for each line that is damaged.
    """
    found: dict[Key, Record] = {}
    damage = []
    for where, line in _lines(path):
        try:
            _collect(found, parse_line(line, where), where)
        except RecordError as error:
            damage.append(str(error))
    return list(found.values()), damage


def collect_records(path: Path) -> dict[Key, Record]:
    """Reads a record file into one record a meta-episode. A repeated meta-episode replaces one without a score.

    Args:
        path: The file.

    Returns:
        The records by key, in the order of the file.

    Raises:
        RecordError: A damaged line, or two different results of one meta-episode.
    """
    found: dict[Key, Record] = {}
    for where, line in _lines(path):
        _collect(found, parse_line(line, where), where)
    return found


class Place(NamedTuple):
    """Where a record stands in its file.

    Attributes:
        start: Its first byte.
        length: Bytes, line end included.
        status: Its status.
        tidy: Whether it is written to the byte as :meth:`Record.line` writes it.
    """

    start: int
    length: int
    status: Status
    tidy: bool


def index_records(path: Path) -> dict[Key, Place]:
    """Reads a record file as :func:`collect_records` does, and keeps only where the records stand: 300 bytes each.

    Args:
        path: The file.

    Returns:
        The places by key, in the order of the file.

    Raises:
        RecordError: A damaged line, or two different results of one meta-episode.
    """
    found: dict[Key, Place] = {}
    start = 0
    for where, line in _lines(path):
        record = parse_line(line, where)
        place = Place(start, len(line), record.status, line == record.line() + b"\n")
        start += len(line)
        key = Key(sys.intern(record.agent), sys.intern(record.scenario), record.number)
        before = found.setdefault(key, place)
        if before is not place and next(read_records(path, [before])) != record:
            found[key] = _later(before.status, place, key, where)
    return found


def read_records(path: Path, places: Iterable[Place]) -> Iterator[Record]:
    """Reads records from where an index says that they stand.

    Raises:
        RecordError: The file cannot be read, or has changed.
    """
    there = iter(places)
    first = next(there, None)
    if first is None:
        return  # There need not be a file.
    try:
        with path.open("rb") as stream:
            for place in chain((first,), there):
                stream.seek(place.start)
                yield parse_line(stream.read(place.length), str(path))
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from error


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yields the whole lines of a file, each with its place for messages."""
    if not path.exists():
        return
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.endswith(b"\n"):
                    yield f"{path}:{number}", line
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from error


def _collect(found: dict[Key, Record], record: Record, where: str) -> None:
    before = found.setdefault(record.key, record)
    if before is record or before == record:
        return
    found[record.key] = _later(before.status, record, record.key, where)


def _later(status: Status, later: Later, key: Key, where: str) -> Later:
    """Returns what stands later in the file, if what stands before it has no score."""
    if status in SCORED:
        raise RecordError(f"{where}: another result of {' / '.join(map(str, key))} stands before it")
    return later


def format_version(content: bytes) -> int:
    """Reads the format's version out of JSON that may be anything; 0 if there is none."""
    try:
        found = json.loads(content)
    except ValueError:
        return 0
    version = found.get("v") if isinstance(found, dict) else None
    return version if isinstance(version, int) else 0


def newer_format(where: str, version: int) -> RecordError:
    """Returns the error for what a newer MAGE wrote."""
    return RecordError(f"{where}: format {version} is newer than this MAGE, which reads up to {FORMAT}: upgrade it")
