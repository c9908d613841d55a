"""``alfworld_seeker``: looks into one receptacle after the other until it has what the task asks for.

It acts only on what it has read. With ``remember`` it knows of a replayed household what it saw in earlier episodes and
does not look there again; without, each episode begins anew. The difference is what there is to learn across episodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mage_agent.agents import AGENTS
from mage_agent.alfworld_sight import APPLIANCE, Wanted, check_alfworld, seen_in, type_of, wanted_by
from mage_agent.base import Briefing, agent_generator
from mage_envs.errors import SpecError

Contents = dict[str, tuple[str, ...]]
"""From the name of a receptacle to what lay there when the episode began."""

_HOLDS = re.compile(r"You pick up the (\w+ \d+) from")
_PUT = re.compile(r"You (?:put|move) the (\w+ \d+) (?:in/on|to) the (\w+ \d+)\.")
_TREATED = re.compile(r"You (clean|heat|cool) the (\w+ \d+) using")


class ALFWorldSeeker:
    """Seeks the things of the task in one receptacle after the other."""

    name = "alfworld_seeker"
    oracle = False
    interface = "text"

    def __init__(self, remember: bool = False) -> None:
        """Takes what it may use.

        Args:
            remember: Whether it uses what earlier episodes showed, if the household is replayed.

        Raises:
            SpecError: A value out of range.
        """
        if remember not in (True, False):
            raise SpecError("alfworld_seeker takes remember=true or false")
        self._remember = remember
        self._replayed = False
        self._rng = agent_generator(0)
        self._known: Contents = {}
        self._anew()

    @property
    def memory(self) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
        """What it knows to lie where at the start; None if it does not remember."""
        return tuple(self._known.items()) if self._remember else None

    @memory.setter
    def memory(self, memory: tuple[tuple[str, tuple[str, ...]], ...] | None) -> None:
        self._known = dict(memory or ())

    def shuffled(
        self, memory: tuple[tuple[str, tuple[str, ...]], ...] | None, rng: np.random.Generator
    ) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
        """Gives what it saw out to the receptacles at random."""
        if memory is None:
            return None
        order = rng.permutation(len(memory)).tolist()
        return tuple((receptacle, memory[other][1]) for (receptacle, _), other in zip(memory, order, strict=True))

    def begin(self, briefing: Briefing) -> None:
        """Forgets everything.

        Raises:
            UnsupportedGameError: Something else than ALFWorld is played.
        """
        check_alfworld(briefing, "alfworld_seeker")
        self._rng = agent_generator(briefing.seed)
        self._replayed = briefing.instance == "replay"
        self._known = {}
        self._anew()

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Takes the next step towards the task, or looks where it has not looked."""
        facts = info["view"].facts
        self._read(facts["feedback"])
        wanted = wanted_by(facts["task"])
        possible = facts["admissible"]
        chosen = None if wanted is None else self._step(wanted, possible)
        return chosen or str(possible[int(self._rng.integers(len(possible)))])

    def reflect(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Keeps what it saw, if it remembers and the household comes again."""
        self._read(info["view"].facts["feedback"])
        if self._remember and self._replayed:
            self._known = {**self._known, **self._first_seen}
        self._anew()
        return ""

    def _anew(self) -> None:
        """Forgets the episode."""
        self._first_seen: Contents = {}
        self._now: Contents = {}
        self._held = ""
        self._treated: set[str] = set()
        self._placed: set[str] = set()

    def _read(self, feedback: str) -> None:
        """Notes what a feedback tells."""
        sight, taken, put = seen_in(feedback), _HOLDS.search(feedback), _PUT.search(feedback)
        treated = _TREATED.search(feedback)
        if sight and sight.things is not None:
            self._first_seen.setdefault(sight.receptacle, sight.things)
            self._now[sight.receptacle] = sight.things
        if taken:
            self._held = taken[1]
            self._now = {where: tuple(x for x in things if x != taken[1]) for where, things in self._now.items()}
        if put:
            self._held = ""
            self._placed.add(put[1])
            self._now[put[2]] = (*self._now.get(put[2], ()), put[1])
        if treated:
            self._treated.add(treated[2])

    # What to do.

    def _step(self, wanted: Wanted, possible: tuple[str, ...]) -> str | None:
        if not self._held:
            return self._fetch(wanted, possible)
        if type_of(self._held) != wanted.thing:
            return _first(possible, ("put ", "move "))
        if wanted.lamp:
            return _first(possible, (f"use {wanted.lamp} ",)) or self._seek(wanted.lamp, possible)
        if wanted.treatment and self._held not in self._treated:
            return _first(possible, (f"{wanted.treatment} ",)) or self._go_to(APPLIANCE[wanted.treatment], possible)
        return self._deliver(wanted.where, possible)

    def _fetch(self, wanted: Wanted, possible: tuple[str, ...]) -> str | None:
        """Takes a thing that it sees, or seeks one."""
        for command in possible:
            if command.startswith(f"take {wanted.thing} "):
                thing, _, where = command.removeprefix("take ").partition(" from ")
                at_home = type_of(where) == wanted.where and not wanted.treatment
                if thing not in self._placed and not at_home:
                    return command
        home = "" if wanted.treatment else wanted.where
        return self._seek(wanted.thing, possible, home)

    def _deliver(self, where: str, possible: tuple[str, ...]) -> str | None:
        """Puts what it holds into a receptacle of a type, which it opens; two things go into the same one."""
        full = [name for name, things in self._now.items() if type_of(name) == where and self._placed & set(things)]
        for name in full or [where]:
            ending = name if full else f"{name} "
            for command in possible:
                verb, _, rest = command.partition(" ")
                target = re.split(r" in/on | to ", rest)[-1] if verb in ("put", "move") else rest
                if verb in ("put", "move", "open") and (target == ending or target.startswith(ending)):
                    return command
            return self._go_to(name, possible)
        return None

    def _go_to(self, name: str, possible: tuple[str, ...]) -> str | None:
        """Goes to a receptacle by its name, or to one of a type."""
        ways = [command for command in possible if command.startswith("go to ")]
        there = [command for command in ways if name in (command[6:], type_of(command[6:]))]
        return self._one_of(there)

    def _seek(self, kind: str, possible: tuple[str, ...], home: str = "") -> str | None:
        """Goes where a thing of a type is known to be, else where it has not looked; opens what is closed."""
        contents = {**self._known, **self._now}
        holders = [
            name for name, things in contents.items()
            if type_of(name) != home and any(type_of(x) == kind and x not in self._placed for x in things)
        ]  # fmt: skip
        here = [command for command in possible if command.startswith("open ") and self._is_worth(command[5:], holders)]
        if here:
            return here[0]
        return self._one_of(self._ways(holders, possible)) or self._one_of(self._ways(None, possible))

    def _is_worth(self, name: str, holders: list[str]) -> bool:
        """Whether it has not looked into a receptacle, or knows that what it seeks is there."""
        return name in holders or (not holders and name not in {**self._known, **self._now})

    def _ways(self, holders: list[str] | None, possible: tuple[str, ...]) -> list[str]:
        """Returns the commands that lead to some receptacles, or (None) to those in which it has not looked."""
        seen = {**self._known, **self._now}
        found = []
        for command in possible:
            verb, _, rest = command.partition(" ")
            name = rest.removeprefix("to ")
            look = verb == "go" or (verb == "examine" and f"open {name}" not in possible)
            if look and (name not in seen if holders is None else name in holders):
                found.append(command)
        return found

    def _one_of(self, commands: Iterable[str]) -> str | None:
        among = list(commands)
        return among[int(self._rng.integers(len(among)))] if among else None


AGENTS.register("alfworld_seeker", ALFWorldSeeker)


def _first(possible: tuple[str, ...], beginnings: tuple[str, ...]) -> str | None:
    return next((command for command in possible if command.startswith(beginnings)), None)
