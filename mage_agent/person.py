"""A person at a terminal, asked for each decision. Typing errors are asked again and cost nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from mage_envs.envs.actions import read_action, read_command
from mage_envs.games import View
from mage_envs.text.messages import REASONS, WORLD_REASONS
from mage_envs.text.parser import ReplyKind

Say: TypeAlias = Callable[[str], None]
"""Shows a text."""
Ask: TypeAlias = Callable[[str], str]
"""Shows a prompt and returns the answer; raises EOFError when there are no more answers."""


MOST_LISTED = 20
"""So many legal actions are listed one by one."""

_ALL = "?"
_VERB = re.compile(r"[^ \[(]*")


class Person:
    """Shows what a player sees, and asks what it answers."""

    def __init__(self, say: Say, ask: Ask) -> None:
        """Takes how to speak to the person."""
        self._say, self._ask = say, ask

    def __call__(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Asks for an action that can be played, or for a note between two episodes.

        Raises:
            EOFError: There are no more answers.
        """
        view = info["view"]
        self._say(f"\n{observation if isinstance(view, View) else view.spec.for_person(observation)}")
        if info["phase"] == "reflect":
            return self._ask("A note if you like, and Enter> ")
        if view.terminal:
            return ""
        read = read_action if isinstance(view, View) else read_command
        while True:
            if info["legal_actions"]:
                self._say(f"You can: {in_short(info['legal_actions'])}")
            answer = self._ask("> ")
            kind, _ = read(view, answer, text=True)
            if kind is ReplyKind.OK:
                return answer
            if answer.strip() == _ALL and info["legal_actions"]:
                self._say(", ".join(info["legal_actions"]))
                continue
            self._say(REASONS[kind] if isinstance(view, View) else f"{WORLD_REASONS[kind]} {view.spec.hint}")


def in_short(names: Sequence[str]) -> str:
    """Lists actions: all of them, or of many the first and the last of each kind, and how to see all.

    >>> in_short(["up", "down"])
    'up, down'
    >>> in_short([f"flag c{n}" for n in range(1, 30)] + ["look"])
    'flag c1 … flag c29 (29), look; ? lists all 30'
    """
    if len(names) <= MOST_LISTED:
        return ", ".join(names)
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(_VERB.match(name)[0], []).append(name)  # type: ignore[index]  # It matches everything.
    short = [own[0] if len(own) == 1 else f"{own[0]} … {own[-1]} ({len(own)})" for own in kinds.values()]
    if len(short) > MOST_LISTED:
        short = [*short[:MOST_LISTED], "…"]
    return f"{', '.join(short)}; {_ALL} lists all {len(names)}"
