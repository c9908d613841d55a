"""Errors that MAGE raises at its boundaries. Each message names the remedy.

A wrong type or range in a call is a plain :class:`ValueError`; the classes here also derive from it
where the cause is a value that a caller passed, so ``except ValueError`` catches both.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSE = 0.6
"""Names that share less are no slip of the pen (0: nothing, 1: all): ``history`` for ``win_stay`` has 0.53."""

_PART = 3
"""Least letters of a part of a name that is recognised."""


class MageError(Exception):
    """Base of all errors of this package."""


class UnknownNameError(MageError, ValueError):
    """A name that no registered item has. The message lists near matches."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        """Builds the message.

        Args:
            kind: What was looked up, as a reader would call it: ``"opponent"``.
            name: The name that was asked for.
            known: Every name that would have worked.
        """
        self.kind, self.name, self.known = kind, name, sorted(known)
        super().__init__(f"unknown {kind} {name!r}. {near_matches(name, self.known)}")

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, list[str]]]:
        """Pickles by the arguments, so that it crosses process boundaries."""
        return type(self), (self.kind, self.name, self.known)


class SpecError(MageError, ValueError):
    """A spec string such as ``mcts(simulations=100)`` that does not parse, or has a bad parameter."""


class UnsupportedGameError(MageError, ValueError):
    """A game that MAGE, or the opponent asked for, cannot play."""


class LevelError(MageError, ValueError):
    """A level of a world that is none, or that cannot be solved."""


class UnsupportedControlError(MageError, ValueError):
    """A causal control under which an agent, or a scenario, cannot be played."""


class RecordError(MageError):
    """A record file or run directory that is damaged, or does not fit the command."""


class VerificationError(MageError):
    """A recorded meta-episode that does not replay to the recorded result."""


def near_matches(name: str, known: Iterable[str]) -> str:
    """Returns the sentence that helps after a wrong name.

    Args:
        name: The name that was not found.
        known: The names that exist.

    Returns:
        "Did you mean …?" with up to three near matches, or names of which it is a part; else the list of what there is.
    """
    names = sorted(known)
    folded = {other.casefold(): other for other in names}
    wrong = name.casefold()
    close = [folded[match] for match in get_close_matches(wrong, folded, n=3, cutoff=_CLOSE)]
    if not close and len(wrong) >= _PART:
        close = [other for match, other in folded.items() if wrong in match][:3]
    if close:
        return "Did you mean " + " or ".join(repr(match) for match in close) + "?"
    return "Known: " + (", ".join(names) if names else "none") + "."
