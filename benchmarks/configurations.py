"""In what two configurations of runs differ: the question whether one may be resumed as, or merged with, the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_LONG = frozenset({"plays", "panel"})
"""Keys whose values nobody wants to read."""

_PLACES = frozenset({"base_url"})
"""Where a model was: the same model at another address, or at one of each machine, is the same."""

_FOUND = frozenset({"revision", "context", "counter", "chat_template"})
"""What a preflight finds of a model: without one it is unknown, and no difference."""


def differences(there: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Names what differs between two configurations, with the values of what is short; empty if nothing does.

    Args:
        there: The one, as JSON values: see :class:`benchmarks.run_directory.Config`.
        now: The other.
    """
    return ", ".join(_all(there, now))


def _all(there: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in {**there, **now}:
        old, new = there.get(key), now.get(key)
        if key == "agents":
            yield from _agents(old or (), new or ())
        elif old != new:
            yield key if key in _LONG else _said(key, old, new)


def _agents(there: Any, now: Any) -> Iterator[str]:
    old, new = ({card["name"]: card for card in cards} for cards in (there, now))
    if list(old) != list(new):
        yield _said("agents", ", ".join(old), ", ".join(new))
        return
    for name in old:
        for key, before, after in _cards(_flat(old[name]), _flat(new[name])):
            yield _said(f"{key} of {name}", before, after)


def _cards(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key in {**old, **new}:
        before, after = old.get(key), new.get(key)
        unknown = key in _FOUND and (before in (None, "") or after in (None, ""))
        unknown = unknown and not (key == "context" and old.get("counter") and new.get("counter"))  # Both were tried.
        if before != after and key not in _PLACES and not unknown:
            yield key, before, after


def _flat(card: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in card.items() if key != "sampling"}, **card["sampling"]}


def _said(key: str, old: Any, new: Any) -> str:
    return f"{key} ({old!r} there, {new!r} now)"
