"""A household as facts: what a ``game.tw-pddl`` file says of one game, before anything is indexed.

The file is JSON. Its ``pddl_problem`` declares objects with a kind, facts that are true at the start, and a goal; the
goal in words stands in its ``grammar``. Both dialects of ALFWorld share this format, so that the dialect is no part of
a layout. A generated household is a layout too.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple, TypeAlias

from mage_envs.errors import LevelError

Expression: TypeAlias = "str | tuple[Expression, ...]"
"""A PDDL expression: a word, or a tuple of expressions."""

Facts: TypeAlias = dict[str, list[tuple[str, ...]]]

_FACT = re.compile(r"\(([\w=-]+) ([^()]+)\)")
_DECLARED = re.compile(r"(\S+) - (\w+)")
_TASK = re.compile(r'Your task is to: ((?:[^"\\\n]|\\.)*)"')
_WORD = re.compile(r"[()]|[^\s()]+")
_MAX_DEPTH = 64
_COSTS = ("=", "distance")
"""What only a planner asks for; in TextWorld no thing is there by these."""


class Layout(NamedTuple):
    """What a file says of a game.

    Attributes:
        things: Ids of kind ``object``, such as ``Apple_bar__minus_00_dot_36``; also names of types, which are no
            things.
        receptacles: Ids of kind ``receptacle``.
        locations: Ids of kind ``location``.
        facts: From a predicate, such as ``inReceptacle``, to the argument lists for which it is true at the start.
        goal: The goal, in PDDL.
        task: The goal in words, as the player is told: ``"put some apple on desk."``.
    """

    things: tuple[str, ...]
    receptacles: tuple[str, ...]
    locations: tuple[str, ...]
    facts: Facts
    goal: Expression
    task: str


def read_layout(path: str | Path) -> Layout:
    """Reads a ``game.tw-pddl`` file.

    Raises:
        LevelError: The file is not such a game.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise LevelError(f"cannot read the ALFWorld game {str(path)!r}: {error.strerror}") from error
    try:
        held = json.loads(data)
        return parse_layout(held["pddl_problem"], held["grammar"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LevelError(
            f"{str(path)!r} is no ALFWorld game ({type(error).__name__}: {error}): name a game.tw-pddl file as "
            "alfworld-download fetches it"
        ) from error


def parse_layout(problem: str, grammar: str) -> Layout:
    """Reads the two parts of a file that differ from game to game.

    Args:
        problem: PDDL: ``(define (problem …) (:objects …) (:init …) (:goal …))``.
        grammar: Text that holds ``Your task is to: …``.

    Returns:
        The layout.

    Raises:
        ValueError: A part is missing.
    """
    objects, found, rest = problem.partition("(:init")
    start, goal_found, goal = rest.partition("(:goal")
    task = _TASK.search(grammar)
    if not (found and goal_found and task):
        raise ValueError("it lacks :init, :goal or its task in words")
    kinds: dict[str, list[str]] = {"object": [], "receptacle": [], "location": []}
    for name, kind in _DECLARED.findall(objects.partition("(:objects")[2]):
        if kind in kinds:
            kinds[kind].append(name)
    facts: Facts = {}
    for predicate, arguments in _FACT.findall(start):
        if predicate not in _COSTS:
            facts.setdefault(predicate, []).append(tuple(arguments.split()))
    return Layout(
        tuple(kinds["object"]), tuple(kinds["receptacle"]), tuple(kinds["location"]), facts, parse_expression(goal),
        json.loads(f'"{task[1]}"'),
    )  # fmt: skip


def parse_expression(text: str) -> Expression:
    """Reads the first PDDL expression in a text; what stands behind it is not read.

    >>> parse_expression("(not (isHot ?o)) )")
    ('not', ('isHot', '?o'))

    Raises:
        ValueError: There is none, a bracket never closes, or expressions stand too deep in one another.
    """
    open_lists: list[list[Expression]] = []
    for word in _WORD.findall(text):
        if word == "(":
            open_lists.append([])
            if len(open_lists) > _MAX_DEPTH:
                raise ValueError(f"more than {_MAX_DEPTH} expressions inside each other")
            continue
        done: Expression = word
        if word == ")":
            if not open_lists:
                break
            done = tuple(open_lists.pop())
        if not open_lists:
            return done
        open_lists[-1].append(done)
    raise ValueError("a bracket of the goal never closes")
