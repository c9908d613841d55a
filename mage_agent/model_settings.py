"""Which model a language agent asks, and how: plain data that pickles, from flags, with no secret in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Sampling:
    """How a reply is drawn.

    Attributes:
        temperature: At least 0; None: what the server or the model's own configuration says.
        top_p: In (0, 1]; None as above.
        top_k: At least 1; None as above.
        max_tokens: Most tokens of a reply, thoughts included.
        extra: Further fields of the request body, JSON values, as pairs: for servers with options of their own.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int = 1024
    extra: tuple[tuple[str, Any], ...] = ()


class Price(NamedTuple):
    """US dollars for a million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True)
class ModelSettings:
    """Everything that a backend needs to know. Keys are read from the environment when a backend opens.

    Attributes:
        backend: Name of the backend.
        model: Name of the model, hub id or local folder.
        revision: Revision of the model; empty: what the backend finds.
        base_url: Where the server is; None: the backend's default.
        api_key_env: Environment variable that holds the key.
        tokenizer: Hub id or local folder of the tokenizer that counts; None: what the backend has.
        context: Most tokens of prompt and reply together; None: what the backend finds.
        sampling: How replies are drawn.
        timeout: Seconds for one request.
        retries: So often a failed request is sent again, at most.
        cache: Folder of the response cache; None: no cache.
        price: What tokens cost; None: unknown.
        system_role: Whether the model knows messages of the role ``system``; else their words stand before the user's.
        trust_remote_code: Whether code that comes with a model may run.
        device: Where a local model runs; None: the best there is.
        batch: Most requests that a local model answers at once.
    """

    backend: str
    model: str
    revision: str = ""
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    tokenizer: str | None = None
    context: int | None = None
    sampling: Sampling = field(default_factory=Sampling)
    timeout: float = 120.0
    retries: int = 5
    cache: Path | None = None
    price: Price | None = None
    system_role: bool = True
    trust_remote_code: bool = False
    device: str | None = None
    batch: int = 32
