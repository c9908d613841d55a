"""Sentences of the environment that belong to no game: where one stands, what an answer came to, how it ended."""

from __future__ import annotations

from functools import lru_cache

from mage_envs.text.parser import ReplyKind

REASONS = {
    ReplyKind.EMPTY: "Your answer was empty. Answer with one legal action.",
    ReplyKind.TRUNCATED: "Your answer was cut off before it was complete. Think shorter, then answer in full.",
    ReplyKind.AMBIGUOUS: "Your answer named several different actions. Name exactly one.",
    ReplyKind.UNPARSABLE: "Your answer is not the name of an action. Answer with the exact name of one legal action.",
    ReplyKind.ILLEGAL: "The action that you named is not legal now. Name another one, which is.",
}
"""Why an answer was not played, one reason a kind, each naming its own remedy. No word of a list: a protocol may hide
the legal actions."""


WORLD_REASONS = {
    ReplyKind.EMPTY: "Your answer was empty.",
    ReplyKind.TRUNCATED: "Your answer was cut off before it was complete. Think shorter, then answer in full.",
    ReplyKind.AMBIGUOUS: "You gave several different answers. Give exactly one.",
    ReplyKind.UNPARSABLE: "Your answer is no action.",
    ReplyKind.ILLEGAL: "What you answered cannot be done now.",
}
"""The same in a world, which adds how an answer is written there."""


@lru_cache(maxsize=4096)
def header(episode: int, episodes: int, seat: int | None) -> str:
    """Returns the first line of a view: which episode, which seat (None: nobody else plays)."""
    if seat is None:
        return f"Episode {episode + 1} of {episodes}."
    return f"You are seat {seat}." if episodes == 1 else f"Episode {episode + 1} of {episodes}. You are seat {seat}."


def rules(game_rules: str, episodes: int, instance: str, *, stop_on_success: bool = False) -> str:
    """Returns the rules of a meta-episode: the game's, and how often it is played against whom."""
    if episodes == 1:
        return game_rules
    same = " What chance decides, such as the cards, is the same in every episode." if instance == "replay" else ""
    stop = " Your first win ends the series." if stop_on_success else ""
    return (
        f"{game_rules}\n\nYou play {episodes} episodes in a row against the same opponent, who is not named."
        f"{same}{stop} Between two episodes you may write a reflection."
    )


@lru_cache(maxsize=256)
def world_rules(told: str, turns: int, episodes: int, instance: str, *, stop_on_success: bool = False) -> str:
    """Returns the rules of a meta-episode in a world: its own, its turn limit, and how often it is played."""
    limit = f"An episode ends after {turns} turns at the latest."
    if episodes == 1:
        return f"{told}\n{limit}"
    same = "all with the same start and goal" if instance == "replay" else "each with another start and goal"
    stop = " Your first win ends the series." if stop_on_success else ""
    return (
        f"{told}\n{limit}\n\nYou play {episodes} episodes in a row, {same}.{stop} "
        "Between two episodes you may write a reflection."
    )


def ending(outcome: str, reward: float, *, forfeit: bool) -> str:
    """Returns the line that tells how an episode ended."""
    how = " by forfeit" if forfeit else ""
    return f"The episode is over: {outcome}{how}, score {reward:+g}."


def not_played(kind: ReplyKind, count: int, limit: int, hint: str = "") -> str:
    """Returns why an answer was not played, and what happens after ``limit`` such answers in a row.

    Args:
        kind: What became of the answer.
        count: The number of such answers in a row.
        limit: How many lose the episode.
        hint: In a world, how an answer is written.
    """
    reason = f"{WORLD_REASONS[kind]} {hint}" if hint else REASONS[kind]
    return f"{reason} (Invalid answer {count} of {limit}: the episode is lost at {limit} in a row.)"
