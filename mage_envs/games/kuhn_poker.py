"""Kuhn poker: three cards, one chip each, one bet. Optimal play gives seat 0 −1/18 chips a hand (Kuhn 1950).

Source: H. W. Kuhn, "A simplified two-person poker", Contributions to the Theory of Games I, 1950. Over OpenSpiel's
``kuhn_poker``: action 0 is pass, action 1 is bet; the first two actions of a history are the cards of seats 0 and 1.
"""

from __future__ import annotations

from typing import Any

from mage_envs.games import GAMES
from mage_envs.games.base import NOTHING, Facts, GameSpec, WorkedExample

CARDS = ("J", "Q", "K")
MOVES = ("pass", "bet")

RULES = """\
Kuhn poker, two players. The deck has three cards: J (lowest), Q and K (highest).
Each player pays an ante of 1 chip and gets one card, which the other player does not see. Seat 0 acts first.
In turn, a player says "pass" or "bet". A bet costs 1 more chip.
If nobody has bet, "pass" means to check; after a bet, "pass" means to fold and "bet" means to call.
Two passes in a row, or a bet and a call, end the hand with a showdown: the higher card takes the pot.
A player who folds loses the ante, and no cards are shown.
The result of a hand is the number of chips won or lost: +1, -1, +2 or -2."""


def _facts(state: Any, seat: int) -> Facts:
    history = state.history()
    moves = tuple(MOVES[action] for action in history[2:])
    card = CARDS[history[seat]] if len(history) > seat else ""
    return {"seat": seat, "card": card, "moves": moves, "over": state.is_terminal()}


def _revealed(state: Any, seat: int) -> Facts:
    history = state.history()
    folded = history[-1] == 0 and 1 in history[2:]
    return NOTHING if folded else {"opponent_card": CARDS[history[1 - seat]]}


def _describe(facts: Facts) -> str:
    lines = [f"Your card: {facts['card'] or 'not dealt yet'}."]
    told = [_tell(facts, turn) for turn in range(len(facts["moves"]))]
    lines.append(f"Moves so far: {', '.join(told) or 'none'}.")
    bets = facts["moves"].count("bet")
    lines.append(f"Pot: {2 + bets} chips.")
    if "opponent_card" in facts:
        lines.append(f"Showdown: the opponent had {facts['opponent_card']}.")
    elif facts["over"]:
        lines.append("No showdown: the cards stay hidden.")
    return "\n".join(lines)


def _tell(facts: Facts, turn: int) -> str:
    moves = facts["moves"]
    meaning = _meaning(moves[:turn], MOVES.index(moves[turn]))
    return f"you {meaning}" if facts["seat"] == turn % 2 else f"the opponent {meaning}s"


def _meaning(before: tuple[str, ...], action: int) -> str:
    """Names a move by what it does after other moves."""
    return ("fold", "call")[action] if "bet" in before else ("check", "bet")[action]


def _words(facts: Facts, action: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys((MOVES[action], _meaning(facts["moves"], action))))


def _reveal_array(facts: Facts) -> tuple[float, ...]:
    return tuple(float(card == facts["opponent_card"]) for card in CARDS)


SPEC = GameSpec(
    name="kuhn_poker",
    title="KuhnPoker",
    openspiel="kuhn_poker",
    rules=RULES,
    facts=_facts,
    revealed=_revealed,
    describe=_describe,
    words=_words,
    vocabulary=frozenset({*MOVES, "check", "fold", "call"}),
    population="kuhn/train",
    reveal_size=len(CARDS),
    reveal_array=_reveal_array,
    examples=(
        WorkedExample((2, 0, 0, 1, 1), (2.0, -2.0), "Seat 0 passes with K, seat 1 bluffs with J, seat 0 calls."),
        WorkedExample((1, 2, 1, 1), (-2.0, 2.0), "Seat 0 bets with Q, seat 1 calls with K."),
        WorkedExample((0, 1, 1, 0), (1.0, -1.0), "Seat 0 bluffs with J, seat 1 folds Q, no card is shown."),
    ),
)


GAMES.register("kuhn_poker", lambda: SPEC)
