"""The run directory: ``manifest.json`` says what is played, ``meta_episodes.jsonl`` has a record a meta-episode.

The manifest is written first, in one step; records are appended; when all are there they are sorted into the order of
the panel, in one step. So a run can be killed at any moment and resumed to the same two files. Beside them may be
``calls.jsonl.zst`` and ``logs/``, which no result depends on.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from benchmarks.attempt_log import LOGS
from benchmarks.calls import CALLS
from benchmarks.configurations import differences
from benchmarks.files import replace_file
from benchmarks.panels import canonical_json
from benchmarks.records import (
    FORMAT,
    Key,
    Place,
    Record,
    collect_records,
    format_version,
    index_records,
    newer_format,
    read_records,
)
from mage_envs.errors import RecordError, VerificationError

MANIFEST = "manifest.json"
RECORDS = "meta_episodes.jsonl"
_LOCK = ".run.lock"

Mode: TypeAlias = Literal["new", "resume", "overwrite"]


class AgentCard(BaseModel):
    """What a board says of an agent.

    Attributes:
        name: Its spec, with every parameter.
        oracle: Whether it plays a computed ceiling.
        interface: ``"array"`` or ``"text"``.
        model: Name of the model; empty for scripted agents.
        revision: Revision of the model.
        memory: Memory that it is given between episodes, as the protocol says.
        prompt_hash: SHA-256 of its prompt templates; empty if it has none.
        sampling: How its model is sampled: temperature, limit of tokens, and the like.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    oracle: bool
    interface: Literal["array", "text"]
    model: str = ""
    revision: str = ""
    memory: str = "none"
    prompt_hash: str = ""
    sampling: dict[str, JsonValue] = {}


class Config(BaseModel):
    """What decides the records of a run: a resumed run must have the same.

    Attributes:
        suite: Name of the suite.
        version: Its version.
        panel: Hash of the panel.
        seed: Seed of the panel.
        meta_episodes: Meta-episodes of each scenario; None: as the suite says.
        agents: Who plays.
        plays: Scenario to the names of the agents that play it.
        control: Name of the causal control under which they play; ``none``: as they are.
        legal_actions_in_prompt: Whether prompted agents are shown the list of legal actions; None: as the suite says.
        packages: Versions of the packages that compute results.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    suite: str
    version: int
    panel: str
    seed: int
    meta_episodes: int | None
    agents: tuple[AgentCard, ...]
    plays: dict[str, tuple[str, ...]]
    control: str = "none"
    legal_actions_in_prompt: bool | None = Field(default=None, exclude_if=lambda value: value is None)
    packages: dict[str, str]

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON."""
        return hashlib.sha256(canonical_json(self.model_dump(mode="json")).encode()).hexdigest()


class Manifest(BaseModel):
    """What ``manifest.json`` holds.

    Attributes:
        v: Version of the manifest's format.
        config: What decides the records.
        digest: Digest of the config.
        unsupported: Agent to scenario to why it does not play there.
        commit: Commit of the checkout that the code came from; empty outside one, with ``+`` if it was changed.
        host: Facts of the machine that started the run.
        shard: Which part of the tasks is played here, as K and N: number K of N, from 1. None: all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    v: Literal[1] = 1
    config: Config
    digest: str
    unsupported: dict[str, dict[str, str]]
    commit: str
    host: dict[str, str]
    shard: tuple[int, int] | None = None

    @property
    def reasons(self) -> list[str]:
        """Says which agents do not play where, and why: each reason once."""
        places: dict[tuple[str, str], list[str]] = {}
        for agent, found in self.unsupported.items():
            for scenario, reason in found.items():
                places.setdefault((agent, reason), []).append(scenario)
        return [f"{agent} cannot play {', '.join(found)}: {reason}" for (agent, reason), found in places.items()]


class RunDirectory(NamedTuple):
    """A run on disk.

    Attributes:
        path: The folder.
        manifest: Its manifest.
    """

    path: Path
    manifest: Manifest

    @property
    def records_path(self) -> Path:
        """The file of records."""
        return self.path / RECORDS

    def records(self) -> dict[Key, Record]:
        """Reads all records by key.

        Raises:
            RecordError: A damaged line, named.
        """
        return collect_records(self.records_path)

    @property
    def calls_path(self) -> Path:
        """The file of calls, which need not be there."""
        return self.path / CALLS

    def places(self) -> dict[Key, Place]:
        """Reads where the records stand.

        Raises:
            RecordError: A damaged line, named.
        """
        return index_records(self.records_path)

    def stream(self) -> RecordStream:
        """Returns the records as a collection that reads them anew, one at a time, whenever it is gone through."""
        return RecordStream(self.records_path, self.places())

    def check_digest(self) -> None:
        """Sees whether the manifest is as it was written.

        Raises:
            VerificationError: It is not.
        """
        if self.manifest.digest != self.manifest.config.digest:
            raise VerificationError(f"{self.path}: the manifest was changed: its digest does not fit its config")

    def finish(self, order: Iterable[Key]) -> None:
        """Sorts the records into an order, in one step.

        Args:
            order: The keys of all records.
        """
        index = self.places()
        places = [index[key] for key in order]
        size = self.records_path.stat().st_size if places else 0
        if _in_order(places, size):
            return
        records = read_records(self.records_path, places)
        replace_file(self.records_path, (record.line() + b"\n" for record in records))


class RecordStream(Collection[Record]):
    """The records of a file, read one at a time."""

    def __init__(self, path: Path, index: dict[Key, Place]) -> None:
        """Takes the file and its index."""
        self._path, self._index = path, index

    def __iter__(self) -> Iterator[Record]:
        """Reads them in the order of the file."""
        return read_records(self._path, self._index.values())

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self._index)

    def __contains__(self, record: object) -> bool:
        """Whether a record is there."""
        return any(record == found for found in self)


def _in_order(places: Iterable[Place], size: int) -> bool:
    """Whether places are tidy, one after the other, and the whole file."""
    end = 0
    for place in places:
        if place.start != end or not place.tidy:
            return False
        end += place.length
    return end == size


def load_run(path: Path) -> RunDirectory:
    """Opens a run for reading.

    Raises:
        RecordError: There is no run, or its manifest is damaged or of a newer format.
        VerificationError: The manifest was changed.
    """
    run = RunDirectory(path, _read_manifest(path / MANIFEST))
    run.check_digest()
    return run


@contextmanager
def open_run(path: Path, manifest: Manifest, mode: Mode) -> Iterator[RunDirectory]:
    """Opens a run for writing, locked against other processes.

    Args:
        path: The folder; it is made if it is missing.
        manifest: What shall be played.
        mode: ``"new"`` takes an empty folder, ``"resume"`` goes on with the same run, ``"overwrite"`` deletes a run.

    Yields:
        The run.

    Raises:
        RecordError: The folder is not what ``mode`` needs, or cannot be written, or another process works in it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"cannot make the folder {path}: {error.strerror}") from error
    lock = FileLock(path / _LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise RecordError(f"another process is running in {path}: wait for it, or choose another --out") from error
    except OSError as error:
        raise RecordError(f"cannot write in {path}: {error.strerror}") from error
    try:
        yield _prepare(path, manifest, mode)
    finally:
        lock.release()


def check_target(path: Path, manifest: Manifest, mode: Mode) -> None:
    """Sees whether a run can be opened for writing, and changes nothing.

    Args:
        path: The folder, which need not be there.
        manifest: What shall be played. What is not known yet of a model is no difference.
        mode: See :func:`open_run`.

    Raises:
        RecordError: The folder is not what ``mode`` needs.
    """
    present = _present(path) if path.is_dir() else set()
    foreign = sorted(present - {MANIFEST, RECORDS, CALLS, LOGS})
    if foreign and MANIFEST not in present:
        raise RecordError(f"{path} is no run directory, it holds {foreign[0]!r}: choose another --out")
    if mode == "new" and present:
        raise RecordError(f"{path} is not empty: add --resume or --overwrite, or choose another --out")
    if mode == "overwrite":
        return
    if MANIFEST in present:
        _refuse_other_config(path, _read_manifest(path / MANIFEST), manifest)
    elif present & {RECORDS, CALLS, LOGS}:
        raise RecordError(f"{path} has files of a run but no {MANIFEST}: put it back, or choose another --out")


def _prepare(path: Path, manifest: Manifest, mode: Mode) -> RunDirectory:
    check_target(path, manifest, mode)
    if mode == "overwrite":
        for name in (LOGS, CALLS, RECORDS, MANIFEST):  # In this order: records without a manifest would be nobody's.
            _delete(path / name)
    elif MANIFEST in _present(path):
        return load_run(path)
    replace_file(path / MANIFEST, (manifest.model_dump_json(indent=2) + "\n").encode())
    return RunDirectory(path, manifest)


def _present(path: Path) -> set[str]:
    return {entry.name for entry in path.iterdir() if not entry.name.startswith(".")}


def _delete(path: Path) -> None:
    try:
        if path.name == LOGS and path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise RecordError(f"cannot delete {path}: {error.strerror}") from error


def _refuse_other_config(path: Path, found: Manifest, wanted: Manifest) -> None:
    if found.shard != wanted.shard:
        there, now = (f"shard {s[0]}/{s[1]}" if s else "the whole panel" for s in (found.shard, wanted.shard))
        raise RecordError(f"{path} is the run of {there}, and not of {now}. Choose another --out")
    if difference := config_difference(found, wanted):
        raise RecordError(f"{path} is a run of another configuration; what differs: {difference}. Choose another --out")


def config_difference(there: Manifest, now: Manifest) -> str:
    """Names what differs between two configurations, with the values of what is short; empty if nothing does."""
    return differences(there.config.model_dump(mode="json"), now.config.model_dump(mode="json"))


def _read_manifest(path: Path) -> Manifest:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path.parent} is no run directory: cannot read {path.name} ({error.strerror})") from error
    try:
        return Manifest.model_validate_json(content)
    except ValidationError as error:
        if (version := format_version(content)) > FORMAT:
            raise newer_format(str(path), version) from error
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise RecordError(f"{path} is damaged ({place}: {first['msg']})") from error
