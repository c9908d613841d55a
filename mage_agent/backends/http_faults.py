"""What an HTTP answer that is no reply means: whether to ask again, when, and else what to do about it, in words."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from mage_agent.backends.endpoint import Endpoint
from mage_agent.backends.retrying import Fault, Kind
from mage_envs.errors import near_matches

BUSY = frozenset({429, 503, 529})
"""Statuses of a server that refuses work for now; 529 is Anthropic's."""

PASSING = frozenset({408, 409, 425, 500, 502, 504, 520, 521, 522, 523, 524, 530})
"""Statuses of faults that pass; those from 520 on are Cloudflare's."""

NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of a 429 that waiting does not cure."""

MAX_WORDS = 500
"""Characters that are shown of what a server says."""

_TOO_LONG = re.compile(
    r"context[ _](length|size|window)|maximum context|prompt is too long|too many tokens|max_model_len", re.IGNORECASE
)
_NO_SYSTEM = re.compile(
    r"system (role|message|prompt)s?\b.*not (supported|allowed)|developer instruction is not enabled|"
    r"only user and assistant roles|roles must alternate",
    re.IGNORECASE,
)
_OTHER_LIMIT = re.compile(r"(unsupported|not supported|unrecognized).*max_completion_tokens", re.IGNORECASE)


def http_fault(
    status: int, headers: Mapping[str, str], content: str, endpoint: Endpoint, *, model: str, limits: str
) -> Fault:
    """Says what an answer means that is no reply.

    Args:
        status: HTTP status.
        headers: Headers; names in any case.
        content: The body.
        endpoint: Who answered.
        model: The model that was asked for.
        limits: What is known of context and limits, in words.

    Returns:
        The fault, free of secrets.
    """
    said, code = server_words(content, endpoint.scrubbed)
    what = f"{endpoint.url} answered {status}" + (f": {said}" if said else "")
    kind: Kind = "busy" if status in BUSY else "passing" if status in PASSING else "final"
    if code in NO_MONEY:
        return Fault(f"{what}. The account has no money left, or reached its limit", "final", status=status)
    if kind != "final":
        return Fault(what, kind, retry_after=retry_after(headers), status=status)
    return Fault(what + _remedy(status, f"{code} {said}", endpoint, model, limits), kind, status=status)


def _remedy(status: int, said: str, endpoint: Endpoint, model: str, limits: str) -> str:
    if status in (401, 403):
        state = "is not accepted" if endpoint.has_key else "is not set"
        return f". The key in the environment variable {endpoint.key_variable} {state} for the model {model!r}"
    if status in (400, 413, 422) and _TOO_LONG.search(said):
        return f". The prompt and {limits} do not fit into the context: lower the memory budget or the most tokens"
    if status in (400, 422) and _NO_SYSTEM.search(said):
        return ". Its model may want prompts without a system message: --no-system-role"
    return ""


def model_remedy(model: str, known: Iterable[str] | None) -> str:
    """Returns what to do about a 404.

    Args:
        model: The model that was asked for.
        known: The models that the server says it has; None: it does not say.
    """
    if known is None:
        return ". Does the base URL end as the server's manual says (most often in /v1), and is the model's name right?"
    names = set(known)
    if model in names:
        return ". The server lists this model, but does not chat with it at this base URL"
    return f". The server has no model {model!r}. {near_matches(model, names)}"


def wants_other_limit(fault: Fault) -> bool:
    """Whether a server refuses ``max_tokens`` because it is called ``max_completion_tokens`` there."""
    return fault.status == 400 and _OTHER_LIMIT.search(str(fault)) is not None


def server_words(content: str, scrubbed: Callable[[str], str] = str) -> tuple[str, str]:
    """Returns what the body of an error says, on one line and not too long, and its code; either may be empty.

    Args:
        content: The body.
        scrubbed: Blots secrets out, before anything is shortened.
    """
    try:
        body: Any = json.loads(content)
    except (ValueError, RecursionError):
        body = content
    code = ""
    for name in ("error", "message", "detail"):
        if isinstance(body, dict) and name in body:
            code = str(body.get("code") or body.get("type") or code)
            body = body[name]
    if isinstance(body, dict):
        code = str(body.get("code") or body.get("type") or code)
    words = " ".join(scrubbed(body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).split())
    return (words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]} …"), code


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Returns the seconds that a server asks to wait: in milliseconds, in seconds, or until a date.

    A date is compared with the server's own (``Date``) if there is one, so that no clock need be right.

    >>> retry_after({"Retry-After": "1.5"}), retry_after({"retry-after-ms": "250"}), retry_after({"Retry-After": "?"})
    (1.5, 0.25, None)

    Args:
        headers: Headers of the answer; names in any case.
        now: Seconds since 1970.
    """
    folded = {name.casefold(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(folded[name]) / unit
        except (KeyError, ValueError):
            continue
        if 0.0 <= seconds < float("inf"):
            return seconds
    until = _date(folded.get("retry-after", ""))
    if until is None:
        return None
    begun = _date(folded.get("date", ""))
    return max(0.0, until - (now() if begun is None else begun))


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
