"""The referee: runs one meta-episode between an environment and whoever answers, and writes everything down.

Playing and replaying are one loop, :func:`decisions`, a generator that hands out questions and is sent the answers: by
an agent at once, by an agent that is awaited, by the record of an earlier play, or by a person.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from copy import deepcopy
from typing import Any, TypeAlias

from pydantic import ValidationError

from benchmarks.asking import AgentFailure, Call, as_action, ask
from benchmarks.panels import Entry
from benchmarks.records import Action, EpisodeRecord, Record, Status, UsageRecord
from benchmarks.suites.base import Protocol
from mage_agent.base import Agent, Briefing, Usage
from mage_agent.briefing import brief
from mage_envs.opponents import make_opponent
from mage_envs.scenarios import Interface

Decide: TypeAlias = Callable[[Any, Mapping[str, Any]], Action]
Start: TypeAlias = tuple[Any, dict[str, Any]]
_DEFAULT = Protocol()
Decisions: TypeAlias = Generator[Start, Action, Any]
Playing: TypeAlias = Generator[Call, Any, Record]
"""A meta-episode in progress: yields calls of agents, is sent their answers (or thrown an AgentFailure), returns the
record. The environment steps inside ``send``."""


def start(env: Any, entry: Entry) -> Start:
    """Resets an environment to the start of a panel's entry. Returns the first observation and info."""
    options: dict[str, Any] = {}
    if entry.opponent is not None:
        options = {"opponent": entry.opponent, "seat": entry.seat}
    observation, info = env.reset(seed=entry.seed, options=options)
    return observation, info


def decisions(env: Any, first: Start, finished: list[EpisodeRecord]) -> Decisions:
    """Runs a meta-episode to its end.

    Args:
        env: The environment, started.
        first: What :func:`start` returned.
        finished: Every finished episode is appended here, so that they outlive an exception.

    Yields:
        Observation and info, without what is privileged, in both phases; wants the answer.

    Returns:
        The last observation, which nobody was asked about.
    """
    observation, info = first
    over = False
    while not over:
        secret = info.pop("privileged")
        instance, sha256 = str(secret["instance"]), dict(secret.get("known", ())).get("sha256", "")
        answers: list[Action] = []
        while "episode_result" not in info:
            answers.append((yield observation, info))
            observation, _, terminated, truncated, info = env.step(answers[-1])
            info.pop("privileged")
            over = terminated or truncated
        seat, result = info["seat"], deepcopy(info["episode_result"])  # Before the agent gets its hands on them.
        reflection = None if over else (yield observation, info)
        finished.append(
            EpisodeRecord(
                instance=instance, sha256=sha256, seat=seat, actions=tuple(answers), reflection=reflection, **result
            )
        )
        if not over:
            observation, _, terminated, truncated, info = env.step(reflection)
            over = terminated or truncated
    return observation


def drive(env: Any, first: Start, decide: Decide, finished: list[EpisodeRecord]) -> Any:
    """Runs a meta-episode to its end with answers that are there at once.

    Args:
        env: The environment, started.
        first: What :func:`start` returned.
        decide: Answers in both phases. It is never shown what is privileged.
        finished: Every finished episode is appended here, so that they outlive an exception.

    Returns:
        The last observation, which nobody was asked about.
    """
    asking = decisions(env, first, finished)
    try:
        question = next(asking)
        while True:
            question = asking.send(decide(*question))
    except StopIteration as end:
        return end.value


def playing(env: Any, agent: Agent, entry: Entry, protocol: Protocol = _DEFAULT) -> Playing:
    """Lets an agent play one entry of a panel.

    Args:
        env: The environment of the entry's scenario, with the agent's interface.
        agent: The agent.
        entry: What to play.
        protocol: The suite's protocol; of it the agent is told what is not the environment's business.

    Yields:
        What the agent is asked; wants its answer. An :class:`AgentFailure` that is thrown in ends the meta-episode.

    Returns:
        The record, with the status of the failure, if there was one. A failure of the environment or the opponent
        raises.
    """
    finished: list[EpisodeRecord] = []
    status: Status = "ok"
    failure = usage = None
    begun = False
    interface: Interface = env.unwrapped.interface
    first = start(env, entry)
    try:
        yield Call(agent, "begin", (briefing(env, entry, first[1], oracle=agent.oracle, protocol=protocol),))
        begun = True
        yield from _answered(agent, decisions(env, first, finished), interface)
        if any(episode.forfeit for episode in finished):
            status = "forfeit"
    except AgentFailure as error:
        status, failure = error.status, str(error)
    try:
        usage = usage_of(agent) if begun else None  # What it would say is of the meta-episode before.
    except AgentFailure as error:
        if failure is None:
            status, failure = error.status, str(error)
    return Record(
        agent=agent.name,
        interface=interface,
        scenario=entry.scenario,
        number=entry.number,
        opponent=entry.opponent,
        described=describe_opponent(env, entry.opponent),
        seat=entry.seat,
        seed=entry.seed,
        status=status,
        episodes=tuple(finished),
        error=failure,
        usage=usage,
    )


def usage_of(agent: Agent) -> UsageRecord | None:
    """Asks an agent what its calls of a model came to; None if it calls none.

    Raises:
        AgentFailure: It failed, or says what cannot be.
    """
    if not hasattr(agent, "usage"):
        return None
    found = ask(Call(agent, "usage", ()), tries=1)
    if not isinstance(found, Usage):
        raise AgentFailure(f"the agent's usage is {type(found).__name__}, not mage_agent.base.Usage")
    try:
        return UsageRecord.model_validate(found._asdict())
    except ValidationError as error:
        first = error.errors()[0]
        raise AgentFailure(f"the agent's usage is bad ({first['loc'][0]}: {first['msg']})") from error


def play(env: Any, agent: Agent, entry: Entry) -> Record:
    """Plays one entry of a panel with an agent that answers at once; see :func:`playing`."""
    return answered_at_once(playing(env, agent, entry))


def answered_at_once(meta_episode: Playing) -> Record:
    """Runs a meta-episode to its end, its agents answering at once. Returns the record."""
    try:
        call = next(meta_episode)
        while True:
            try:
                answer = ask(call)
            except AgentFailure as error:
                call = meta_episode.throw(error)
            else:
                call = meta_episode.send(answer)
    except StopIteration as end:
        record: Record = end.value
        return record


def _answered(agent: Agent, asking: Decisions, interface: Interface) -> Generator[Call, Any, None]:
    """Turns questions into calls of an agent, and its answers into actions."""
    nothing: Action = "" if interface == "text" else 0
    try:
        observation, info = next(asking)
        while True:
            if info["phase"] == "reflect":
                action = as_action((yield Call(agent, "reflect", (observation, info))), interface)
            elif info["view"].terminal:  # The others ended the episode before the agent had a move.
                action = nothing
            else:
                action = as_action((yield Call(agent, "act", (observation, info))), interface)
            observation, info = asking.send(action)
    except StopIteration as over:
        last = over.value
    if hasattr(agent, "end"):
        yield Call(agent, "end", (last,))


def briefing(
    env: Any, entry: Entry, info: Mapping[str, Any], *, oracle: bool, protocol: Protocol = _DEFAULT
) -> Briefing:
    """Returns what an agent is told before a meta-episode; the opponent only if it is an oracle."""
    listed = protocol.legal_actions_in_prompt
    return brief(env, info, entry.agent_seed, oracle=oracle, legal_actions_in_prompt=listed)


def describe_opponent(env: Any, opponent: str | None) -> str:
    """Returns what an opponent says of itself."""
    return "" if opponent is None else make_opponent(opponent, env.unwrapped.game_spec).describe()
