"""A person at a terminal, asked for each decision. Typing errors are asked again and cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from mage_envs.envs.actions import read_action, read_command
from mage_envs.games import View
from mage_envs.text.messages import REASONS, WORLD_REASONS
from mage_envs.text.parser import ReplyKind

Say: TypeAlias = Callable[[str], None]
"""Shows a text."""
Ask: TypeAlias = Callable[[str], str]
"""Shows a prompt and returns the answer; raises EOFError when there are no more answers."""


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
        self._say(f"\n{observation}")
        if info["phase"] == "reflect":
            return self._ask("A note if you like, and Enter> ")
        view = info["view"]
        if view.terminal:
            return ""
        read = read_action if isinstance(view, View) else read_command
        while True:
            if info["legal_actions"]:
                self._say(f"You can: {', '.join(info['legal_actions'])}")
            answer = self._ask("> ")
            kind, _ = read(view, answer, text=True)
            if kind is ReplyKind.OK:
                return answer
            self._say(REASONS[kind] if isinstance(view, View) else f"{WORLD_REASONS[kind]} {view.spec.hint}")
