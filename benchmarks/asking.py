"""Asking an agent, who is a guest: whatever it raises is its own failure, and its answers are looked at before use."""

from __future__ import annotations

import operator
import traceback
from typing import Any, ClassVar, Literal, NamedTuple

from benchmarks.records import Action, Status
from mage_agent.base import Agent

ACTION_BITS = 63
"""Larger numbers are no action ids: not every reader of JSON knows them."""

MAX_MESSAGE = 1000
"""Characters of an agent's error that a record keeps."""


class AgentFailure(Exception):  # noqa: N818 - it is not an error of MAGE
    """An agent raised, or answered with what is no action. The meta-episode has no score."""

    status: ClassVar[Status] = "error"


class OutOfTime(AgentFailure):
    """A meta-episode took longer than its wall limit. It has no score."""

    status: ClassVar[Status] = "timeout"

    def __init__(self, seconds: float) -> None:
        """Builds the message from the limit, which is the same on every machine; the time that it took is not."""
        self.seconds = seconds
        super().__init__(f"not finished within {seconds:g} s")


class Call(NamedTuple):
    """A call of an agent's method that the referee waits for.

    Attributes:
        agent: The agent.
        method: Which method.
        arguments: A briefing, or observation and info.
    """

    agent: Agent
    method: Literal["begin", "act", "reflect"]
    arguments: tuple[Any, ...]

    def __call__(self) -> Any:
        """Makes the call. Returns the answer; a coroutine if the method is one."""
        return getattr(self.agent, self.method)(*self.arguments)


def ask(call: Call) -> Any:
    """Calls a method of an agent.

    Returns:
        What it answered.

    Raises:
        AgentFailure: Whatever it raised, an exit of the process included.
    """
    try:
        return call()
    except (KeyboardInterrupt, OutOfTime):
        raise
    except BaseException as error:
        raise failure(error) from error


def failure(error: BaseException) -> AgentFailure:
    """Returns the failure that an agent's exception is, in words that JSON can hold."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    said = _encodable(f"{type(error).__name__}: {_message(error)}")
    if len(said) > MAX_MESSAGE:
        said = f"{said[:MAX_MESSAGE]} …"
    return AgentFailure(f"{said} (in {place.name}, line {place.lineno})")


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


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a guest's error may be unable to say what it is.
        return "an error without a readable message"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # Half a surrogate pair has no place in JSON.
