"""Goals as data: a PDDL goal, grounded once, is a tree of tuples that any state answers in microseconds.

What can never change (types, kinds, places of receptacles) is decided when a game is loaded, so that a tree holds only
what play can change. Names of things are indices; ``("in", 3, 7)`` says that thing 3 is in receptacle 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from mage_envs.worlds.alfworld.layout import Expression

Tree: TypeAlias = "bool | tuple[object, ...]"
"""True, False, ``("and", tree, …)``, ``("or", tree, …)``, ``("not", tree)``, or an atom."""

Atoms: TypeAlias = "Mapping[str, Callable[[tuple[str, ...]], Tree]]"
"""From a predicate to what turns its arguments into an atom, or into True or False if it cannot change."""

Known: TypeAlias = Mapping[str, Sequence[tuple[str, ...]]]
"""Predicates that cannot change, with all the arguments for which they are true."""


class Grounding:
    """Turns goals into trees.

    Attributes:
        atoms: See :data:`Atoms`. A predicate that is not in it cannot change.
        known: See :data:`Known`.
        kinds: The ids of each kind: ``{"object": […], "receptacle": […]}``.
    """

    def __init__(self, atoms: Atoms, known: Known, kinds: Mapping[str, Sequence[str]]) -> None:
        """Keeps the arguments; see the class."""
        self.atoms, self.kinds = atoms, kinds
        self._known = {predicate: dict.fromkeys(rows) for predicate, rows in known.items()}
        self._fitting: dict[tuple[str | None, ...], list[tuple[str, ...]]] = {}

    def ground(self, goal: Expression, bound: Mapping[str, str] | None = None) -> Tree:
        """Returns the tree of a goal.

        Args:
            goal: A PDDL expression with ``and``, ``or``, ``not``, ``imply``, ``exists``, ``forall``, ``=`` and
                predicates.
            bound: What the variables stand for.

        Raises:
            ValueError: The expression is not understood.
        """
        bound = bound or {}
        head = goal[0] if goal and not isinstance(goal, str) else None
        if not isinstance(head, str):
            raise ValueError(f"cannot read the goal at {goal!r}")
        parts = goal[1:]
        if head in ("and", "or"):
            return _joined(head, (self.ground(part, bound) for part in parts))
        if head == "not":
            return _opposite(self.ground(parts[0], bound))
        if head == "imply":
            return self.ground(("or", ("not", parts[0]), parts[1]), bound)
        if head in ("exists", "forall"):
            return self._over_all(head, parts[0], parts[1], bound)
        words = tuple(bound.get(str(part), str(part)) for part in parts)
        if head == "=":
            return words[0] == words[1]
        if head in self.atoms:
            return self.atoms[head](words)
        return words in self._known.get(head, {})

    def _over_all(self, head: Expression, variables: Expression, body: Expression, bound: Mapping[str, str]) -> Tree:
        first, *others = list(_declared(variables))
        inner = body if not others else (head, tuple(word for pair in others for word in (pair[0], "-", pair[1])), body)
        values = self._candidates(first, body, bound) if head == "exists" else self.kinds.get(first[1], ())
        name = first[0]
        return _joined(
            "or" if head == "exists" else "and", (self.ground(inner, {**bound, name: value}) for value in values)
        )

    def _candidates(self, variable: tuple[str, str], body: Expression, bound: Mapping[str, str]) -> Sequence[str]:
        """Returns the values for which the body can be true, going by the facts that must hold and cannot change."""
        name, kind = variable
        best: Sequence[str] = self.kinds.get(kind, ())
        for fact in _required(body):
            if name in fact and fact[0] not in self.atoms and fact[0] != "=":
                values = self._values(name, fact, bound)
                best = values if len(values) < len(best) else best
        return best

    def _values(self, name: str, fact: tuple[str, ...], bound: Mapping[str, str]) -> Sequence[str]:
        """Returns what a variable can stand for where a fact holds."""
        words = tuple(None if word == name else bound.get(word, word) for word in fact[1:])
        key = (fact[0], *(None if word is None or word.startswith("?") else word for word in words))
        if key not in self._fitting:
            rows = self._known.get(fact[0], {})
            fits = [row for row in rows if all(w is None or w == r for w, r in zip(key[1:], row, strict=True))]
            self._fitting[key] = fits
        at = words.index(None)
        return list(dict.fromkeys(row[at] for row in self._fitting[key]))


def _required(body: Expression) -> Iterator[tuple[str, ...]]:
    """Yields the predicates that must be true wherever the body is."""
    if isinstance(body, str) or not body:
        return
    if body[0] == "and":
        for part in body[1:]:
            yield from _required(part)
    elif body[0] == "exists":
        yield from _required(body[2])
    elif body[0] not in ("or", "not", "imply", "forall"):
        yield tuple(map(str, body))


def _declared(variables: Expression) -> Iterator[tuple[str, str]]:
    """Yields the variables of a quantifier with their kinds: ``(?a ?b - object)``."""
    waiting: list[str] = []
    words = [str(word).strip(",") for word in variables]
    for index, word in enumerate(words):
        if word.startswith("?"):
            waiting.append(word)
        elif word != "-" and words[index - 1] == "-":
            yield from ((name, word) for name in waiting)
            waiting = []
    if waiting or not words:
        raise ValueError(f"variables without a kind in the goal: {variables!r}")


def _joined(head: str, parts: Iterator[Tree]) -> Tree:
    """Returns the conjunction or disjunction, as short as it can be."""
    end = head == "or"
    kept: list[Tree] = []
    for part in parts:
        if part is end:
            return end
        if isinstance(part, tuple):
            kept.append(part)
    if not kept:
        return not end
    return kept[0] if len(kept) == 1 else (head, *kept)


def _opposite(tree: Tree) -> Tree:
    return not tree if isinstance(tree, bool) else ("not", tree)
