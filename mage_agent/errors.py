"""What an agent raises to say that it is not its turn to fail: the server behind it has too much to do."""

from __future__ import annotations

from mage_envs.errors import MageError


class Overloaded(MageError):  # noqa: N818 - a state of the server, and no error of the agent
    """What serves the agent has too much to do (HTTP 429 or 5xx): the same decision shall be asked again, later.

    An agent raises it from any of its methods, before it has changed anything that it remembers. The harness pauses,
    lets fewer decisions be in flight, and calls the method again with the same arguments, a bounded number of times.

    Attributes:
        retry_after: Seconds to wait, as the server said (``Retry-After``); None if it said nothing.
    """

    def __init__(self, retry_after: float | None = None, reason: str = "the server has too much to do") -> None:
        """Builds the message.

        Args:
            retry_after: Seconds to wait, at least 0; None: the harness chooses.
            reason: What the server said.
        """
        self.retry_after = retry_after
        super().__init__(retry_after, reason)

    def __str__(self) -> str:
        """Says the reason."""
        return str(self.args[1])
