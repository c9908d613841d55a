"""Answers of an agent, read: ALFWorld's command language, with letter case, spaces and ``put``/``move`` forgiven."""

from __future__ import annotations

import re
from typing import NamedTuple

from mage_envs.games import fold
from mage_envs.worlds.alfworld.commands import PUT
from mage_envs.worlds.alfworld.game import Game
from mage_envs.worlds.alfworld.naming import NAME

VERBS = frozenset(
    ("look", "inventory", "help", "go", "examine", "open", "close", "take", "put", "move", "clean", "heat", "cool")
) | {"use", "slice"}
"""What a command begins with, in either dialect."""

MAX_ANSWER = 200

_PUT = re.compile(r"(?:put|move) (?P<thing>.+?) (?:in/on|in|on|to|into|onto) (?P<receptacle>.+)")


class Said(NamedTuple):
    """An answer, read.

    Attributes:
        command: The command that is played.
        answer: The answer as it was given, if it was another spelling of the command; else empty.
    """

    command: str
    answer: str = ""


def read_answer(game: Game, answer: str) -> Said | None:
    """Reads an answer.

    Args:
        game: The game, whose dialect says how a command is spelled.
        answer: The answer, out of its tags.

    Returns:
        The command, possible or not; None if the answer begins with no verb of the language, or is too long.
    """
    folded = fold(answer)
    if len(folded) > MAX_ANSWER or folded.partition(" ")[0] not in VERBS:
        return None
    command = _respelled(game, folded)
    return Said(command, "" if command == answer else answer)


def _respelled(game: Game, command: str) -> str:
    """Returns a command that puts a thing somewhere as the dialect spells it; any other as it is.

    Whether the house has such a thing does not matter, and so is not told.
    """
    put = _PUT.fullmatch(command)
    if put is None or not NAME.fullmatch(put["thing"]) or put["receptacle"] not in game.receptacle:
        return command
    verb, between = PUT[game.dialect]
    return f"{verb} {put['thing']}{between}{put['receptacle']}"
