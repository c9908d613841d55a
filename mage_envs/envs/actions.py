"""What an agent answered, read: an action id in ``array``, a reply in ``text``."""

from __future__ import annotations

import operator
from typing import Any

from mage_envs.games import View, fold
from mage_envs.text.parser import ReplyKind, final_answer, parse_reply
from mage_envs.worlds import Command, WorldView


def read_action(view: View, action: Any, *, text: bool) -> tuple[ReplyKind, int | None]:
    """Reads an action.

    Args:
        view: The view in which it was chosen.
        action: An integer (``array``) or a string (``text``).
        text: Which interface it is.

    Returns:
        What became of it, and the action id if it can be played.

    Raises:
        ValueError: An action of the wrong type, which no agent's mistake explains.
    """
    if text:
        return _read_text(view, action)
    return _read_array(view, action)


def read_command(view: WorldView, action: Any, *, text: bool) -> tuple[ReplyKind, Command | None]:
    """Reads an action in a world, which may know more answers than the names of its actions.

    Args:
        view: The view in which it was chosen.
        action: An integer (``array``) or a string (``text``).
        text: Which interface it is.

    Returns:
        What became of it, and the command if it can be played.

    Raises:
        ValueError: An action of the wrong type, which no agent's mistake explains.
    """
    if not text:
        return _read_array(view, action)
    if view.spec.actions:
        kind, move = _read_text(view, action)
        if kind not in (ReplyKind.UNPARSABLE, ReplyKind.ILLEGAL):
            return kind, move
    _check_text(action)
    kind, said = final_answer(action)
    command = view.read(said) if kind is ReplyKind.OK else None
    if command is not None or kind is not ReplyKind.OK:
        return kind, command
    return ReplyKind.ILLEGAL if fold(said) in view.spec.vocabulary else ReplyKind.UNPARSABLE, None


def _read_array(view: View | WorldView, action: Any) -> tuple[ReplyKind, int | None]:
    try:
        move = operator.index(action)
    except TypeError:
        raise ValueError(f"interface='array' takes an integer as action, got {type(action).__name__}") from None
    return (ReplyKind.OK, move) if move in view.legal else (ReplyKind.ILLEGAL, None)


def _check_text(action: Any) -> None:
    if not isinstance(action, str):
        raise ValueError(f"interface='text' takes a string as action, got {type(action).__name__}")


def _read_text(view: View | WorldView, action: Any) -> tuple[ReplyKind, int | None]:
    _check_text(action)
    if action in view.spellings:
        return ReplyKind.OK, view.spellings[action]
    reply = parse_reply(action, view.spellings, view.spec.vocabulary)
    return reply.kind, reply.action
