"""Asking an agent, who is a guest: whatever it raises is its own failure, and its answers are looked at before use."""

from __future__ import annotations

import asyncio
import inspect
import logging
import operator
import time
import traceback
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from benchmarks.records import Action, Status
from mage_agent.base import Agent
from mage_agent.errors import Overloaded

_log = logging.getLogger(__name__)

Result = TypeVar("Result")

ACTION_BITS = 63
"""Larger numbers are no action ids: not every reader of JSON knows them."""

MAX_MESSAGE = 1000
"""Characters of an agent's error that a record keeps."""

MAX_TRIES = 8
"""So often a decision is asked for while the server behind the agent has too much to do."""

CLOSE_SECONDS = 10.0
"""So long an agent may take to close."""

LONGEST_PAUSE = 60.0
"""Seconds; the first pause is 1 s, each further one twice as long. A server that says how long is obeyed."""


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
        arguments: A briefing, observation and info, or nothing.
    """

    agent: Agent
    method: Literal["begin", "act", "reflect", "end", "usage"]
    arguments: tuple[Any, ...]

    def __call__(self) -> Any:
        """Makes the call. Returns the answer; a coroutine if the method is one."""
        return getattr(self.agent, self.method)(*self.arguments)


class Interrupt(BaseException):
    """Is raised inside an agent's code when its time is up. Not an Exception: agents catch those."""


def waits(agent: Agent) -> bool:
    """Whether an agent is to be awaited: one of its methods is a coroutine."""
    return any(inspect.iscoroutinefunction(getattr(agent, name)) for name in ("begin", "act", "reflect"))


def pause_seconds(error: Overloaded, tries: int) -> float:
    """Returns how long to wait before the next try.

    Args:
        error: What the agent raised.
        tries: Number of tries before this one.
    """
    if error.retry_after is not None:
        return max(0.0, error.retry_after)
    return float(min(LONGEST_PAUSE, 2.0**tries))


def ask(call: Call, *, tries: int = MAX_TRIES, pause: Callable[[float], None] = time.sleep) -> Any:
    """Calls a method of an agent that answers at once.

    Args:
        call: The call.
        tries: So often, if the agent says that its server has too much to do.
        pause: Waits so many seconds.

    Returns:
        What it answered.

    Raises:
        AgentFailure: Whatever it raised, an exit of the process included.
    """
    for number in range(tries):
        try:
            return call()
        except (KeyboardInterrupt, Interrupt):
            raise
        except Overloaded as error:
            if number + 1 == tries:
                raise failure(error) from error
            seconds = pause_seconds(error, number)
            _log.info("%s: %s; asked again in %g s", call.agent.name, error, seconds)
            pause(seconds)
        except BaseException as error:
            raise failure(error) from error
    raise ValueError(f"tries must be at least 1, got {tries}")


async def ask_awaited(call: Call) -> Any:
    """Calls a method of an agent, and waits for its answer if it is a coroutine.

    Raises:
        Overloaded: The agent's server has too much to do.
        AgentFailure: Whatever else it raised.
        CancelledError: The task that waits was cancelled, and not only something inside the agent.
    """
    try:
        answer = call()
        return await answer if inspect.isawaitable(answer) else answer
    except (KeyboardInterrupt, Overloaded):
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise failure(error) from error
    except BaseException as error:
        raise failure(error) from error


def close_at_once(agent: Agent) -> None:
    """Closes an agent that answers at once, if it can be closed; whatever it raises is logged."""
    if hasattr(agent, "close"):
        run_loop(close_awaited(agent))


async def close_awaited(agent: Agent) -> None:
    """Closes an agent, if it can be closed: ``close()``, a coroutine or not. Whatever it raises is logged."""
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            closing = agent.close() if hasattr(agent, "close") else None
            if inspect.isawaitable(closing):
                await closing
    except Exception as error:  # noqa: BLE001 - an agent is a guest, and its records are written.
        _log.warning("%s, close: %s", agent.name, failure(error))


def run_loop(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs a coroutine to its end, in an event loop of its own; also in a notebook, which has a loop running."""
    if not _in_loop():
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def failure(error: BaseException) -> AgentFailure:
    """Returns the failure that an agent's exception is, in words that JSON can hold."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    said = _encodable(f"{type(error).__name__}: {_message(error)}")
    if len(said) > MAX_MESSAGE:
        said = f"{said[:MAX_MESSAGE]} …"
    return AgentFailure(f"{said} (in {place.name}, line {place.lineno})")


def trace(error: AgentFailure) -> str:
    """Returns where in the agent's code a failure came from, for a log; empty if it is known without."""
    cause = error.__cause__
    if cause is None or isinstance(error, OutOfTime):
        return ""
    return "\n" + _encodable("".join(traceback.format_exception(cause)).rstrip())


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
