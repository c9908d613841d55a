"""One backend for all agents of a process that ask the same model in one event loop; the last user closes it."""

from __future__ import annotations

import asyncio
import threading
import weakref

from mage_agent.backends.base import BACKENDS, Backend
from mage_agent.backends.response_cache import cached
from mage_agent.model_settings import ModelSettings

_lock = threading.Lock()
_shared: dict[asyncio.AbstractEventLoop, dict[str, _Shared]] = {}


class _Shared:
    """A backend and who uses it. A user that is forgotten, as an agent is that ran out of time, is none any more."""

    def __init__(self, settings: ModelSettings) -> None:
        self.backend = cached(BACKENDS.get(settings.backend)(settings), settings)
        self.users: weakref.WeakSet[Lease] = weakref.WeakSet()
        self.opening = asyncio.Lock()
        self.open = False


class Lease:
    """One user's share of a backend, in the event loop that was running when it was taken.

    Attributes:
        loop: That event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, key: str, shared: _Shared) -> None:
        """Use :func:`shared_backend`."""
        self.loop = loop
        self._key, self._shared = key, shared
        shared.users.add(self)

    async def open(self) -> Backend:
        """Returns the backend; the first user opens it, and others wait until it is open.

        Raises:
            BackendError: It cannot be opened. The next user tries again.
        """
        async with self._shared.opening:
            if not self._shared.open:
                await self._shared.backend.open()
                self._shared.open = True
        return self._shared.backend

    async def close(self) -> None:
        """Gives the share back; the last user closes the backend. Closing twice is fine."""
        with _lock:
            self._shared.users.discard(self)
            found = _shared.get(self.loop, {})
            last = not self._shared.users and found.get(self._key) is self._shared
            if last:
                del found[self._key]
                if not found:
                    del _shared[self.loop]
        if last:
            await self._shared.backend.close()


def shared_backend(settings: ModelSettings) -> Lease:
    """Takes a share of the backend that these settings name, and makes it if nobody has one in this event loop.

    Args:
        settings: Which model, and how it is asked. Equal settings share.

    Returns:
        The share. Give it back by its ``close``.

    Raises:
        RuntimeError: No event loop is running.
        UnknownNameError: There is no backend of this name; near matches are listed.
    """
    loop, key = asyncio.get_running_loop(), repr(settings)
    with _lock:
        for other in [other for other in _shared if other.is_closed()]:  # Nobody can use, or close, what it has.
            del _shared[other]
        found = _shared.get(loop, {}).get(key) or _Shared(settings)
        _shared.setdefault(loop, {})[key] = found
        return Lease(loop, key, found)
