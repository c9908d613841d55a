"""Causal controls: what an agent's gain is due to, seen by playing it with its memory taken away or exchanged.

An agent carries a memory from one episode into the next (:mod:`mage_agent.memory`). Under a control it plays the
panel's meta-episodes as ever, but at the boundary of two episodes, after it has reflected, another memory is put in
the place of its own, and it goes on from that. Opponent, deals, seat and the agent's seed stay. What is then missing
from the score is what its memory was worth. docs/controls.md defines each control and says what it tells apart.

Whatever a control draws is a function of the entry alone, so that scheduling changes no result. A *donor* is a
meta-episode that the same agent plays first, unrecorded; its time, its calls and what they cost count as the
meta-episode's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import add
from typing import Any, NamedTuple, TypeAlias, cast

from benchmarks.asking import AgentFailure, Call, failure
from benchmarks.panels import Entry, derive_seed
from benchmarks.records import Record, UsageRecord
from benchmarks.referee import Playing, playing, usage_of
from benchmarks.suites.base import Protocol
from mage_agent.base import Agent, agent_generator
from mage_agent.memory import Memory, MemoryAgent
from mage_envs.errors import UnknownNameError, UnsupportedControlError

NONE = "none"
_DEFAULT = Protocol()
MAX_DONORS = 20
"""So many are tried: where the first win ends a meta-episode, one that is won at once has nothing to give."""


class Boundary(NamedTuple):
    """The moment between two episodes.

    Attributes:
        over: Number of episodes that are over, from 1.
        start: The agent's memory before the first episode.
        own: What it would go on with.
    """

    over: int
    start: Memory
    own: Memory


class Table(NamedTuple):
    """Who plays what.

    Attributes:
        env: The environment of the entry's scenario, with the agent's interface.
        agent: The agent.
        entry: What to play.
        entries: All entries of the scenario.
        protocol: The suite's protocol.
        spent: What the calls of donors came to; appended as they end.
    """

    env: Any
    agent: MemoryAgent
    entry: Entry
    entries: Sequence[Entry]
    protocol: Protocol
    spent: list[UsageRecord]


Exchange: TypeAlias = Callable[[Boundary], Memory]
"""Returns the memory to go on with."""
Prepare: TypeAlias = Callable[[Table], Generator[Call, Any, Exchange]]
"""Plays donors, if there are any: yields their calls."""


def no_memory(_table: Table) -> Generator[Call, Any, Exchange]:
    """Puts back what the agent held before the first episode."""
    yield from ()
    return lambda boundary: boundary.start


def shuffled_reflection(table: Table) -> Generator[Call, Any, Exchange]:
    """Shuffles what the agent carries over: its parts stay, their meaning goes."""
    yield from ()

    def exchange(boundary: Boundary) -> Memory:
        rng = agent_generator(derive_seed("shuffled_reflection", list(table.entry), boundary.over))
        return table.agent.shuffled(boundary.own, rng)

    return exchange


def foreign_reflection(table: Table) -> Generator[Call, Any, Exchange]:
    """Gives what the same agent held at the same boundary against another opponent of the panel."""
    given = yield from _donated(table, foreign_donors(table.entry, table.entries), None)
    return lambda boundary: _of(given, boundary.over)


def transplanted_first_episode(table: Table) -> Generator[Call, Any, Exchange]:
    """Gives, in the place of what was learnt in the first episode, what another first episode taught.

    That one is against the same opponent from the same seat, in other instances; from then on the agent learns itself.
    """
    given = yield from _donated(table, transplant_donors(table.entry), 1)
    return lambda boundary: _of(given, 1) if boundary.over == 1 else boundary.own


_PREPARE: Mapping[str, Prepare] = {
    found.__name__: found for found in (no_memory, shuffled_reflection, foreign_reflection, transplanted_first_episode)
}
CONTROLS = (NONE, *_PREPARE)


def play_under(
    control: str, env: Any, agent: Agent, entry: Entry, entries: Sequence[Entry], protocol: Protocol = _DEFAULT
) -> Playing:
    """Lets an agent play one entry of a panel under a control.

    Args:
        control: Name of the control.
        env: The environment of the entry's scenario, with the agent's interface.
        agent: The agent.
        entry: What to play.
        entries: All entries of the scenario.
        protocol: The suite's protocol.

    Returns:
        The meta-episode in progress, as :func:`benchmarks.referee.playing` gives it: a generator, so that the agents
        of both executors, those that are called and those that are awaited, play under the same control.

    Raises:
        UnknownNameError: There is no such control.
    """
    check_control(control)
    if control == NONE:
        return playing(env, agent, entry, protocol)
    return _controlled(Table(env, cast(MemoryAgent, agent), entry, entries, protocol, []), _PREPARE[control])


def check_control(control: str) -> None:
    """Refuses what is no control.

    Raises:
        UnknownNameError: With near matches.
    """
    if control not in CONTROLS:
        raise UnknownNameError("control", control, CONTROLS)


def why_not(control: str, agent: Agent, entries: Sequence[Entry]) -> str:
    """Says why an agent cannot play a scenario under a control; empty if it can.

    Args:
        control: Name of the control.
        agent: The agent, which has begun a meta-episode of the scenario.
        entries: All entries of the scenario.
    """
    if control == NONE:
        return ""
    memory = getattr(agent, "memory", None)
    if memory is None:
        remedy = ". Give it one: --memory history" if hasattr(agent, "connect") else ""
        return f"it carries no memory from one episode into the next, so {control} has nothing to act on{remedy}"
    if control == foreign_reflection.__name__ and not all(any(foreign_donors(entry, entries)) for entry in entries):
        return f"{control} takes a memory of another opponent, and the panel has one only"
    if control == shuffled_reflection.__name__:
        try:
            cast(MemoryAgent, agent).shuffled(memory, agent_generator(0))
        except UnsupportedControlError as error:
            return str(error)
    return ""


def foreign_donors(entry: Entry, entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yields the entries against another opponent from the same seat, beginning at one that is drawn for the entry.

    Where nobody else plays, they are the entries with another seed.
    """
    first = derive_seed("foreign_reflection", list(entry)) % len(entries)
    for other in (*entries[first:], *entries[:first]):
        same = other.seed == entry.seed if entry.opponent is None else other.opponent == entry.opponent
        if other.seat == entry.seat and not same:
            yield other


def transplant_donors(entry: Entry) -> Iterator[Entry]:
    """Yields meta-episodes against the same opponent from the same seat, with seeds that no panel has."""
    number = 0
    while True:
        yield entry._replace(seed=derive_seed("transplanted_first_episode", list(entry), number))
        number += 1


def _controlled(table: Table, prepare: Prepare) -> Playing:
    """Plays donors and then the entry, and exchanges the memory at every boundary."""
    failed: Exception | None = None
    try:
        exchange = yield from prepare(table)
    except AgentFailure as error:
        failed = error
    meta_episode = playing(table.env, table.agent, table.entry, table.protocol)
    found: Call | Record = next(meta_episode)
    over, start = 0, None
    while isinstance(found, Call):
        try:
            if failed:
                raise failed
            answer = yield found
            if found.method == "begin":
                start = table.agent.memory
            elif found.method == "reflect":
                over += 1
                table.agent.memory = exchange(Boundary(over, start, table.agent.memory))
        except AgentFailure as error:
            found = _advance(meta_episode, error)
        except Exception as error:  # noqa: BLE001 - getting and setting a memory is code of a guest
            found = _advance(meta_episode, failure(error))
        else:
            found = _advance(meta_episode, answer)
    _spend(table, found.usage)
    return found.model_copy(update={"usage": reduce(add, table.spent)}) if table.spent else found


def _donated(table: Table, donors: Iterator[Entry], boundaries: int | None) -> Generator[Call, Any, list[Memory]]:
    """Plays donors until one has a memory to give.

    Args:
        table: Who plays what.
        donors: Candidates, in the order in which they are tried.
        boundaries: At how many boundaries the memory is wanted; None: at all.

    Returns:
        The donor's memory at each boundary; none if all candidates were over before the first.

    Raises:
        AgentFailure: The agent failed in a donor's meta-episode.
    """
    for donor in islice(donors, MAX_DONORS):
        given: list[Memory] = []
        meta_episode = playing(table.env, table.agent, donor, table.protocol)
        found: Call | Record = next(meta_episode)
        while isinstance(found, Call):
            try:
                answer = yield found
                if found.method == "reflect":
                    given.append(_memory(table.agent))
            except AgentFailure as error:
                _spend(table, cast(Record, _advance(meta_episode, error)).usage)
                raise
            if len(given) == boundaries:
                meta_episode.close()
                _spend(table, usage_of(table.agent))
                return given
            found = _advance(meta_episode, answer)
        _spend(table, found.usage)
        if not found.scored:
            raise AgentFailure(f"in the meta-episode that should give its memory: {found.error}")
        if given:
            return given
    return []


def _spend(table: Table, usage: UsageRecord | None) -> None:
    if usage is not None:
        table.spent.append(usage)


def _of(given: Sequence[Memory], boundary: int) -> Memory:
    """Returns a donor's memory at a boundary; at its last one, if it was over by then.

    Raises:
        AgentFailure: There is no donor.
    """
    if not given:
        raise AgentFailure(f"none of {MAX_DONORS} meta-episodes lasted longer than an episode and has a memory to give")
    return given[min(boundary, len(given)) - 1]


def _memory(agent: MemoryAgent) -> Memory:
    """Asks an agent for its memory.

    Raises:
        AgentFailure: Whatever it raised.
    """
    try:
        return agent.memory
    except Exception as error:
        raise failure(error) from error


def _advance(meta_episode: Playing, answer: Any) -> Call | Record:
    """Sends an answer, or throws a failure. Returns the next call, or the record at the end."""
    try:
        return meta_episode.throw(answer) if isinstance(answer, AgentFailure) else meta_episode.send(answer)
    except StopIteration as end:
        record: Record = end.value
        return record
