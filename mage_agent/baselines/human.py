"""``human``: asks whoever sits at the terminal. For a whole suite; ``benchmark play`` is one meta-episode at ease."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, ClassVar

from mage_agent.agents import AGENTS
from mage_agent.base import Briefing
from mage_agent.person import Person
from mage_envs.errors import MageError


class Human:
    """Asks the person at the terminal, who answers as in benchmark play."""

    name = "human"
    oracle = False
    interface = "text"
    in_terminal: ClassVar[bool] = True
    sees: ClassVar[str] = "rules, own views, what a person remembers"

    def __init__(self) -> None:
        """Has no parameters."""
        self._person = Person(_say, _ask)
        self._rules = ""

    def begin(self, briefing: Briefing) -> None:
        """Starts a meta-episode.

        Raises:
            MageError: Standard input is no terminal: nobody could answer.
        """
        if not sys.stdin.isatty():
            raise MageError(
                "human is asked in the terminal, and standard input is none here: run it in a terminal with --jobs 1, "
                "or play one meta-episode with `benchmark play`"
            )
        self._rules = briefing.rules

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Shows the rules when a meta-episode begins, and asks for an action."""
        if self._rules:
            _say(f"\n{self._rules}")
            self._rules = ""
        return self._person(observation, info)

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Asks for a note."""
        return self._person(observation, info)

    def end(self, observation: str) -> None:
        """Shows how the last episode ended."""
        _say(f"\n{observation}")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _ask(prompt: str) -> str:
    return input(prompt)


AGENTS.register("human", Human)
