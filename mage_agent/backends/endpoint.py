"""Where a server is and the key that it wants, apart from everything that may be shown."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit, urlunsplit

from mage_agent.model_settings import ModelSettings

HOSTED = "https://api.openai.com/v1"
URL_VARIABLE = "OPENAI_BASE_URL"

_PLACEHOLDER = "no-key"
"""The client insists on a key; a server that wants none ignores this one."""

_SHORTEST_SECRET = 6
"""Shorter words, such as EMPTY, protect nothing, and are found by chance in any text."""


class Endpoint:
    """A server's address and key. Its text and its attributes but ``key`` and ``headers`` are free of secrets.

    Attributes:
        url: The base URL, without name, password, query and fragment.
        key_variable: The environment variable that holds the key.
        has_key: Whether it does.
    """

    def __init__(self, settings: ModelSettings, environ: Mapping[str, str] = os.environ) -> None:
        """Reads the environment.

        Args:
            settings: Which server; no base URL: ``$OPENAI_BASE_URL``, else OpenAI's own.
            environ: The environment.

        Raises:
            ValueError: The base URL is none.
        """
        full = settings.base_url or environ.get(URL_VARIABLE) or HOSTED
        self.url = shown_url(full)
        self.key_variable = settings.api_key_env
        key = environ.get(self.key_variable, "").strip()
        self.has_key = bool(key)
        self.key = key or _PLACEHOLDER
        self.headers: dict[str, str] = {}
        self._secrets = [key]
        parts = urlsplit(full)
        if parts.username or parts.password:
            name, password = unquote(parts.username or ""), unquote(parts.password or "")
            code = base64.b64encode(f"{name}:{password}".encode()).decode()
            self.headers["Authorization"] = f"Basic {code}"
            self._secrets += [password, parts.password or "", code]

    @property
    def root(self) -> str:
        """The URL without ``/v1``, under which servers have pages of their own."""
        return self.url.removesuffix("/v1")

    def __repr__(self) -> str:
        """Shows the URL."""
        return f"Endpoint({self.url!r})"

    def scrubbed(self, text: str) -> str:
        """Blots out every secret in a text."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "***")
        return text


def shown_url(url: str) -> str:
    """Returns a base URL without what may be secret in it: name and password, query and fragment.

    >>> shown_url("https://me:word@example.com:8000/v1/?key=1")
    'https://example.com:8000/v1'

    Raises:
        ValueError: It is no URL of a server.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("a base URL reads like http://localhost:8000/v1")  # Without the text: it may hold a secret.
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
