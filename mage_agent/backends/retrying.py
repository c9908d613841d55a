"""Asking again after a fault that passes: pauses are jittered, grow, obey the server, and are bounded."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from mage_agent.backends.base import BackendError, FinalError
from mage_agent.errors import Overloaded

FIRST_PAUSE, GROWTH, LONGEST_PAUSE = 0.1, 2.0, 10.0
"""Seconds of the first pause, the factor from one to the next, and seconds of the longest that we choose ourselves."""

LONGEST_OBEYED = 60.0
"""Seconds. A server that wants a longer pause gets it from the harness, for all requests at once."""

LONGEST_TOLD = 600.0
"""Seconds that the harness is told at most."""

PERSISTENT = 4
"""So many refusals of one request in a row are no accident: the server has too much to do."""

Kind: TypeAlias = Literal["busy", "passing", "final"]

Result = TypeVar("Result")

_log = logging.getLogger(__name__)


class Fault(Exception):  # noqa: N818 - it becomes an error only if it does not pass.
    """A request that got no reply. Holds no secret: its words may be shown.

    Attributes:
        kind: ``"busy"``: the server refuses work for now; ``"passing"``: another try may help; ``"final"``: none will.
        retry_after: Seconds that the server asks to wait; None if it does not say.
        status: The HTTP status; 0 if there was none.
    """

    def __init__(self, words: str, kind: Kind, *, retry_after: float | None = None, status: int = 0) -> None:
        """Takes what happened, in words that name a remedy if ``kind`` is ``"final"``."""
        super().__init__(words)
        self.kind, self.retry_after, self.status = kind, retry_after, status


@dataclass(frozen=True)
class Retrying:
    """Makes calls until one succeeds.

    Attributes:
        retries: So often a call is made again, at most.
        sleep: Waits so many seconds.
        rng: Draws the jitter. A generator of its own, seeded by the system: pauses are no result, and never enter a
            record; requests that failed together must not come back together, not even from processes of one seed.
    """

    retries: int
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    rng: random.Random = field(default_factory=random.Random)

    async def __call__(self, attempt: Callable[[], Awaitable[Result]]) -> Result:
        """Calls until there is a result.

        Args:
            attempt: Makes one try; raises :class:`Fault` if it fails.

        Returns:
            The result.

        Raises:
            Overloaded: The server refused several times in a row, or wants a long pause.
            FinalError: The fault is final.
            BackendError: There were too many.
        """
        refusals = 0
        for number in range(self.retries + 1):
            try:
                return await attempt()
            except Fault as error:
                fault = error
            refusals = refusals + 1 if fault.kind == "busy" else 0
            if fault.kind == "final" or number == self.retries or self._too_busy(fault, refusals):
                break
            seconds = self.pause(fault, number)
            _log.debug("%s; sent again in %.2f s", fault, seconds)
            await self.sleep(seconds)
        if fault.kind == "busy":
            told = fault.retry_after
            raise Overloaded(None if told is None else min(told, LONGEST_TOLD), str(fault)) from fault
        if fault.kind == "final":
            raise FinalError(str(fault)) from fault
        tries = f"tried {self.retries + 1} times" if self.retries else "tried once"
        raise BackendError(f"{fault} ({tries})") from fault

    def pause(self, fault: Fault, number: int) -> float:
        """Returns seconds to wait: at least what the server asks for.

        Args:
            fault: What happened.
            number: Number of pauses before this one.
        """
        if fault.retry_after is not None:
            return fault.retry_after + FIRST_PAUSE * self.rng.random()
        return min(LONGEST_PAUSE, FIRST_PAUSE * GROWTH**number) * (0.5 + self.rng.random())

    def _too_busy(self, fault: Fault, refusals: int) -> bool:
        return refusals >= PERSISTENT or (fault.retry_after or 0.0) > LONGEST_OBEYED
