"""What of a meta-episode is compared: a score by episode, the total and the gain, or pass@n."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal, NamedTuple, TypeAlias

from benchmarks.records import Record
from benchmarks.suites.base import Protocol
from mage_envs.errors import MageError

Kind: TypeAlias = Literal["score", "pass"]


class Measure(NamedTuple):
    """A number that each scored meta-episode has.

    Attributes:
        name: Such as ``episode 1`` or ``gain``.
        of: Computes it from a record.
    """

    name: str
    of: Callable[[Record], float]


def measures(protocol: Protocol, kind: Kind | None = None) -> list[Measure]:
    """Lists what is compared under a protocol.

    Args:
        protocol: The protocol.
        kind: ``score``: of each episode, in total, and the gain (last minus first). ``pass``: won by episode n
            (pass@n), and the gain of that. None: ``score``, or ``pass`` where the first win ends the meta-episode.

    Returns:
        The measures, the episodes first.

    Raises:
        MageError: Scores are asked for where the first win ends the meta-episode: agents would be compared on
            different episodes.
    """
    if protocol.stop_on_success and kind == "score":
        raise MageError("the first win ends the meta-episode, so scores would be of different episodes: ask for pass")
    numbers = range(protocol.episodes)
    by_pass = kind == "pass" or protocol.stop_on_success
    found = [
        Measure(f"{'pass@' if by_pass else 'episode '}{n + 1}", (_pass if by_pass else _score)(n)) for n in numbers
    ]
    if not by_pass and protocol.episodes > 1:
        found.append(Measure("total", lambda record: sum(episode.reward for episode in record.episodes)))
    if protocol.episodes > 1:
        first, last = found[0].of, found[protocol.episodes - 1].of
        found.append(Measure("gain", lambda record: last(record) - first(record)))
    return found


def cluster_keys(*records: Record) -> set[Hashable]:
    """Returns what makes meta-episodes one cluster: the opponent with the instance of each episode."""
    return {(record.opponent, episode.instance) for record in records for episode in record.episodes}


def _score(number: int) -> Callable[[Record], float]:
    return lambda record: record.episodes[number].reward


def _pass(number: int) -> Callable[[Record], float]:
    return lambda record: float(any(episode.outcome == "win" for episode in record.episodes[: number + 1]))
