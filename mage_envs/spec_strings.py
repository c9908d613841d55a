"""The grammar of spec strings: ``name`` or ``name(key=value, ...)``. Parsed, never evaluated.

A value is a number, ``true`` or ``false``, a quoted string, another spec, or a bare word. Positional values
are allowed and are bound by the callee's parameter order: ``mcts(100)`` is ``mcts(simulations=100)``,
``switching(rock, paper, at=5)``.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn, TypeAlias, Union

from mage_envs.errors import SpecError, near_matches

Value: TypeAlias = Union[bool, int, float, str, "Spec"]

_TOKEN = re.compile(r"""\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])
    |(?P<word>[A-Za-z_][\w./-]*)|(?P<string>"[^"]*"|'[^']*')|(?P<mark>[(),=]))""", re.VERBOSE)  # fmt: skip
_MAX_DEPTH = 16


class Spec(NamedTuple):
    """A parsed spec: a name, positional values and named values.

    >>> str(parse_spec(" mcts( simulations = 100 ) "))
    'mcts(simulations=100)'
    """

    name: str
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        """Writes the spec in its canonical form, which parses back to itself."""
        parts = [_write(value) for value in self.args]
        parts += [f"{key}={_write(value)}" for key, value in self.kwargs]
        return f"{self.name}({', '.join(parts)})" if parts else self.name


def parse_spec(text: str) -> Spec:
    """Parses a spec string.

    Args:
        text: For instance ``"mcts(simulations=100)"``.

    Returns:
        The parsed spec.

    Raises:
        SpecError: The text is not a spec; the message shows where.
    """
    if not isinstance(text, str):
        raise SpecError(f"a spec is a string such as 'mcts(simulations=100)', not {type(text).__name__}")
    parser = _Parser(text)
    spec = parser.spec(0)
    parser.end()
    return spec


def bind_spec(spec: Spec, target: Callable[..., object], kind: str) -> dict[str, Value]:
    """Matches a spec's values to the parameters of a callable, defaults filled in.

    Args:
        spec: The parsed spec.
        target: The factory or class; its signature says which parameters exist.
        kind: What the spec names, for the message: ``"opponent"``.

    Returns:
        All parameters by name, in the order of the signature.

    Raises:
        SpecError: An unknown, missing or doubled parameter; the message lists near matches.
    """
    signature = inspect.signature(target)
    for key, _ in spec.kwargs:
        if key not in signature.parameters:
            hint = near_matches(key, signature.parameters)
            raise SpecError(f"{kind} {spec.name!r} has no parameter {key!r}. {hint}")
    try:
        bound = signature.bind(*spec.args, **dict(spec.kwargs))
    except TypeError as error:
        raise SpecError(f"{kind} {str(spec)!r}: {error}; it is used as {usage(spec.name, target)}") from error
    bound.apply_defaults()
    return dict(bound.arguments)


def usage(name: str, target: Callable[..., object]) -> str:
    """Returns how a spec is written: its name, and the parameters of its factory with their defaults.

    >>> usage("mcts", lambda simulations, uct_c=2.0: None)
    'mcts(simulations, uct_c=2.0)'
    """
    parameters = inspect.signature(target).parameters.values()
    written = [p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters]
    return f"{name}({', '.join(written)})" if written else name


def _write(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        bare = re.fullmatch(r"[A-Za-z_][\w./-]*", value) and value not in ("true", "false")
        mark = "'" if '"' in value else '"'
        return value if bare else f"{mark}{value}{mark}"
    return str(value)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def next(self) -> tuple[str, str]:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            self.fail("cannot read on from here")
        self.at = match.end()
        kind = str(match.lastgroup)
        return kind, match.group(kind)

    def peek(self) -> str:
        match = _TOKEN.match(self.text, self.at)
        return match.group(match.lastgroup or 0) if match else ""

    def fail(self, why: str) -> NoReturn:
        raise SpecError(f"bad spec {self.text!r} at position {self.at}: {why}. "
                        "Write name or name(key=value, ...)")  # fmt: skip

    def end(self) -> None:
        if self.text[self.at :].strip():
            self.fail("nothing may follow the spec")

    def spec(self, depth: int) -> Spec:
        kind, name = self.next()
        if kind != "word":
            self.fail("a name must stand here")
        return self.call(name, depth)

    def call(self, name: str, depth: int) -> Spec:
        if depth > _MAX_DEPTH:
            self.fail(f"more than {_MAX_DEPTH} specs inside each other")
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        if self.peek() != "(":
            return Spec(name)
        self.next()
        while self.peek() != ")":
            self.argument(args, kwargs, depth)
            if self.peek() == ",":
                self.next()
            elif self.peek() != ")":
                self.fail("a comma or a closing bracket must stand here")
        self.next()
        return Spec(name, tuple(args), tuple(kwargs.items()))

    def argument(self, args: list[Value], kwargs: dict[str, Value], depth: int) -> None:
        kind, token = self.next()
        if kind == "word" and self.peek() == "=":
            self.next()
            if token in kwargs:
                self.fail(f"parameter {token!r} is given twice")
            kwargs[token] = self.value(*self.next(), depth)
        elif kwargs:
            self.fail("a value without a name cannot follow one with a name")
        else:
            args.append(self.value(kind, token, depth))

    def value(self, kind: str, token: str, depth: int) -> Value:
        if kind == "number":
            return self.number(token)
        if kind == "string":
            return token[1:-1]
        if kind != "word":
            self.fail("a value must stand here")
        if token in ("true", "false"):
            return token == "true"
        spec = self.call(token, depth + 1)
        return spec if spec.args or spec.kwargs else token

    def number(self, token: str) -> int | float:
        value = float(token)
        if not math.isfinite(value):
            self.fail(f"the number {token:.20} is too large")
        return value if re.search(r"[.eE]", token) else int(token)
