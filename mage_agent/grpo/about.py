"""What a field of a configuration is: its words, and what it may be. Values are texts, numbers and truth values."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple, TypeAlias, get_args

from mage_envs.errors import MageError, near_matches
from mage_envs.registry import Registry

Value: TypeAlias = "str | int | float | bool"

_KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


class About(NamedTuple):
    """What a field is.

    Attributes:
        part: Under which head it is listed.
        text: What it means, in a sentence or two.
        low: Least value of a number.
        high: Largest value.
        above: Whether it must be more than ``low``.
        registry: What registers the words that it may be.
    """

    part: str
    text: str
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    registry: Registry[Any] | None = None

    def span(self) -> str:
        """Returns the range in words.

        >>> About("", "", 0, 1, above=True).span(), About("", "", 1, 1000).span()
        ('above 0, at most 1', '1 to 1,000')
        """
        low, high = (f"{end:,.15g}" for end in (self.low, self.high))
        return f"above {low}, at most {high}" if self.above else f"{low} to {high}"

    def holds(self, value: float) -> bool:
        """Whether a number is in the range."""
        return math.isfinite(value) and self.low <= value <= self.high and not (self.above and value == self.low)

    def words(self, wanted: Any) -> tuple[str, ...]:
        """Returns the words that a field of a type may be; none if it is any text or a number."""
        return get_args(wanted) if self.registry is None else tuple(self.registry)

    def checked(self, name: str, value: Any, wanted: Any, default: Value) -> Value:
        """Returns a value, an int as a float where that is the type.

        Args:
            name: Name of the field, for the message.
            value: The value.
            wanted: The type of the field.
            default: Its default, for the message.

        Raises:
            MageError: It is of the wrong type or out of range.
        """
        if words := self.words(wanted):
            if value not in words:
                raise MageError(f"{name} = {value!r} is none of {', '.join(words)}. {near_matches(str(value), words)}")
            return str(value)
        if wanted is float and type(value) is int:
            value = float(value)
        if type(value) is not wanted:
            raise MageError(f"{name} = {value!r} is not {_KINDS[wanted]}, as {default!r} is. {self.text}")
        if wanted in (int, float) and not self.holds(value):
            raise MageError(f"{name} = {value!r} is out of range: it is {self.span()}. {self.text}")
        return value  # type: ignore[no-any-return]


def toml_value(value: Value) -> str:
    """Writes a value as TOML does.

    >>> [toml_value(value) for value in ("a", 1e-06, False)]
    ['"a"', '1e-06', 'false']
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else repr(value)
