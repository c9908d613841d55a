"""The referee: runs one meta-episode between an environment and whoever answers, and writes everything down.

Playing and replaying are one loop, :func:`drive`: an agent answers in the one, the record in the other.
"""

from __future__ import annotations

import operator
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

from benchmarks.panels import Entry
from benchmarks.records import Action, EpisodeRecord, Record, Status
from mage_agent.base import Agent, Briefing
from mage_envs.opponents import make_opponent
from mage_envs.scenarios import Interface

Decide: TypeAlias = Callable[[Any, Mapping[str, Any]], Action]
Start: TypeAlias = tuple[Any, dict[str, Any]]

ACTION_BITS = 63
"""Larger numbers are no action ids: not every reader of JSON knows them."""

MAX_MESSAGE = 1000
"""Characters of an agent's error that a record keeps."""


class AgentFailure(Exception):  # noqa: N818 - it is not an error of MAGE
    """An agent raised, or answered with what is no action. The meta-episode has no score."""


def start(env: Any, entry: Entry) -> Start:
    """Resets an environment to the start of a panel's entry. Returns the first observation and info."""
    options: dict[str, Any] = {}
    if entry.opponent is not None:
        options = {"opponent": entry.opponent, "seat": entry.seat}
    observation, info = env.reset(seed=entry.seed, options=options)
    return observation, info


def drive(env: Any, first: Start, decide: Decide, finished: list[EpisodeRecord]) -> Any:
    """Runs a meta-episode to its end.

    Args:
        env: The environment, started.
        first: What :func:`start` returned.
        decide: Answers in both phases. It is never shown what is privileged.
        finished: Every finished episode is appended here, so that they outlive an exception.

    Returns:
        The last observation, which nobody was asked about.
    """
    observation, info = first
    over = False
    while not over:
        instance = str(info.pop("privileged")["instance"])
        answers: list[Action] = []
        while "episode_result" not in info:
            answers.append(decide(observation, info))
            observation, _, terminated, truncated, info = env.step(answers[-1])
            info.pop("privileged")
            over = terminated or truncated
        seat, result = info["seat"], dict(info["episode_result"])  # Before the agent gets its hands on them.
        reflection = None if over else decide(observation, info)
        finished.append(
            EpisodeRecord(instance=instance, seat=seat, actions=tuple(answers), reflection=reflection, **result)
        )
        if not over:
            observation, _, terminated, truncated, info = env.step(reflection)
            over = terminated or truncated
    return observation


def play(env: Any, agent: Agent, entry: Entry) -> Record:
    """Lets an agent play one entry of a panel.

    Args:
        env: The environment of the entry's scenario, with the agent's interface.
        agent: The agent.
        entry: What to play.

    Returns:
        The record. If the agent fails its status is ``error``; a failure of the environment or the opponent raises.
    """
    finished: list[EpisodeRecord] = []
    status: Status = "ok"
    failure = None
    first = start(env, entry)
    nothing: Action = "" if agent.interface == "text" else 0

    def decide(observation: Any, info: Mapping[str, Any]) -> Action:
        if info["phase"] == "reflect":
            return as_action(ask(agent.reflect, observation, info), agent.interface)
        if info["view"].terminal:  # The others ended the episode before the agent had a move.
            return nothing
        return as_action(ask(agent.act, observation, info), agent.interface)

    try:
        ask(agent.begin, briefing(env, entry, first[1], oracle=agent.oracle))
        drive(env, first, decide, finished)
        if any(episode.forfeit for episode in finished):
            status = "forfeit"
    except AgentFailure as error:
        status, failure = "error", str(error)
    return Record(
        agent=agent.name,
        interface=cast(Interface, agent.interface),
        scenario=entry.scenario,
        number=entry.number,
        opponent=entry.opponent,
        described=describe_opponent(env, entry.opponent),
        seat=entry.seat,
        seed=entry.seed,
        status=status,
        episodes=tuple(finished),
        error=failure,
    )


def briefing(env: Any, entry: Entry, info: Mapping[str, Any], *, oracle: bool) -> Briefing:
    """Returns what an agent is told before a meta-episode; the opponent only if it is an oracle."""
    told = Briefing(
        game=info["view"].spec, rules=info["rules"], episodes=info["episodes"], population=(), seed=entry.agent_seed
    )
    if entry.opponent is None:
        return told
    inner = env.unwrapped
    return replace(
        told,
        population=inner.population.members,
        opponent=entry.opponent if oracle else None,
        seats=inner.seats,
        instance=inner.instance,
    )


def describe_opponent(env: Any, opponent: str | None) -> str:
    """Returns what an opponent says of itself."""
    return "" if opponent is None else make_opponent(opponent, env.unwrapped.game_spec).describe()


def as_action(answer: Any, interface: str) -> Action:
    """Turns an agent's answer into what a record can hold, and the environment then gets.

    Raises:
        AgentFailure: The answer is of no type that the interface knows.
    """
    if interface == "text":
        if isinstance(answer, str):
            return _encodable(answer)
        raise AgentFailure(f"the agent answered with {type(answer).__name__}, not with a string")
    try:
        action = operator.index(answer)
    except TypeError:
        raise AgentFailure(f"the agent answered with {type(answer).__name__}, not with an action id") from None
    if action.bit_length() > ACTION_BITS:
        raise AgentFailure(f"the agent answered with a number of {action.bit_length()} bits, not with an action id")
    return action


def ask(call: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a method of an agent.

    Raises:
        AgentFailure: Whatever it raised, an exit of the process included: an agent is a guest.
    """
    try:
        return call(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = _encodable(f"{type(error).__name__}: {_message(error)}")
        if len(said) > MAX_MESSAGE:
            said = f"{said[:MAX_MESSAGE]} …"
        raise AgentFailure(f"{said} (in {place.name}, line {place.lineno})") from error


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a guest's error may be unable to say what it is.
        return "an error without a readable message"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # Half a surrogate pair has no place in JSON.
